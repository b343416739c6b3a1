// Command clientgo is a client of the usual kind, built on client-go, for whatever server it is pointed at.
//
//	clientgo -list                            the names of the cases
//	clientgo -kubeconfig FILE [-json] CASE    one of them; exit code 0 when it holds
//
// The same cases run on a real kube-apiserver and on muster-sim: what holds there must hold here.
// It expects the Widget of tests/lib/kubecrds.py to be installed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "clientgo"

var (
	nodes   = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	widgets = schema.GroupVersionResource{Group: "test.muster.dev", Version: "v1", Resource: "widgets"}
)

// opts are the usual options: none.
var opts struct {
	create metav1.CreateOptions
	get    metav1.GetOptions
	list   metav1.ListOptions
	update metav1.UpdateOptions
	patch  metav1.PatchOptions
	delete metav1.DeleteOptions
}

// A test has one client of each kind, all through a transport that records what is asked.
type test struct {
	ctx      context.Context
	config   *rest.Config
	typed    kubernetes.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
	wire     *wire
	mark     string // of this run: part of every name and the value of a label on everything
}

var cases = []struct {
	name string
	run  func(*test)
	env  []string // a feature of client-go for this case
}{
	{"an informer with watch-list follows every change", informerWatchList, watchList("true")},
	{"an informer with list and watch follows every change", informerList, watchList("false")},
	{"an informer relists after 410 and finds what it missed", informerRelist, watchList("false")},
	{"an informer goes on after its watch is cut", informerCut, nil},
	{"an informer with a selector sees no more than that", informerSelector, nil},
	{"a metadata-only informer sees labels and no spec", informerMetadata, nil},
	{"a list is read in pages of one version", pagedList, nil},
	{"merge, JSON and strategic patches", patches, nil},
	{"a patch with a resource version conflicts", patchConflict, nil},
	{"an update of a stale object conflicts, a retry succeeds", updateConflict, nil},
	{"apply owns fields, conflicts, is forced, prunes", applyConflict, nil},
	{"apply of a custom resource and of its status", applyWidget, nil},
	{"the status of a custom resource is apart", widgetStatus, nil},
	{"errors have the reasons that client-go asks for", errorReasons, nil},
	{"finalizers hold a deletion back", finalizers, nil},
	{"a deletion with preconditions", deletePreconditions, nil},
	{"a collection is deleted by label", deleteCollection, nil},
	{"an eviction deletes a pod", eviction, nil},
	{"leaders are elected and hand over", leaderElection, nil},
	{"events are recorded and counted", eventRecorder, nil},
	{"discovery and the mapping of kinds", discoveryMapping, nil},
	{"the metadata client gets, patches and deletes", metadataClient, nil},
}

func watchList(on string) []string {
	return []string{"KUBE_FEATURE_WatchListClient", on}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the server and who we are")
	inJSON := flag.Bool("json", false, "built-in kinds as JSON; else client-go sends them as protobuf")
	list := flag.Bool("list", false, "print the names of the cases")
	flag.Parse()
	if *list {
		for _, c := range cases {
			fmt.Println(c.name)
		}
		return
	}
	for _, c := range cases {
		if c.name == flag.Arg(0) {
			for i := 0; i+1 < len(c.env); i += 2 {
				must(os.Setenv(c.env[i], c.env[i+1]))
			}
			run(*kubeconfig, *inJSON, c.run)
			return
		}
	}
	fmt.Fprintf(os.Stderr, "no case %q; -list shows them\n", flag.Arg(0))
	os.Exit(2)
}

func run(kubeconfig string, inJSON bool, body func(*test)) {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(err)
	config.QPS = -1
	config.UserAgent = "clientgo"
	if inJSON {
		config.ContentType = "application/json"
	}
	t := &test{ctx: ctx, config: config, wire: &wire{}, mark: fmt.Sprintf("%d", time.Now().UnixNano())}
	config.Wrap(t.wire.wrap)
	t.typed = kubernetes.NewForConfigOrDie(config)
	t.dynamic = dynamic.NewForConfigOrDie(config)
	t.metadata = metadata.NewForConfigOrDie(config)
	t.ensureNamespace()
	body(t)
}

// must: a case ends with its first surprise. The text is all that the Python side shows.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("%v", err))
	}
}

func check(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

func (t *test) eventually(what string, fact func() bool) {
	err := wait.PollUntilContextTimeout(t.ctx, 20*time.Millisecond, 60*time.Second, true,
		func(context.Context) (bool, error) { return fact(), nil })
	check(err == nil, "never came about: %s", what)
}

type object = map[string]any

func (t *test) name(n int) string {
	return fmt.Sprintf("cg-%s-%04d", t.mark, n)
}

func (t *test) labels(more ...string) map[string]string {
	labels := map[string]string{"run": t.mark}
	for i := 0; i+1 < len(more); i += 2 {
		labels[more[i]] = more[i+1]
	}
	return labels
}

func (t *test) mine() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: "run=" + t.mark}
}

func (t *test) widget(n int, spec object) *unstructured.Unstructured {
	labels := map[string]any{"run": t.mark}
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "test.muster.dev/v1", "kind": "Widget",
		"metadata": map[string]any{"name": t.name(n), "namespace": namespace, "labels": labels},
		"spec":     spec,
	}}
}

func (t *test) nodes() corev1client.NodeInterface {
	return t.typed.CoreV1().Nodes()
}

func (t *test) patchNode(n int, kind types.PatchType, patch string, sub ...string) (*corev1.Node, error) {
	return t.nodes().Patch(t.ctx, t.name(n), kind, []byte(patch), opts.patch, sub...)
}

func (t *test) createWidget(n int, spec object) *unstructured.Unstructured {
	created, err := t.widgets().Create(t.ctx, t.widget(n, spec), opts.create)
	must(err)
	return created
}

// onlyIf is a deletion of just that object; nil: of any.
func onlyIf(uid *types.UID, version *string) metav1.DeleteOptions {
	return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: uid, ResourceVersion: version}}
}

func (t *test) widgets() dynamic.ResourceInterface {
	return t.dynamic.Resource(widgets).Namespace(namespace)
}

// A wire sees every request; it can make the next watch ask for a version that is long gone, or cut them all.
type wire struct {
	sync.Mutex
	seen   []*url.URL
	expire string // path of the collection whose next watch asks for version 1
	open   []*stream
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		w.Lock()
		w.seen = append(w.seen, r.URL)
		query := r.URL.Query()
		watch := query.Get("watch") != ""
		if watch && w.expire == r.URL.Path && query.Get("sendInitialEvents") == "" {
			r = r.Clone(r.Context())
			query.Set("resourceVersion", "1")
			r.URL.RawQuery = query.Encode()
			w.expire = ""
		}
		w.Unlock()
		response, err := next.RoundTrip(r)
		if err == nil && watch {
			w.Lock()
			defer w.Unlock()
			body := &stream{ReadCloser: response.Body}
			response.Body = body
			w.open = append(w.open, body)
		}
		return response, err
	})
}

// A stream ends in the middle when it is cut, as if the server or a proxy had closed it.
type stream struct {
	io.ReadCloser
	cut atomic.Bool
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && s.cut.Load() {
		err = io.EOF
	}
	return n, err
}

func (w *wire) cut() {
	w.Lock()
	defer w.Unlock()
	for _, s := range w.open {
		s.cut.Store(true)
		s.Close()
	}
	w.open = nil
}

func (w *wire) expireNext(path string) {
	w.Lock()
	w.expire = path
	w.Unlock()
	w.cut()
}

func (w *wire) count(wanted func(path string, query url.Values) bool) int {
	w.Lock()
	defer w.Unlock()
	n := 0
	for _, u := range w.seen {
		if wanted(u.Path, u.Query()) {
			n++
		}
	}
	return n
}
