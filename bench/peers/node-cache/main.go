// bench/peers/node-cache - the peer of ./dev bench kube: what a careful Go team writes today.
//
// A controller-runtime manager with a full Node cache; one controller evaluates each Node and fans
// changes out through a source.Channel; one downstream controller writes the Node's touch label back
// as an annotation. Same job as kube-watcher with a downstream actor.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	touchLabel     = "muster.dev/touch"
	echoAnnotation = "muster.dev/echo"
)

var began = time.Now()

func report(what string) {
	fmt.Printf("{\"%s\": %.1f}\n", what, float64(time.Since(began).Microseconds())/1000)
}

// nodeState evaluates each node once and notifies the downstream controllers of what changed.
type nodeState struct {
	client.Client
	mu     sync.Mutex
	states map[string]string
	events chan event.GenericEvent
}

func (n *nodeState) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var node corev1.Node
	if err := n.Get(ctx, req.NamespacedName, &node); err != nil {
		n.mu.Lock()
		delete(n.states, req.Name)
		n.mu.Unlock()
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	state := fmt.Sprintf("%v %v %s", node.Spec.Unschedulable, ready(&node), node.Labels[touchLabel])
	n.mu.Lock()
	changed := n.states[req.Name] != state
	n.states[req.Name] = state
	n.mu.Unlock()
	if changed {
		n.events <- event.GenericEvent{Object: &node}
	}
	return reconcile.Result{}, nil
}

func ready(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// echo is the downstream writer.
type echo struct{ client.Client }

func (e *echo) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var node corev1.Node
	if err := e.Get(ctx, req.NamespacedName, &node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	touch := node.Labels[touchLabel]
	if touch == "" || node.Annotations[echoAnnotation] == touch {
		return reconcile.Result{}, nil
	}
	annotations := map[string]string{echoAnnotation: touch}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, e.Patch(ctx, &node, client.RawPatch(types.MergePatchType, patch))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctrl.SetLogger(zap.New())
	config := ctrl.GetConfigOrDie()
	config.QPS = -1
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{},
	})
	must(err)
	events := make(chan event.GenericEvent, 1024)
	state := &nodeState{Client: manager.GetClient(), states: map[string]string{}, events: events}
	must(ctrl.NewControllerManagedBy(manager).Named("node-state").For(&corev1.Node{}).Complete(state))
	writer := &echo{manager.GetClient()}
	downstream, err := controller.New("echo", manager, controller.Options{Reconciler: writer})
	must(err)
	must(downstream.Watch(source.Channel(state.events, &handler.EnqueueRequestForObject{})))

	ctx := ctrl.SetupSignalHandler()
	go func() {
		if manager.GetCache().WaitForCacheSync(ctx) {
			informer, err := manager.GetCache().GetInformer(ctx, &corev1.Node{})
			must(err)
			for !informer.HasSynced() {
				time.Sleep(time.Millisecond)
			}
			report("synced_ms")
		}
	}()
	must(manager.Start(ctx))
}
