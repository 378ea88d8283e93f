package world

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/catalog"
	"tenon/core/order"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// groups holds the groups of instances, each as a pool. What was asked for and has not come follows from the size that the
// cloud keeps and the nodes that there are: nothing of it is remembered.
type groups struct {
	all map[string]*grouped

	// The last list with the instances that have no node yet, and what it was made from.
	list    []snapshot.Node
	from    []snapshot.Node
	missing map[string]missing
	handed  []string // pools of the groups in mode handover
}

// grouped is one group, with its translation.
type grouped struct {
	object *tenonv1alpha1.NodeGroup
	pool   snapshot.Pool
	offers *catalog.Catalog
}

// missing is how many instances of a group have no node, and what they will be like.
type missing struct {
	number int64
	offers *catalog.Catalog
}

func newGroups() groups { return groups{all: map[string]*grouped{}} }

// put reports whether something has changed that matters to decisions. A size that was just written is entered before the watch has it, so an older
// state of the object is ignored.
func (r *groups) put(t *ingest.Translator, o *tenonv1alpha1.NodeGroup) bool {
	if old := r.all[o.Name]; old != nil && older(o, old.object) {
		return false
	}
	if old := r.all[o.Name]; old != nil && sameGroup(old.object, o) {
		old.object = o
		return false
	}
	g := &grouped{object: o}
	g.pool, g.offers = t.Group(o)
	r.all[o.Name] = g
	return true
}

// older reports whether an object is an older state of another one. Versions that are no numbers have no order.
func older(o, than metav1.Object) bool {
	order, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), than.GetResourceVersion())
	return err == nil && order < 0 && o.GetUID() == than.GetUID()
}

func sameGroup(a, b *tenonv1alpha1.NodeGroup) bool {
	return a.Generation == b.Generation && a.HandoverPaused() == b.HandoverPaused() && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) && a.UID == b.UID &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status, b.Status)
}

// addPools adds the groups' pools, their catalogues and their prices.
func (r *groups) addPools(t *ingest.Translator, out *snapshot.Snapshot, prices map[string]ingest.Prices) {
	objects := make([]*tenonv1alpha1.NodeGroup, 0, len(r.all))
	for _, g := range r.all {
		objects = append(objects, g.object)
	}
	for _, name := range order.Keys(r.all) {
		g := r.all[name]
		pool := g.pool.Resting(t.Rests(g.object, objects))
		pool.Catalog = out.AddCatalog(g.offers)
		out.Pools = append(out.Pools, pool)
		prices[pool.Name] = ingest.Prices{Offers: g.offers}
	}
}

// withUnderway returns the list of nodes with the instances that have none yet, and marks the nodes that are handed over to pools. While nothing
// has changed it is the same list.
func (w *World) withUnderway() []snapshot.Node {
	r, t, nodes := &w.groups, w.translator, w.nodes.list
	if len(r.all) == 0 {
		return nodes
	}
	members, unmarked, now := ingest.Members(nodes), t.Unmarked(maps.Values(w.nodes.nodes)), map[string]missing{}
	objects := make([]*tenonv1alpha1.NodeGroup, 0, len(r.all))
	for name, g := range r.all {
		objects = append(objects, g.object)
		if n := t.Missing(g.object, members[g.pool.Name], unmarked); n > 0 {
			now[name] = missing{n, g.offers}
		}
	}
	handed := ingest.HandingOver(objects)
	if len(now)+len(handed) == 0 {
		return nodes
	}
	if r.list != nil && one(nodes, r.from) && maps.Equal(now, r.missing) && slices.Equal(handed, r.handed) {
		return r.list
	}
	list := slices.Clone(nodes)
	ingest.HandOver(list, handed)
	for _, name := range order.Keys(now) {
		list = append(list, t.Underway(&r.all[name].pool, now[name].offers, now[name].number)...)
	}
	slices.SortFunc(list, ingest.CompareNodes)
	r.list, r.from, r.missing, r.handed = list, nodes, now, handed
	return list
}

// Group finds the object of a group by the group's name in the cloud.
func (w *World) Group(name string) (*tenonv1alpha1.NodeGroup, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, object := range order.Keys(w.groups.all) {
		if g := w.groups.all[object].object; g.Spec.GroupName == name {
			return g, true
		}
	}
	return nil, false
}

// GroupObject finds the object of a group by its own name; nil if there is none. Left is the size that the group will have once
// all nodes that are leaving have gone; it counts those that are only about to leave.
func (w *World) GroupObject(name string) (object *tenonv1alpha1.NodeGroup, left int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.groups.all[name]
	if g == nil || g.object.Status.Size == nil {
		return nil, 0
	}
	left = g.object.Status.Size.Desired
	for _, node := range w.nodes.nodes {
		if node.Annotations[tenonv1alpha1.AnnotationGroup] == name && node.DeletionTimestamp != nil && node.Annotations[tenonv1alpha1.AnnotationEnded] == "" {
			left--
		}
	}
	return g.object, left
}

// Grow enters the size of a group before the cloud is told to keep it. It refuses a size that was not decided from the present one, or for
// which the limits of the cluster leave no room. A caller that does not write the size puts the former object again.
func (w *World) Grow(name string, from, to int64) reason.Cause {
	var cause reason.Cause
	w.change(func() {
		g := w.groups.all[name]
		if g == nil || g.object.Status.Size == nil || g.object.Status.Size.Desired != from {
			cause = reason.Cause{Code: reason.GroupChanged, Where: name}
			return
		}
		before, asked := g.object, g.object.DeepCopy()
		asked.Status.Size.Desired = to
		w.put(asked)
		used, nodes := w.usageOfAll()
		if cause = beyond(w.options.Settings.Limits, used, nodes); cause.Code != reason.None {
			w.put(before)
		}
	})
	return cause
}
