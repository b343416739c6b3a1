package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

const (
	group  = "karpenter.k8s.linode/instance-"
	mib    = int64(1) << 20
	maxPod = 110
)

// A plan is an instance type of the Linode API, with its price and availability in one region.
type plan struct {
	ID           string  `json:"id"`
	Class        string  `json:"class"`
	VCPUs        int64   `json:"vcpus"`
	Memory       int64   `json:"memory"` // MiB
	Disk         int64   `json:"disk"`   // MiB
	GPUs         int64   `json:"gpus"`
	Accelerated  int64   `json:"accelerated_devices"`
	Transfer     int64   `json:"transfer"`
	NetworkOut   int64   `json:"network_out"`
	Price        price   `json:"price"`
	RegionPrices []price `json:"region_prices"`
	region       string
	available    bool
}

type price struct {
	ID     string  `json:"id"`
	Hourly float64 `json:"hourly"`
}

func readPlans(api, token, region string) ([]*plan, error) {
	var page struct {
		Data []*plan `json:"data"`
	}
	var availability []struct {
		Plan      string `json:"plan"`
		Available bool   `json:"available"`
	}
	if err := get(api+"/v4beta/linode/types?page_size=500", token, &page); err != nil {
		return nil, err
	}
	if err := get(api+"/v4beta/regions/"+region+"/availability", token, &availability); err != nil {
		return nil, err
	}
	for _, p := range page.Data {
		p.region, p.available = region, true
		for _, one := range availability {
			if one.Plan == p.ID {
				p.available = one.Available
			}
		}
		for _, one := range p.RegionPrices {
			if one.ID == region {
				p.Price = one
			}
		}
		for key := range p.labels() {
			v1.WellKnownLabels.Insert(key)
		}
	}
	return page.Data, nil
}

func get(url, token string, out any) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(out)
}

// labels of a Node of this plan. A value that is empty: it has no such label.
func (p *plan) labels() map[string]string {
	parts := strings.Split(p.ID, "-")
	labels := map[string]string{
		corev1.LabelInstanceTypeStable: p.ID,
		corev1.LabelTopologyZone:       p.region,
		corev1.LabelTopologyRegion:     p.region,
		v1.CapacityTypeLabelKey:        v1.CapacityTypeOnDemand,
		corev1.LabelArchStable:         "amd64",
		corev1.LabelOSStable:           "linux",
		group + "class":                p.Class,
		group + "generation":           strings.TrimPrefix(parts[0], "g"),
		group + "gpu-name":             "",
	}
	for name, amount := range map[string]int64{
		"cpu": p.VCPUs, "memory": p.Memory, "disk": p.Disk, "gpu-count": p.GPUs,
		"transfer": p.Transfer, "network-out": p.NetworkOut,
		"accelerated-devices-count": p.Accelerated,
	} {
		labels[group+name] = strconv.FormatInt(amount, 10)
	}
	if len(parts) > 2 && parts[1] == "gpu" {
		labels[group+"gpu-name"] = parts[2]
	}
	return labels
}

// capacity as karpenter-provider-linode has it: a machine shows 7.5 % less memory than its plan. The disk and
// the GPUs are counted, too.
func (p *plan) capacity() corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(p.VCPUs, resource.DecimalSI),
		corev1.ResourceMemory:           binary((p.Memory - (p.Memory*75+999)/1000) * mib),
		corev1.ResourcePods:             *resource.NewQuantity(maxPod, resource.DecimalSI),
		corev1.ResourceEphemeralStorage: binary(p.Disk * mib),
	}
	if p.GPUs > 0 {
		list["nvidia.com/gpu"] = *resource.NewQuantity(p.GPUs, resource.DecimalSI)
	}
	return list
}

// overhead: what the kubelet keeps for itself, and the thresholds below which it evicts.
func (p *plan) overhead() *cloudprovider.InstanceTypeOverhead {
	milli := int64(0)
	for core := int64(1); core <= p.VCPUs; core++ {
		switch {
		case core == 1:
			milli += 6000
		case core == 2:
			milli += 1000
		case core <= 4:
			milli += 500
		default:
			milli += 250
		}
	}
	disk := p.Disk * mib
	return &cloudprovider.InstanceTypeOverhead{
		KubeReserved: corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewMilliQuantity(milli/100, "DecimalSI"),
			corev1.ResourceMemory:           binary((255 + 11*maxPod) * mib),
			corev1.ResourceEphemeralStorage: binary(1024 * mib),
		},
		EvictionThreshold: corev1.ResourceList{
			corev1.ResourceMemory:           binary(100 * mib),
			corev1.ResourceEphemeralStorage: binary(disk - disk/100*90),
		},
	}
}

func binary(bytes int64) resource.Quantity {
	return *resource.NewQuantity(bytes, resource.BinarySI)
}

func (p *plan) instanceType() *cloudprovider.InstanceType {
	all := scheduling.NewRequirements()
	for key, value := range p.labels() {
		if value == "" {
			all.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist))
		} else {
			all.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, value))
		}
	}
	where := scheduling.NewLabelRequirements(map[string]string{
		corev1.LabelTopologyZone: p.region, v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand,
	})
	return &cloudprovider.InstanceType{
		Name: p.ID, Requirements: all, Capacity: p.capacity(), Overhead: p.overhead(),
		Offerings: cloudprovider.Offerings{
			{Price: p.Price.Hourly, Available: p.available, Requirements: where},
		},
	}
}

// shown is what -types prints: CPU in thousandths, memory and storage in bytes.
func (p *plan) shown() any {
	of := p.instanceType()
	return map[string]any{
		"id": p.ID, "price": p.Price.Hourly, "available": p.available, "labels": p.labels(),
		"capacity": amounts(of.Capacity), "allocatable": amounts(of.Allocatable()),
	}
}

func amounts(list corev1.ResourceList) map[string]int64 {
	out := map[string]int64{}
	for name, quantity := range list {
		out[string(name)] = quantity.Value()
		if name == corev1.ResourceCPU {
			out[string(name)] = quantity.MilliValue()
		}
	}
	return out
}
