// Command autoscaler prints the nodes that the cluster-autoscaler would build from zero.
//
//	autoscaler -kubeconfig FILE >groups
//
// It is the provider clusterapi of the cluster-autoscaler's own module, as its main program builds it: it
// reads the MachineDeployments of the cluster and takes each annotation apart. For each node group that it
// accepts there is one line: {"group", "min", "max", "capacity", "labels", "taints"}, or {"group", "error"}
// when it cannot build a node. A MachineDeployment of size zero whose annotations do not parse is left out.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/autoscaler/cluster-autoscaler/cloudprovider"
	"k8s.io/autoscaler/cluster-autoscaler/cloudprovider/clusterapi"
	"k8s.io/autoscaler/cluster-autoscaler/config"
)

type group struct {
	Group string `json:"group"`
	Min   int    `json:"min"`
	Max   int    `json:"max"`
	// Capacity has exact numbers: bytes, cores, devices.
	Capacity map[corev1.ResourceName]string `json:"capacity,omitempty"`
	Labels   map[string]string              `json:"labels,omitempty"`
	Taints   []corev1.Taint                 `json:"taints,omitempty"`
	Error    string                         `json:"error,omitempty"`
}

func read(from cloudprovider.NodeGroup) group {
	found := group{Group: from.Id(), Min: from.MinSize(), Max: from.MaxSize()}
	built, err := from.TemplateNodeInfo()
	if err != nil {
		found.Error = err.Error()
		return found
	}
	node := built.Node()
	found.Labels, found.Taints = node.Labels, node.Spec.Taints
	found.Capacity = map[corev1.ResourceName]string{}
	for name, quantity := range node.Status.Capacity {
		found.Capacity[name] = quantity.AsDec().String()
	}
	return found
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "of the cluster, which manages itself")
	flag.Parse()
	options := config.AutoscalingOptions{CloudConfig: *kubeconfig}
	client := &options.KubeClientOpts
	client.KubeConfigPath, client.KubeClientQPS, client.KubeClientBurst = *kubeconfig, 1000, 1000
	provider := clusterapi.BuildClusterAPI(options, cloudprovider.NodeGroupDiscoveryOptions{},
		cloudprovider.NewResourceLimiter(nil, nil))
	out := json.NewEncoder(os.Stdout)
	for _, from := range provider.NodeGroups() {
		if err := out.Encode(read(from)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
