package main

import (
	"fmt"
	"net/url"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

const (
	nodesPath = "/api/v1/nodes"
	several   = 300
)

func (t *test) ensureNamespace() {
	body := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	_, err := t.typed.CoreV1().Namespaces().Create(t.ctx, body, opts.create)
	if !apierrors.IsAlreadyExists(err) {
		must(err)
	}
}

func (t *test) node(n int) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: t.name(n), Labels: t.labels()}}
}

func (t *test) createNodes(from, to int) {
	for n := from; n < to; n++ {
		_, err := t.nodes().Create(t.ctx, t.node(n), opts.create)
		must(err)
	}
}

func (t *test) labelNode(n int, value string) {
	patch := fmt.Sprintf(`{"metadata":{"labels":{"value":%q}}}`, value)
	_, err := t.patchNode(n, types.MergePatchType, patch)
	must(err)
}

func (t *test) deleteNode(n int) {
	must(t.nodes().Delete(t.ctx, t.name(n), opts.delete))
}

// A follower is an informer with what its handlers received.
type follower struct {
	sync.Mutex
	informer cache.SharedIndexInformer
	held     map[string]string // name -> resource version
	deletes  int
	unknown  int // deletions found by a relist
}

func (t *test) follow(informer cache.SharedIndexInformer) *follower {
	f := &follower{informer: informer, held: map[string]string{}}
	keep := func(o any) {
		m, err := meta.Accessor(o)
		must(err)
		f.Lock()
		defer f.Unlock()
		f.held[m.GetName()] = m.GetResourceVersion()
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    keep,
		UpdateFunc: func(_, o any) { keep(o) },
		DeleteFunc: func(o any) {
			f.Lock()
			defer f.Unlock()
			f.deletes++
			if last, is := o.(cache.DeletedFinalStateUnknown); is {
				f.unknown++
				_, name, _ := cache.SplitMetaNamespaceKey(last.Key)
				delete(f.held, name)
				return
			}
			m, err := meta.Accessor(o)
			must(err)
			delete(f.held, m.GetName())
		},
	})
	must(err)
	go informer.Run(t.ctx.Done())
	check(cache.WaitForCacheSync(t.ctx.Done(), informer.HasSynced), "the informer did not sync")
	return f
}

func withRun(o metav1.ListOptions, mark string) metav1.ListOptions {
	o.LabelSelector = "run=" + mark
	return o
}

func (t *test) nodeFollower() *follower {
	mine := informers.WithTweakListOptions(func(o *metav1.ListOptions) { *o = withRun(*o, t.mark) })
	factory := informers.NewSharedInformerFactoryWithOptions(t.typed, 0, mine)
	return t.follow(factory.Core().V1().Nodes().Informer())
}

// The mirror equals the server: the same names at the same versions.
func (t *test) settled(f *follower, what string) {
	t.eventually(what, func() bool {
		list, err := t.nodes().List(t.ctx, t.mine())
		must(err)
		f.Lock()
		defer f.Unlock()
		if len(list.Items) != len(f.held) {
			return false
		}
		for _, node := range list.Items {
			if f.held[node.Name] != node.ResourceVersion {
				return false
			}
		}
		return true
	})
}

func (t *test) followChanges() *follower {
	t.createNodes(0, several)
	f := t.nodeFollower()
	stored := len(f.informer.GetStore().List())
	check(stored == several, "%d nodes after sync", stored)
	t.createNodes(several, several+20)
	for n := 0; n < 50; n++ {
		t.labelNode(n, "changed")
	}
	for n := 50; n < 80; n++ {
		t.deleteNode(n)
	}
	t.settled(f, "the mirror equals the server")
	check(f.deletes == 30, "%d deletes", f.deletes)
	return f
}

func (t *test) counted() (watchLists, lists int) {
	watchLists = t.wire.count(func(path string, q url.Values) bool {
		return path == nodesPath && q.Get("sendInitialEvents") == "true"
	})
	lists = t.wire.count(func(path string, q url.Values) bool {
		return path == nodesPath && q.Get("watch") == "" && q.Get("limit") == "500"
	})
	return
}

func informerWatchList(t *test) {
	t.followChanges()
	watchLists, lists := t.counted()
	check(watchLists == 1 && lists == 0, "%d watch-lists and %d lists", watchLists, lists)
}

func informerList(t *test) {
	t.followChanges()
	watchLists, lists := t.counted()
	check(watchLists == 0 && lists == 1, "%d watch-lists and %d lists", watchLists, lists)
}

func informerRelist(t *test) {
	t.createNodes(0, 50)
	f := t.nodeFollower()
	t.labelNode(49, "seen") // a watch without events that ends early counts as an error
	t.settled(f, "the mirror equals the server before the 410")
	t.wire.expireNext(nodesPath)
	for n := 0; n < 10; n++ {
		t.deleteNode(n)
	}
	t.createNodes(50, 60)
	t.settled(f, "the mirror equals the server after the relist")
	t.eventually("a list after the 410", func() bool {
		return t.wire.count(func(path string, q url.Values) bool {
			version := q.Get("resourceVersion")
			return path == nodesPath && q.Get("watch") == "" && version != "" && version != "0"
		}) > 0
	})
	check(t.wire.expire == "", "the watch from version 1 never came")
	check(f.deletes == 10, "%d deletes, %d of them by relist", f.deletes, f.unknown)
}

func informerCut(t *test) {
	t.createNodes(0, 20)
	f := t.nodeFollower()
	for round := 0; round < 3; round++ {
		t.labelNode(round, "before") // a watch without events that ends early counts as an error
		t.settled(f, "the mirror equals the server before a cut")
		t.wire.cut()
		t.labelNode(round, "after")
		t.deleteNode(10 + round)
		t.settled(f, "the mirror equals the server after a cut")
	}
	watchLists, _ := t.counted()
	lists := t.wire.count(func(path string, q url.Values) bool {
		notOlder := q.Get("resourceVersionMatch") == "NotOlderThan"
		return path == nodesPath && notOlder && q.Get("watch") == ""
	})
	check(watchLists == 1 && lists == 0, "%d watch-lists, %d relists: none is needed", watchLists, lists)
}

func informerSelector(t *test) {
	t.createNodes(0, 5)
	f := t.nodeFollower()
	unselected := t.node(5)
	unselected.Labels = map[string]string{"run": "somebody-else"}
	_, err := t.nodes().Create(t.ctx, unselected, opts.create)
	must(err)
	// An object that leaves the selection is a deletion for who watches it, and one that enters is new.
	move := func(n int, run string) {
		patch := fmt.Sprintf(`{"metadata":{"labels":{"run":%q}}}`, run)
		_, err := t.patchNode(n, types.MergePatchType, patch)
		must(err)
	}
	move(0, "somebody-else")
	t.settled(f, "one left the selection")
	check(f.deletes == 1, "%d deletes", f.deletes)
	move(5, t.mark)
	t.settled(f, "one entered the selection")
	third := metav1.ListOptions{FieldSelector: "metadata.name=" + t.name(3)}
	one, err := t.nodes().List(t.ctx, third)
	must(err)
	check(len(one.Items) == 1 && one.Items[0].Name == t.name(3), "%d by field selector", len(one.Items))
	t.deleteNode(0)
}

func informerMetadata(t *test) {
	for n := 0; n < 20; n++ {
		t.createWidget(n, object{"size": int64(n), "color": "red"})
	}
	tweak := func(o *metav1.ListOptions) { *o = withRun(*o, t.mark) }
	factory := metadatainformer.NewFilteredSharedInformerFactory(t.metadata, 0, namespace, tweak)
	f := t.follow(factory.ForResource(widgets).Informer())
	check(len(f.held) == 20 || len(f.informer.GetStore().List()) == 20, "%d held", len(f.held))
	for _, o := range f.informer.GetStore().List() {
		m, is := o.(*metav1.PartialObjectMetadata)
		check(is && m.Labels["run"] == t.mark, "%T %v", o, o)
	}
	must(t.widgets().Delete(t.ctx, t.name(0), opts.delete))
	t.eventually("the deletion", func() bool { f.Lock(); defer f.Unlock(); return f.deletes == 1 })

	// The same kind whole, beside it.
	whole := dynamicinformer.NewFilteredDynamicSharedInformerFactory(t.dynamic, 0, namespace, tweak)
	w := t.follow(whole.ForResource(widgets).Informer())
	for _, o := range w.informer.GetStore().List() {
		color := text(o.(*unstructured.Unstructured), "spec", "color")
		check(color == "red", "color %q", color)
	}
}

func pagedList(t *test) {
	t.createNodes(0, 25)
	names, versions, options := map[string]bool{}, map[string]bool{}, t.mine()
	options.Limit = 10
	pages := 0
	for {
		page, err := t.nodes().List(t.ctx, options)
		must(err)
		pages++
		versions[page.ResourceVersion] = true
		for _, node := range page.Items {
			check(!names[node.Name], "%s twice", node.Name)
			names[node.Name] = true
		}
		if page.Continue == "" {
			break
		}
		check(len(page.Items) == 10, "%d on a page", len(page.Items))
		if pages == 1 {
			t.createNodes(25, 30) // not part of the version that is being read
		}
		options.Continue = page.Continue
	}
	check(pages == 3 && len(names) == 25 && len(versions) == 1, "%d pages, %d names, %d versions",
		pages, len(names), len(versions))
	options.Continue = "rubbish"
	_, err := t.nodes().List(t.ctx, options)
	named := err != nil && strings.Contains(err.Error(), "continue key is not valid")
	check(apierrors.IsBadRequest(err) && named, "a bad token: %v", err)
}
