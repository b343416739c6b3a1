// bench/peers/capa-annotator - the peer of ./dev bench annotator: the original's work on controller-runtime.
//
// It watches MachineDeployments, reads the AWSMachineTemplate, the Cluster and the AWSCluster from the cache,
// reads all instance types of a region with the AWS SDK when it needs them first, one region at a time, keeps
// them for a day, and patches the annotations. It writes the same keys as muster.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/credentials/stscreds"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/ec2"
	"k8s.io/apimachinery/pkg/runtime"
	infrav1 "sigs.k8s.io/cluster-api-provider-aws/v2/api/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	openshift = "machine.openshift.io/"
	capacity  = "capacity.cluster-autoscaler.kubernetes.io/"
	keep      = 24 * time.Hour
	workers   = 8
)

var gpuTypes = map[string]string{"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"}

type instanceType struct {
	vcpus, memoryMiB, gpus int64
	arch, gpuType          string
}

// catalogue has all instance types of each region; one reading at a time.
type catalogue struct {
	mu      sync.Mutex
	regions map[string]map[string]instanceType
	read    map[string]time.Time
}

func (c *catalogue) find(region, name string) (instanceType, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.read[region]) > keep {
		types, err := readRegion(region)
		if err != nil {
			return instanceType{}, err
		}
		c.regions[region], c.read[region] = types, time.Now()
	}
	found, ok := c.regions[region][name]
	if !ok {
		return instanceType{}, fmt.Errorf("no instance type %s in %s", name, region)
	}
	return found, nil
}

func readRegion(region string) (map[string]instanceType, error) {
	where, err := session.NewSession(&aws.Config{Region: aws.String(region),
		Endpoint: aws.String(os.Getenv("AWS_ENDPOINT_URL"))})
	if err != nil {
		return nil, err
	}
	given := stscreds.NewWebIdentityCredentials(where, os.Getenv("AWS_ROLE_ARN"), "peer",
		os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"))
	service := ec2.New(where, &aws.Config{Credentials: given})
	types := map[string]instanceType{}
	for input := (&ec2.DescribeInstanceTypesInput{}); ; {
		page, err := service.DescribeInstanceTypes(input)
		if err != nil {
			return nil, err
		}
		for _, row := range page.InstanceTypes {
			types[aws.StringValue(row.InstanceType)] = figures(row)
		}
		if aws.StringValue(page.NextToken) == "" {
			return types, nil
		}
		input.NextToken = page.NextToken
	}
}

func figures(row *ec2.InstanceTypeInfo) instanceType {
	t := instanceType{vcpus: aws.Int64Value(row.VCpuInfo.DefaultVCpus),
		memoryMiB: aws.Int64Value(row.MemoryInfo.SizeInMiB), arch: "amd64"}
	if names := row.ProcessorInfo.SupportedArchitectures; len(names) > 0 && *names[0] == "arm64" {
		t.arch = "arm64"
	}
	if row.GpuInfo != nil {
		for _, gpu := range row.GpuInfo.Gpus {
			t.gpus += aws.Int64Value(gpu.Count)
			t.gpuType = gpuTypes[aws.StringValue(gpu.Manufacturer)]
		}
	}
	return t
}

type annotator struct {
	client.Client
	types *catalogue
}

func (a *annotator) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var md clusterv1.MachineDeployment
	if err := a.Get(ctx, req.NamespacedName, &md); err != nil || !md.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var template infrav1.AWSMachineTemplate
	ref := md.Spec.Template.Spec.InfrastructureRef
	if err := a.Get(ctx, client.ObjectKey{Namespace: md.Namespace, Name: ref.Name},
		&template); err != nil {
		return reconcile.Result{}, err
	}
	region, err := a.region(ctx, &md)
	if err != nil {
		return reconcile.Result{}, err
	}
	t, err := a.types.find(region, template.Spec.Template.Spec.InstanceType)
	if err != nil {
		return reconcile.Result{}, err
	}
	before := md.DeepCopy()
	if md.Annotations == nil {
		md.Annotations = map[string]string{}
	}
	annotate(md.Annotations, t)
	if same(before.Annotations, md.Annotations) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, a.Patch(ctx, &md, client.MergeFrom(before))
}

func (a *annotator) region(ctx context.Context, md *clusterv1.MachineDeployment) (string, error) {
	var cluster clusterv1.Cluster
	if err := a.Get(ctx, client.ObjectKey{Namespace: md.Namespace, Name: md.Spec.ClusterName},
		&cluster); err != nil {
		return "", err
	}
	var infra infrav1.AWSCluster
	name := cluster.Spec.InfrastructureRef.Name
	if err := a.Get(ctx, client.ObjectKey{Namespace: md.Namespace, Name: name}, &infra); err != nil {
		return "", err
	}
	return infra.Spec.Region, nil
}

func annotate(to map[string]string, t instanceType) {
	to[openshift+"vCPU"] = strconv.FormatInt(t.vcpus, 10)
	to[openshift+"memoryMb"] = strconv.FormatInt(t.memoryMiB, 10)
	to[openshift+"GPU"] = strconv.FormatInt(t.gpus, 10)
	to[capacity+"cpu"] = strconv.FormatInt(t.vcpus, 10)
	to[capacity+"memory"] = strconv.FormatInt(t.memoryMiB, 10) + "Mi"
	to[capacity+"labels"] = "kubernetes.io/arch=" + t.arch
	if t.gpus > 0 && t.gpuType != "" {
		to[capacity+"gpu-count"] = strconv.FormatInt(t.gpus, 10)
		to[capacity+"gpu-type"] = t.gpuType
	}
}

func same(a, b map[string]string) bool {
	for key, value := range b {
		if a[key] != value {
			return false
		}
	}
	return len(a) == len(b)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctrl.SetLogger(zap.New())
	rate, err := strconv.Atoi(os.Getenv("WRITES_PER_SECOND"))
	must(err)
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = float32(rate), rate
	scheme := runtime.NewScheme()
	must(clusterv1.AddToScheme(scheme))
	must(infrav1.AddToScheme(scheme))
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme,
		Metrics: server.Options{BindAddress: "0"}})
	must(err)
	types := &catalogue{regions: map[string]map[string]instanceType{}, read: map[string]time.Time{}}
	must(ctrl.NewControllerManagedBy(manager).For(&clusterv1.MachineDeployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&annotator{manager.GetClient(), types}))
	must(manager.Start(ctrl.SetupSignalHandler()))
}
