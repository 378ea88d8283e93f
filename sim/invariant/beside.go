package invariant

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	podresource "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/utils/ptr"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/command"
	"tenon/internal/podresources"
	"tenon/sim/store"
)

// BesideRoom is about purchases for pods that wait. It reports only purchases for which it can show a place
// for each pod: every pod that needed a place lately, and every one that a ReplicaSet has yet to make, fits
// beside all the others on nodes that have been in service for a while. Room that became free more recently
// does not count, because caches may not show it yet.
const BesideRoom = "no node is bought beside enough room"

// lately is the longest lag of all caches: watches stall, break and list again, and a process that ends is
// followed by another. leap is how far the clock goes when it jumps.
const (
	lately = 2 * time.Minute
	leap   = time.Minute
)

// wantedPod is a pod that needed a place, and when it last did.
type wantedPod struct {
	at  time.Time
	pod *corev1.Pod
}

// beside is the state of the rule.
type beside struct {
	unsettled map[string]time.Time // when a node last became free in part, or changed
	stepped   time.Time
	leapt     time.Time
	replaced  time.Time         // when a PodTemplate last changed: caches that are behind know its former pods
	needless  map[string]string // claims that no pod needs, with where the room was, until they have machines
}

// stepBeside detects a jump of the clock: events before it are recent for the product.
func (w *Watch) stepBeside() {
	if now := w.Now(); !w.beside.stepped.IsZero() && now.Sub(w.beside.stepped) > leap {
		w.beside.leapt = now
	}
	w.beside.stepped = w.Now()
}

// unsettle records that a node has changed.
func (w *Watch) unsettle(node string) {
	if node != "" {
		w.beside.unsettled[node] = w.Now()
	}
}

// noteRoom records every change.
func (w *Watch) noteRoom(c store.Change) {
	switch object := c.Object().(type) {
	case *corev1.Pod:
		old, _ := c.Old.(*corev1.Pod)
		if old != nil && old.Spec.NodeName != "" && !finished(old) && (c.New == nil || finished(object)) {
			w.unsettle(old.Spec.NodeName)
		}
	case *corev1.PodTemplate:
		if c.Old != nil {
			w.beside.replaced = w.Now()
		}
	case *corev1.Node:
		old, _ := c.Old.(*corev1.Node)
		if now, _ := c.New.(*corev1.Node); old == nil || now == nil || !sameRoom(old, now) {
			w.unsettle(object.Name)
		}
	case *karpenterv1.NodeClaim:
		old, _ := c.Old.(*karpenterv1.NodeClaim)
		now, _ := c.New.(*karpenterv1.NodeClaim)
		switch {
		case old == nil:
			w.judgePurchase(object)
		case now == nil:
			w.unsettle(old.Status.NodeName)
			delete(w.beside.needless, old.Name)
		case !samePromise(old, now):
			w.unsettle(now.Status.NodeName)
		}
	}
}

// sameRoom reports whether a node takes the same pods as before.
func sameRoom(a, b *corev1.Node) bool {
	same := func(x, y corev1.ResourceList) bool {
		return x.Cpu().Cmp(*y.Cpu()) == 0 && x.Memory().Cmp(*y.Memory()) == 0
	}
	return readyNode(a) == readyNode(b) && a.Spec.Unschedulable == b.Spec.Unschedulable && len(a.Spec.Taints) == len(b.Spec.Taints) &&
		labels.Equals(a.Labels, b.Labels) && same(a.Status.Allocatable, b.Status.Allocatable) && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil)
}

// samePromise reports whether a claim stays as it did.
func samePromise(a, b *karpenterv1.NodeClaim) bool {
	return (commandOf(a) == nil) == (commandOf(b) == nil) && initialized(a) == initialized(b) && a.Status.NodeName == b.Status.NodeName &&
		(a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil)
}

func initialized(c *karpenterv1.NodeClaim) bool {
	return c != nil && meta.IsStatusConditionTrue(c.Status.Conditions, karpenterv1.ConditionInitialized)
}

// judgePurchase checks a claim when it is made. Claims of static pools are for no pods, and replacements
// are for the pods of a node that still has them. When the template of a buffer has been replaced, the pods
// that the buffer stood for are not known here.
func (w *Watch) judgePurchase(claim *karpenterv1.NodeClaim) {
	pool := w.pool(poolOf(claim))
	late := w.recent(w.beside.leapt, lately) || w.recent(w.beside.replaced, lately)
	if pool == nil || pool.Spec.Replicas != nil || w.recent(w.crowd, crowded) || late || w.replaces(claim) {
		return
	}
	w.wantNow()
	wishes, plain := w.wishes()
	if !plain || len(wishes) == 0 {
		return
	}
	if rooms := slices.DeleteFunc(w.rooms(lately), func(r *room) bool { return r.edited }); len(rooms) > 0 {
		if where := placeAll(wishes, rooms); where != "" && w.buffersFit(wishes, rooms) {
			w.beside.needless[claim.Name] = where
		}
	}
}

// judgeMachine checks a claim when its machine comes: by then it is known which claims a disruption brings.
func (w *Watch) judgeMachine(name string) {
	where, needless := w.beside.needless[name]
	if delete(w.beside.needless, name); needless && !w.replaces(w.claimNamed(name)) {
		w.report(BesideRoom, "claim %s is bought, and all that want a place have one: %s", name, where)
	}
}

// buffersFit reports whether all buffers have room wherever the scheduler puts the pods that really exist:
// it takes no notice of buffers, and what it leaves may be too small for them.
func (w *Watch) buffersFit(wishes []*corev1.Pod, rooms []*room) bool {
	virtual := map[types.UID]bool{}
	for _, pod := range w.virtual() {
		virtual[pod.UID] = true
	}
	var buffers []*corev1.Pod
	var taken space
	for _, pod := range wishes {
		if virtual[pod.UID] {
			buffers = append(buffers, pod)
		} else {
			taken = taken.more(demand(pod))
		}
	}
	var left []*room
	for _, r := range rooms {
		left = append(left, &room{node: r.node, free: r.size.less(taken)})
	}
	return len(buffers) == 0 || placeAll(buffers, left) != ""
}

// replaces reports whether a disruption brings a claim.
func (w *Watch) replaces(claim *karpenterv1.NodeClaim) bool {
	return claim != nil && slices.ContainsFunc(store.All[*karpenterv1.NodeClaim](w.Store), func(c *karpenterv1.NodeClaim) bool {
		r, written := command.Of(c)
		return written && r.Brings(claim.Name)
	})
}

// manyAnnounced is the largest number of announced pods that the rule checks.
const manyAnnounced = 200

// wishes returns the pods that needed a place lately, and those that ReplicaSets have yet to make. It
// returns false if some of them have rules beyond room and labels of nodes: then only the product can say
// whether all have a place.
func (w *Watch) wishes() ([]*corev1.Pod, bool) {
	var all []*corev1.Pod
	for _, wish := range w.wanting { // sorted below
		switch {
		case w.Now().Sub(wish.at) > lately || daemon(wish.pod) && wish.pod.Spec.NodeName != "":
		case daemon(wish.pod) || !plain(wish.pod):
			return nil, false
		default:
			all = append(all, wish.pod)
		}
	}
	for set, missing := range w.unmade() {
		pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: set.Spec.Template.Spec}
		pod.Namespace, pod.Name = set.Namespace, set.Name
		if !plain(pod) || int(missing)+len(all) > manyAnnounced {
			return nil, false
		}
		for range missing {
			all = append(all, pod)
		}
	}
	if w.shunned(all) {
		return nil, false
	}
	return all, true
}

// unmade returns the ReplicaSets that have yet to make pods, each with how many.
func (w *Watch) unmade() iter.Seq2[*appsv1.ReplicaSet, int32] {
	have := map[types.UID]int32{}
	for _, pods := range w.podsOn { // a sum, in any order
		for _, pod := range pods { // as above
			if ref := metav1.GetControllerOfNoCopy(pod); ref != nil && pod.DeletionTimestamp == nil && !finished(pod) {
				have[ref.UID]++
			}
		}
	}
	return func(yield func(*appsv1.ReplicaSet, int32) bool) {
		for _, set := range store.All[*appsv1.ReplicaSet](w.Store) {
			if missing := ptr.Deref(set.Spec.Replicas, 0) - have[set.UID]; missing > 0 && !yield(set, missing) {
				return
			}
		}
	}
}

// plain reports whether a pod has rules about room and labels of one node only.
func plain(pod *corev1.Pod) bool {
	spec := &pod.Spec
	nodes := spec.Affinity == nil || spec.Affinity.PodAffinity == nil && spec.Affinity.PodAntiAffinity == nil &&
		(spec.Affinity.NodeAffinity == nil || len(spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0)
	volumes := slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
	ports := slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 })
	})
	return nodes && !volumes && !ports && len(spec.TopologySpreadConstraints) == 0 && len(spec.SchedulingGates) == 0
}

// shunned reports whether anti-affinity of a pod on some node excludes one of these pods.
func (w *Watch) shunned(wishes []*corev1.Pod) bool {
	for node, pods := range w.podsOn { // one is enough, in any order
		for _, pod := range pods { // as above
			if node == "" || pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
				continue
			}
			for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
				if err != nil || slices.ContainsFunc(wishes, func(p *corev1.Pod) bool { return selector.Matches(labels.Set(p.Labels)) }) {
					return true
				}
			}
		}
	}
	return false
}

// space is CPU, memory and pods.
type space struct{ cpu, memory, pods int64 }

func (s space) less(o space) space { return space{s.cpu - o.cpu, s.memory - o.memory, s.pods - o.pods} }

func (s space) more(o space) space { return space{s.cpu + o.cpu, s.memory + o.memory, s.pods + o.pods} }

func (s space) holds(o space) bool {
	return s.cpu >= o.cpu && s.memory >= o.memory && s.pods >= o.pods
}

// partOf is the part of a node that something takes, half of it by CPU and half by memory.
func (s space) partOf(size space) float64 {
	return (float64(s.cpu)/float64(max(size.cpu, 1)) + float64(s.memory)/float64(max(size.memory, 1))) / 2
}

func sizeOf(node *corev1.Node) space {
	room := node.Status.Allocatable
	return space{room.Cpu().MilliValue(), room.Memory().Value(), room.Pods().Value()}
}

func demand(pod *corev1.Pod) space {
	list := podresources.Requests(pod, podresource.PodResourcesOptions{})
	return space{list.Cpu().MilliValue(), list.Memory().Value(), 1}
}

// room is a node in service, with its free room.
type room struct {
	node   *corev1.Node
	free   space // beside its pods, and those that placeAll has put there
	size   space // beside its pods
	edited bool  // by a user, so that Tenon may not see it as room
}

// rooms returns nodes without taints, by name, that have been in service for some time, with the room that
// has been free for as long, and with running machines.
func (w *Watch) rooms(served time.Duration) []*room {
	var rooms []*room
	for _, node := range store.All[*corev1.Node](w.Store) {
		since, unsettled := w.beside.unsettled[node.Name]
		if unsettled && w.Now().Sub(since) < served || len(node.Spec.Taints) > 0 || node.Spec.Unschedulable || node.DeletionTimestamp != nil {
			continue
		}
		claim := w.claimFor(node)
		if claim == nil || w.announced[idOf(claim)] || w.goes(node.Name) || w.goesBy(claim) != nil || !w.serves(claim) {
			continue
		}
		free := sizeOf(node)
		for _, pod := range w.podsOn[node.Name] { // a sum, in any order
			if !finished(pod) {
				free = free.less(demand(pod))
			}
		}
		rooms = append(rooms, &room{node, free, free, w.meddled(claim.Name)})
	}
	return rooms
}

// placeAll gives each pod, the largest first, the first place that fits, and returns the places. It returns
// nothing if some pod has none.
func placeAll(wishes []*corev1.Pod, rooms []*room) string {
	slices.SortFunc(wishes, func(a, b *corev1.Pod) int {
		x, y := demand(a), demand(b)
		return cmp.Or(cmp.Compare(y.cpu, x.cpu), cmp.Compare(y.memory, x.memory), byName(a, b))
	})
	var where []string
	for _, pod := range wishes {
		wants := nodeaffinity.GetRequiredNodeAffinity(pod)
		at := slices.IndexFunc(rooms, func(r *room) bool {
			match, err := wants.Match(r.node)
			return err == nil && match && r.free.holds(demand(pod))
		})
		if at < 0 {
			return ""
		}
		rooms[at].free = rooms[at].free.less(demand(pod))
		where = append(where, pod.Name+" on "+rooms[at].node.Name)
	}
	return strings.Join(where, ", ")
}
