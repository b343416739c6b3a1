package main

import (
	"context"
	"errors"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

var errOthersWork = errors.New("lke-claimer launches and deletes the machines, not this program")

// A provider describes instance types. The life of a NodeClaim is not its work.
type provider struct {
	plans []*plan
}

func (p *provider) Name() string { return "linode" }

func (p *provider) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&LinodeNodeClass{}}
}

func (p *provider) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	types := []*cloudprovider.InstanceType{}
	for _, plan := range p.plans {
		types = append(types, plan.instanceType())
	}
	return types, nil
}

func (p *provider) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}

func (p *provider) RepairPolicies() []cloudprovider.RepairPolicy { return nil }

func (p *provider) Create(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error) {
	return nil, errOthersWork
}
func (p *provider) Delete(context.Context, *v1.NodeClaim) error         { return errOthersWork }
func (p *provider) Get(context.Context, string) (*v1.NodeClaim, error)  { return nil, errOthersWork }
func (p *provider) List(context.Context) ([]*v1.NodeClaim, error)       { return nil, errOthersWork }
func (p *provider) Reboot(context.Context, *v1.NodeClaim, string) error { return errOthersWork }

// LinodeNodeClass has what core reads of it: the conditions.
type LinodeNodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            struct {
		Conditions []status.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

type LinodeNodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []LinodeNodeClass `json:"items"`
}

func init() {
	version := schema.GroupVersion{Group: "karpenter.k8s.linode", Version: "v1alpha1"}
	metav1.AddToGroupVersion(scheme.Scheme, version)
	scheme.Scheme.AddKnownTypes(version, &LinodeNodeClass{}, &LinodeNodeClassList{})
}

func (c *LinodeNodeClass) GetConditions() []status.Condition    { return c.Status.Conditions }
func (c *LinodeNodeClass) SetConditions(all []status.Condition) { c.Status.Conditions = all }
func (c *LinodeNodeClass) StatusConditions(o ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(c, o...)
}

func (c *LinodeNodeClass) DeepCopyObject() runtime.Object {
	out := &LinodeNodeClass{TypeMeta: c.TypeMeta, ObjectMeta: *c.ObjectMeta.DeepCopy()}
	for _, condition := range c.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *condition.DeepCopy())
	}
	return out
}

func (l *LinodeNodeClassList) DeepCopyObject() runtime.Object {
	out := &LinodeNodeClassList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*LinodeNodeClass))
	}
	return out
}
