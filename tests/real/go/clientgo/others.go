package main

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

type candidate struct {
	leads atomic.Bool
	stop  context.CancelFunc
	ended chan struct{}
}

func (t *test) stand(identity string) *candidate {
	ctx, cancel := context.WithCancel(t.ctx)
	c := &candidate{stop: cancel, ended: make(chan struct{})}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: t.name(0), Namespace: namespace},
		Client:     t.typed.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true,
		LeaseDuration: 120 * time.Second, // longer than anybody here waits
		RenewDeadline: 90 * time.Second,
		RetryPeriod:   200 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.leads.Store(true) },
			OnStoppedLeading: func() { c.leads.Store(false) },
		},
	})
	must(err)
	go func() {
		elector.Run(ctx)
		close(c.ended)
	}()
	return c
}

func leaderElection(t *test) {
	one := t.stand("one")
	t.eventually("one leads", one.leads.Load)
	two := t.stand("two")
	lease := func() (string, int32) {
		found, err := t.typed.CoordinationV1().Leases(namespace).Get(t.ctx, t.name(0), opts.get)
		must(err)
		return *found.Spec.HolderIdentity, *found.Spec.LeaseTransitions
	}
	holder, transitions := lease()
	check(holder == "one" && transitions == 0, "held by %q after %d transitions", holder, transitions)
	check(!two.leads.Load(), "two leads as well")
	one.stop()
	<-one.ended
	t.eventually("two leads", two.leads.Load)
	holder, transitions = lease()
	check(holder == "two" && transitions >= 1, "held by %q after %d transitions", holder, transitions)
	two.stop()
	<-two.ended
}

func eventRecorder(t *test) {
	t.createNodes(0, 1)
	node, err := t.nodes().Get(t.ctx, t.name(0), opts.get)
	must(err)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: t.typed.EventsV1()})
	must(broadcaster.StartRecordingToSinkWithContext(t.ctx))
	recorder := broadcaster.NewRecorder(scheme.Scheme, "clientgo")
	for n := 0; n < 3; n++ {
		recorder.Eventf(node, nil, corev1.EventTypeWarning, "Tested", "Testing", "run %s", t.mark)
	}
	found := func() []eventsv1.Event {
		list, err := t.typed.EventsV1().Events(metav1.NamespaceDefault).List(t.ctx, opts.list)
		must(err)
		var mine []eventsv1.Event
		for _, e := range list.Items {
			if e.Regarding.UID == node.UID {
				mine = append(mine, e)
			}
		}
		return mine
	}
	t.eventually("one event with a count", func() bool {
		mine := found()
		return len(mine) == 1 && mine[0].Series != nil && mine[0].Series.Count >= 2
	})
	event := found()[0]
	got := []string{event.Reason, event.Action, event.Type, event.ReportingController}
	wanted := []string{"Tested", "Testing", "Warning", "clientgo"}
	check(slices.Equal(got, wanted) && strings.Contains(event.Note, t.mark), "event: %v", event)
	// The same through the old API group: one store, two names.
	old, err := t.typed.CoreV1().Events(metav1.NamespaceDefault).Get(t.ctx, event.Name, opts.get)
	must(err)
	check(old.InvolvedObject.UID == node.UID && old.Message == event.Note, "as core/v1: %v", old)
}

func discoveryMapping(t *test) {
	client := discovery.NewDiscoveryClientForConfigOrDie(t.config)
	version, err := client.ServerVersion()
	must(err)
	check(version.Major == "1", "version %v", version)
	_, lists, err := client.ServerGroupsAndResources()
	must(err)
	verbs := map[string]string{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			verbs[list.GroupVersion+"/"+r.Name] = strings.Join(r.Verbs, " ")
		}
	}
	for _, name := range []string{
		"v1/nodes", "v1/nodes/status", "v1/pods/eviction",
		"coordination.k8s.io/v1/leases", "events.k8s.io/v1/events",
		"test.muster.dev/v1/widgets", "test.muster.dev/v1/widgets/status",
		"test.muster.dev/v1beta1/widgets",
	} {
		_, there := verbs[name]
		check(there, "%s is not discovered", name)
	}
	byKind := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	mapper := restmapper.NewShortcutExpander(byKind, client, nil)
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "test.muster.dev", Kind: "Widget"})
	must(err)
	check(mapping.Resource == widgets, "mapped to %v", mapping.Resource)
	check(mapping.Scope.Name() == "namespace", "its scope is %v", mapping.Scope.Name())
	byShortName, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: "wd"})
	must(err)
	check(byShortName == widgets, "wd is %v", byShortName)
	kind, err := mapper.KindFor(schema.GroupVersionResource{Resource: "nodes"})
	must(err)
	check(kind.Kind == "Node", "nodes are %v", kind)
}

func metadataClient(t *test) {
	t.createWidget(0, object{"size": int64(1)})
	client := t.metadata.Resource(widgets).Namespace(namespace)
	partial, err := client.Get(t.ctx, t.name(0), opts.get)
	must(err)
	check(partial.UID != "" && partial.Labels["run"] == t.mark,
		"get: %v", partial)
	patch := []byte(`{"metadata":{"annotations":{"a":"b"}}}`)
	partial, err = client.Patch(t.ctx, t.name(0), types.MergePatchType, patch, opts.patch)
	must(err)
	check(partial.Annotations["a"] == "b", "patched: %v", partial)
	list, err := client.List(t.ctx, t.mine())
	must(err)
	check(len(list.Items) == 1 && list.Items[0].Name == t.name(0), "list: %v", list)
	whole, err := t.metadata.Resource(nodes).List(t.ctx, metav1.ListOptions{Limit: 1})
	must(err)
	check(whole.ResourceVersion != "", "nodes: %v", whole)
	must(client.Delete(t.ctx, t.name(0), onlyIf(&partial.UID, nil)))
	_, err = client.Get(t.ctx, t.name(0), opts.get)
	check(apierrors.IsNotFound(err), "still there: %v", err)
}
