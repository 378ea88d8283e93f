// Package watch keeps a view current: it lists and watches the kinds of a cluster that are shown, and
// hands each object on. It only reads, and keeps only the name of an object. It leaves out a kind that
// the cluster lacks or that the user may not read, and reports it.
package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/model"
	"tenon/internal/market/publication"
	"tenon/internal/view"
)

// kind is a kind of object to watch.
type kind struct {
	name   string
	object client.Object
	list   func() client.ObjectList
	named  func(namespace, name string) client.Object
	fields string
}

func kinds() []kind {
	return []kind{
		{"nodes", &corev1.Node{}, func() client.ObjectList { return &corev1.NodeList{} }, func(_, name string) client.Object {
			return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}, ""},
		{"pods", &corev1.Pod{}, func() client.ObjectList { return &corev1.PodList{} }, func(namespace, name string) client.Object {
			return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		}, ""},
		{"nodepools", &karpenterv1.NodePool{}, func() client.ObjectList { return &karpenterv1.NodePoolList{} }, func(_, name string) client.Object {
			return &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}, ""},
		{"nodegroups", &tenonv1alpha1.NodeGroup{}, func() client.ObjectList { return &tenonv1alpha1.NodeGroupList{} }, func(_, name string) client.Object {
			return &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}, ""},
		{"ec2nodeclasses", &awsv1.EC2NodeClass{}, func() client.ObjectList { return &awsv1.EC2NodeClassList{} }, func(_, name string) client.Object {
			return &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}, ""},
		{"nodeclaims", &karpenterv1.NodeClaim{}, func() client.ObjectList { return &karpenterv1.NodeClaimList{} }, func(_, name string) client.Object {
			return &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}, ""},
		{"events", &corev1.Event{}, func() client.ObjectList { return &corev1.EventList{} }, func(namespace, name string) client.Object {
			return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		}, "reason!=Pulled,reason!=Created,reason!=Started,reason!=Scheduled,reason!=Killing,reason!=SuccessfulCreate"},
	}
}

// needed are the kinds without which there is nothing to show.
var needed = []string{"nodes", "pods"}

// overlays are a kind that only some controllers read, too.
var overlays = kind{"nodeoverlays", &karpenterv1alpha1.NodeOverlay{}, func() client.ObjectList { return &karpenterv1alpha1.NodeOverlayList{} }, func(_, name string) client.Object {
	return &karpenterv1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name}}
}, ""}

// extra are the kinds that only have pages of their own or, as overlays, matter in few clusters. Users who may not read them are
// not told so.
var extra = []string{"ec2nodeclasses", "nodeoverlays"}

// Watch is a cluster that is being followed.
type Watch struct {
	State  *view.State
	client client.WithWatch
	kinds  []kind
	// market reads what the controller published.
	market func(context.Context) (*publication.Publication, error)
	// usage reads what nodes use; nil does not.
	usage func(context.Context) (map[string]model.Resources, error)

	mu       sync.Mutex
	problems map[string]string
	listed   map[string]bool
	complete chan struct{}
}

// Client is the client with which the cluster is followed, with the rights of its connection.
func (w *Watch) Client() client.Client { return w.client }

// New prepares to follow the cluster of a connection. The namespaces are where its controller may publish its market,
// for users who may not look everywhere.
func New(config *rest.Config, state *view.State, namespaces ...string) (*Watch, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, awsv1.AddToScheme, karpenterv1.AddToScheme, karpenterv1alpha1.AddToScheme, tenonv1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			return nil, fmt.Errorf("learn the kinds of objects: %w", err)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: known})
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	w := over(c, state)
	w.market = func(ctx context.Context) (*publication.Publication, error) {
		return publication.Read(ctx, config, namespaces...)
	}
	return w, nil
}

func over(c client.WithWatch, state *view.State) *Watch {
	return &Watch{State: state, client: c, kinds: kinds(), problems: map[string]string{}, listed: map[string]bool{}, complete: make(chan struct{})}
}

// Overlaid also follows NodeOverlays, which change prices.
func (w *Watch) Overlaid() *Watch {
	w.kinds = append(w.kinds, overlays)
	return w
}

// Run follows the cluster until the context ends.
func (w *Watch) Run(ctx context.Context) {
	var all sync.WaitGroup
	if w.market != nil {
		all.Go(func() { w.prices(ctx) })
	}
	if w.usage != nil {
		all.Go(func() { w.measures(ctx) })
	}
	for _, k := range w.kinds {
		all.Go(func() {
			source := &cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
					list := k.list()
					err := w.client.List(ctx, list, raw(k, options))
					w.note(k.name, err)
					return list, err
				},
				WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
					return w.client.Watch(ctx, k.list(), raw(k, options))
				},
			}
			r := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(source, noWatchList{}), k.object, &store{w: w, kind: k, names: map[string]bool{}},
				cache.ReflectorOptions{Name: "view " + k.name})
			r.RunWithContext(ctx)
		})
	}
	all.Wait()
}

// ask is how often the published market is read: its object is large, and changes every minute at most.
const ask = 2 * time.Minute

// prices reads the published market until the context ends.
func (w *Watch) prices(ctx context.Context) {
	ticker := time.NewTicker(ask)
	defer ticker.Stop()
	for {
		switch p, err := w.market(ctx); {
		case err == nil:
			w.State.Publish(p.At, slices.Collect(maps.Values(p.Catalogs))...)
			w.note(market, nil)
		case errors.Is(err, publication.ErrNone):
			w.State.Publish(time.Time{})
			w.note(market, nil)
		case ctx.Err() == nil:
			w.note(market, err)
		}
		w.mark(market)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// market is what the published market is called among kinds.
const market = "the published market"

// noWatchList makes the reflector list in pages, which is gentle to old servers.
type noWatchList struct{}

// IsWatchListSemanticsUnSupported tells the reflector so.
func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

func raw(k kind, options metav1.ListOptions) client.ListOption {
	options.FieldSelector = k.fields
	return &client.ListOptions{Raw: &options}
}

// note remembers what could not be read, in words for people.
func (w *Watch) note(name string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		delete(w.problems, name)
	case slices.Contains(needed, name):
		w.problems[name] = fmt.Sprintf("cannot read %s: %s", name, err)
	case apierrors.IsForbidden(err) && slices.Contains(extra, name):
		w.listed[name] = true // the page about such an object says so
	case apierrors.IsForbidden(err):
		w.problems[name] = "may not list " + name
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		w.listed[name] = true // the cluster has none
	default:
		w.problems[name] = fmt.Sprintf("cannot read %s: %s", name, err)
	}
}

// Problems returns what could not be read, in words for people.
func (w *Watch) Problems() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]string, 0, len(w.problems))
	for _, text := range w.problems {
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func (w *Watch) mark(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listed[name] {
		return
	}
	w.listed[name] = true
	if slices.Contains(needed, name) && !slices.ContainsFunc(needed, func(n string) bool { return !w.listed[n] }) {
		close(w.complete)
	}
}

// Complete is closed once all nodes and pods have been read.
func (w *Watch) Complete() <-chan struct{} { return w.complete }

// settle is how long to wait for the kinds that a cluster may lack.
const settle = 2 * time.Second

// Wait waits until there is something to show. Its error says what could not be read.
func (w *Watch) Wait(ctx context.Context) error {
	select {
	case <-w.complete:
	case <-ctx.Done():
		return fmt.Errorf("read the cluster: %w; %s", context.Cause(ctx), strings.Join(w.Problems(), "; "))
	}
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	for !w.answered() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(settle / 100):
		}
	}
	return nil
}

// answered reports whether every kind was listed, or is known to be missing.
func (w *Watch) answered() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := len(w.kinds)
	if w.market != nil {
		want++
	}
	if w.usage != nil {
		want++
	}
	return len(w.listed)+len(w.problems) >= want
}

// store hands on what a reflector finds, and remembers only names.
type store struct {
	w     *Watch
	kind  kind
	names map[string]bool
}

func key(object any) string {
	o, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// Add implements cache.ReflectorStore.
func (s *store) Add(object any) error {
	s.names[key(object)] = true
	s.w.State.Put(object)
	return nil
}

// Update implements cache.ReflectorStore.
func (s *store) Update(object any) error { return s.Add(object) }

// Delete implements cache.ReflectorStore.
func (s *store) Delete(object any) error {
	delete(s.names, key(object))
	s.w.State.Delete(object)
	return nil
}

// Replace implements cache.ReflectorStore: objects that the list lacks are gone.
func (s *store) Replace(list []any, _ string) error {
	there := make(map[string]bool, len(list))
	for _, object := range list {
		there[key(object)] = true
		s.w.State.Put(object)
	}
	for name := range s.names {
		if !there[name] {
			namespace, name, _ := strings.Cut(name, "/")
			s.w.State.Delete(s.kind.named(namespace, name))
		}
	}
	s.names = there
	s.w.mark(s.kind.name)
	return nil
}

// Resync implements cache.ReflectorStore: the store keeps nothing that it could report again.
func (s *store) Resync() error { return nil }
