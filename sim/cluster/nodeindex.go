package cluster

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresource "k8s.io/component-helpers/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/podresources"
)

// nodes holds all nodes with their pods, and is updated with every event.
type nodeIndex struct {
	rooms  []*room // by name
	byName map[string]*room
	// unbound are pods on nodes that do not exist (yet).
	unbound map[string][]*placedPod
	// helped counts events that may give a waiting pod a place; arrived counts those that may help only
	// pods with rules about other pods.
	helped, arrived uint64
	// apart counts the pods on nodes with anti-affinity to others.
	apart int
	// groups are the groups of the pods in rooms.
	groups map[string]*podGroup
}

func newNodeIndex() *nodeIndex {
	return &nodeIndex{byName: map[string]*room{}, unbound: map[string][]*placedPod{}, groups: map[string]*podGroup{}}
}

// room is the free room on a node.
type room struct {
	node *corev1.Node
	free vector
	used vector
	// weight is the used amount in scores.
	weight vector
	pods   []*placedPod
	// volumes are those attached to the node, by claim, and how many it can have.
	limit int64
}

// placedPod is a pod with its requests.
type placedPod struct {
	*corev1.Pod
	takes vector
	// weighs is its amount in scores.
	weighs vector
	// priority does not change either.
	priority int32
	// podGroup names the pod's group, which may have counted it.
	group   string
	counted bool
}

func newPlacedPod(pod *corev1.Pod) *placedPod {
	return &placedPod{Pod: pod, takes: requests(pod), weighs: weight(pod), priority: priority(pod), group: groupOf(pod)}
}

// vector is resources as numbers: milli of CPU, units of everything else.
type vector struct {
	cpu, memory, pods int64
	more              map[corev1.ResourceName]int64 // nil is none
}

func vectorOf(list corev1.ResourceList) vector {
	var v vector
	for name, q := range list { // each is on its own
		switch name {
		case corev1.ResourceCPU:
			v.cpu = q.MilliValue()
		case corev1.ResourceMemory:
			v.memory = q.Value()
		case corev1.ResourcePods:
			v.pods = q.Value()
		default:
			if v.more == nil {
				v.more = map[corev1.ResourceName]int64{}
			}
			v.more[name] = q.Value()
		}
	}
	return v
}

// requests returns the requests of a pod, including the pod itself.
func requests(pod *corev1.Pod) vector {
	v := vectorOf(podresources.Requests(pod, podresource.PodResourcesOptions{}))
	v.pods = 1
	return v
}

// weight returns a pod's requests, where kube-scheduler's default stands for a container without requests.
func weight(pod *corev1.Pod) vector {
	return vectorOf(podresources.Requests(pod, podresource.PodResourcesOptions{NonMissingContainerRequests: assumed}))
}

var assumed = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("200Mi")}

// add adds a multiple of another vector.
func (v *vector) add(times int64, o vector) {
	v.cpu += times * o.cpu
	v.memory += times * o.memory
	v.pods += times * o.pods
	for name, n := range o.more { // each is on its own
		if v.more == nil {
			v.more = map[corev1.ResourceName]int64{}
		}
		v.more[name] += times * n
	}
}

// Told updates the nodes with one event, before a controller is woken.
func (c *Cluster) Told(old, changed client.Object) {
	switch o := either(old, changed).(type) {
	case *corev1.Pod:
		was, _ := old.(*corev1.Pod)
		is, _ := changed.(*corev1.Pod)
		c.nodes.move(was, is)
		c.queue.move(was, is)
		c.nominated.told(was, is)
	case *corev1.Node:
		if changed == nil {
			c.nodes.close(o.Name)
		} else {
			c.nodes.open(o)
		}
		if mayHelp(old, changed) {
			c.nodes.helped++
		}
	default:
		c.toldOfVolumes(o, changed == nil)
	}
}

func either(old, changed client.Object) client.Object {
	if changed != nil {
		return changed
	}
	return old
}

// housed reports whether a pod takes room.
func housed(pod *corev1.Pod) bool { return pod != nil && pod.Spec.NodeName != "" && !Finished(pod) }

func (f *nodeIndex) move(was, is *corev1.Pod) {
	if housed(was) && housed(is) && was.Spec.NodeName == is.Spec.NodeName {
		if g := f.find(was); g != nil {
			f.change(g, is)
			return
		}
	}
	if housed(was) {
		f.leave(was)
		f.helped++
	}
	if housed(is) {
		f.arrived++
		f.enter(newPlacedPod(is))
	}
}

func (f *nodeIndex) podsOn(node string) []*placedPod {
	if r := f.byName[node]; r != nil {
		return r.pods
	}
	return f.unbound[node]
}

func (f *nodeIndex) find(pod *corev1.Pod) *placedPod {
	for _, g := range f.podsOn(pod.Spec.NodeName) {
		if g.UID == pod.UID {
			return g
		}
	}
	return nil
}

func (f *nodeIndex) enter(g *placedPod) {
	r := f.byName[g.Spec.NodeName]
	if r == nil {
		f.unbound[g.Spec.NodeName] = append(f.unbound[g.Spec.NodeName], g)
		return
	}
	r.pods = append(r.pods, g)
	r.free.add(-1, g.takes)
	r.used.add(1, g.takes)
	r.weight.add(1, g.weighs)
	f.count(g, r)
	if keepsAway(g.Pod) {
		f.apart++
	}
}

func (f *nodeIndex) leave(pod *corev1.Pod) {
	is := func(g *placedPod) bool { return g.UID == pod.UID }
	r := f.byName[pod.Spec.NodeName]
	if r == nil {
		if left := slices.DeleteFunc(f.unbound[pod.Spec.NodeName], is); len(left) > 0 {
			f.unbound[pod.Spec.NodeName] = left
		} else {
			delete(f.unbound, pod.Spec.NodeName)
		}
		return
	}
	at := slices.IndexFunc(r.pods, is)
	if at < 0 {
		return
	}
	g := r.pods[at]
	r.pods = slices.Delete(r.pods, at, at+1)
	r.free.add(1, g.takes)
	r.used.add(-1, g.takes)
	r.weight.add(-1, g.weighs)
	f.discount(g, r)
	if keepsAway(g.Pod) {
		f.apart--
	}
}

func keepsAway(pod *corev1.Pod) bool {
	return pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil &&
		len(pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// open recomputes the room on a node that is new or has changed.
func (f *nodeIndex) open(node *corev1.Node) {
	r := f.byName[node.Name]
	if r == nil {
		r = &room{}
		f.byName[node.Name] = r
		f.rooms = slices.Insert(f.rooms, f.place(node.Name), r)
		r.node = node
		for _, g := range f.unbound[node.Name] {
			f.enter(g)
		}
		delete(f.unbound, node.Name)
	}
	r.node, r.free = node, vectorOf(node.Status.Allocatable)
	r.free.add(-1, r.used)
}

func (f *nodeIndex) place(name string) int {
	at, _ := slices.BinarySearchFunc(f.rooms, name, func(r *room, name string) int { return strings.Compare(r.node.Name, name) })
	return at
}

func (f *nodeIndex) close(name string) {
	r := f.byName[name]
	if r == nil {
		return
	}
	for _, g := range r.pods {
		if keepsAway(g.Pod) {
			f.apart--
		}
		f.discount(g, r)
		f.unbound[name] = append(f.unbound[name], g)
	}
	at := f.place(name)
	f.rooms = slices.Delete(f.rooms, at, at+1)
	delete(f.byName, name)
}
