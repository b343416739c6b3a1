// Command karpenter is Karpenter core without what performs the life of NodeClaims.
//
//	karpenter -kubeconfig FILE -linode URL -token-file FILE [-region us-ord]
//	karpenter -linode URL -token-file FILE -types       the instance types as JSON, and nothing else
//
// Cluster state, provisioning, disruption and the controllers of NodePools are those of the module, as they
// are. The controllers that launch, register, initialize, terminate and collect NodeClaims do not run:
// lke-claimer takes their place. The cloud provider describes the instance types that the Linode API has.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/awslabs/operatorpkg/controller"
	"github.com/go-logr/zapr"
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	nodehydration "sigs.k8s.io/karpenter/pkg/controllers/node/hydration"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/consistency"
	nodeclaimdisruption "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/expiration"
	nodeclaimhydration "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/hydration"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/podevents"
	"sigs.k8s.io/karpenter/pkg/controllers/nodepool/counter"
	"sigs.k8s.io/karpenter/pkg/controllers/nodepool/hash"
	"sigs.k8s.io/karpenter/pkg/controllers/nodepool/readiness"
	"sigs.k8s.io/karpenter/pkg/controllers/nodepool/validation"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/controllers/state/informer"
	"sigs.k8s.io/karpenter/pkg/controllers/state/nodeclaimgc"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/cost"
	"sigs.k8s.io/karpenter/pkg/state/virtualpods"
)

// What differs from the defaults of core: shorter batches, since a test makes its Pods at once.
var settings = []string{
	"--batch-max-duration=3s", "--batch-idle-duration=1s", "--disable-leader-election=true",
}

// A shortClock is the real one, with shorter waits between a decision to disrupt and its validation.
type shortClock struct {
	clock.RealClock
}

func (c shortClock) After(d time.Duration) <-chan time.Time {
	return c.RealClock.After(d / 5)
}

func main() {
	linode := flag.String("linode", "", "the Linode API, without the version")
	tokenFile := flag.String("token-file", "", "has the token of the Linode API")
	region := flag.String("region", "us-ord", "of the cluster")
	types := flag.Bool("types", false, "print the instance types")
	flag.Parse()
	token := lo.Must(os.ReadFile(*tokenFile))
	plans := lo.Must(readPlans(*linode, string(token), *region))
	if *types {
		all := lo.Map(plans, func(p *plan, _ int) any { return p.shown() })
		fmt.Println(string(lo.Must(json.Marshal(all))))
		return
	}
	ctx := contextWithOptions(ctrl.SetupSignalHandler())
	logger := zapr.NewLogger(logging.NewLogger(ctx, "controller"))
	log.SetLogger(logger)
	klog.SetLogger(logger)
	config := ctrl.GetConfigOrDie() // by -kubeconfig, which controller-runtime defines
	config.QPS, config.Burst = 200, 300
	mgr := lo.Must(ctrl.NewManager(config, ctrl.Options{
		Logger:  logging.IgnoreDebugEvents(logger),
		Metrics: server.Options{BindAddress: "0"},
		BaseContext: func() context.Context {
			return contextWithOptions(log.IntoContext(context.Background(), logger))
		},
	}))
	addIndexes(ctx, mgr)
	for _, c := range controllers(ctx, mgr, &provider{plans: plans}) {
		lo.Must0(c.Register(ctx, mgr))
	}
	lo.Must0(mgr.Start(ctx))
}

func contextWithOptions(ctx context.Context) context.Context {
	o := &options.Options{}
	flags := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.ContinueOnError)}
	o.AddFlags(flags)
	lo.Must0(o.Parse(flags, settings...))
	return o.ToContext(ctx)
}

// controllers are those of core but for nodeclaim/lifecycle, node/termination and its eviction queue,
// nodeclaim/garbagecollection, nodeclaim/reboot, nodepool/registrationhealth (it is fed by the lifecycle)
// and the ones that only write metrics.
func controllers(ctx context.Context, mgr manager.Manager, cloud *provider) []controller.Controller {
	kube, now := mgr.GetClient(), shortClock{}
	recorder := events.NewRecorder(mgr.GetEventRecorderFor("karpenter"))
	cluster := state.NewCluster(now, kube, cloud)
	spent := cost.NewClusterCost(ctx, cloud, kube)
	provisioner := provisioning.NewProvisioner(kube, recorder, cloud, cluster, now,
		deviceallocation.NewController(kube), virtualpods.NewVirtualPodCache(kube))
	queue := disruption.NewQueue(kube, recorder, cluster, now, provisioner)
	return []controller.Controller{
		informer.NewDaemonSetController(kube, cluster),
		informer.NewNodeController(kube, cluster),
		informer.NewPodController(kube, cluster),
		informer.NewNodePoolController(kube, cloud, cluster, spent),
		informer.NewNodeClaimController(kube, cloud, cluster, spent),
		informer.NewPricingController(kube, cloud, spent),
		nodeclaimgc.NewController(kube, cluster),
		provisioner,
		provisioning.NewPodController(kube, provisioner, cluster),
		provisioning.NewNodeController(kube, provisioner),
		queue,
		disruption.NewController(ctx, now, kube, provisioner, cloud, recorder, cluster, queue, spent),
		nodeclaimdisruption.NewController(now, kube, cloud),
		expiration.NewController(now, kube, cloud),
		podevents.NewController(now, kube, cloud),
		consistency.NewController(now, kube, cloud, recorder),
		nodeclaimhydration.NewController(kube, cloud),
		nodehydration.NewController(kube, cloud),
		hash.NewController(kube, cloud),
		readiness.NewController(now, kube, cloud),
		counter.NewController(kube, cloud, cluster),
		validation.NewController(now, kube, cloud),
	}
}

// addIndexes adds the fields by which core finds objects.
func addIndexes(ctx context.Context, mgr manager.Manager) {
	add := func(o client.Object, field string, value func(client.Object) string) {
		lo.Must0(mgr.GetFieldIndexer().IndexField(ctx, o, field, func(o client.Object) []string {
			return []string{value(o)}
		}))
	}
	add(&corev1.Pod{}, "spec.nodeName", func(o client.Object) string {
		return o.(*corev1.Pod).Spec.NodeName
	})
	add(&corev1.Node{}, "spec.providerID", func(o client.Object) string {
		return o.(*corev1.Node).Spec.ProviderID
	})
	add(&storagev1.VolumeAttachment{}, "spec.nodeName", func(o client.Object) string {
		return o.(*storagev1.VolumeAttachment).Spec.NodeName
	})
	add(&v1.NodeClaim{}, "status.providerID", func(o client.Object) string {
		return o.(*v1.NodeClaim).Status.ProviderID
	})
	for field, part := range map[string]func(*v1.NodeClassReference) string{
		"group": func(r *v1.NodeClassReference) string { return r.Group },
		"kind":  func(r *v1.NodeClassReference) string { return r.Kind },
		"name":  func(r *v1.NodeClassReference) string { return r.Name },
	} {
		add(&v1.NodeClaim{}, "spec.nodeClassRef."+field, func(o client.Object) string {
			return part(o.(*v1.NodeClaim).Spec.NodeClassRef)
		})
		add(&v1.NodePool{}, "spec.template.spec.nodeClassRef."+field, func(o client.Object) string {
			return part(o.(*v1.NodePool).Spec.Template.Spec.NodeClassRef)
		})
	}
}
