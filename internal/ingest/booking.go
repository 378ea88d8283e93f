package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	autoscalingv1 "tenon/api/autoscaling/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Bookings says which ProvisioningRequests are read.
type Bookings struct {
	// Enabled reads those that Tenon serves; Instance is its name among several, see ProvisioningRequest.Served.
	Enabled  bool
	Instance string
}

// Set is one set of pods of a ProvisioningRequest.
type Set struct {
	Template *corev1.PodTemplateSpec
	// Pods is for how many of them room is wanted: those that run already have theirs.
	Pods int
}

// Booked is the room that a ProvisioningRequest asks for, or has got.
type Booked struct {
	Held bool
	Sets []Set
}

// Lacks names a PodTemplate of a request that does not exist, or that stands for too many pods; empty if there is none.
func (x *Index) Lacks(r *autoscalingv1.ProvisioningRequest) string {
	for i := range r.Spec.PodSets {
		name := r.Spec.PodSets[i].PodTemplateRef.Name
		if _, found := x.podTemplates[key{namespaceOf(r), name}]; !found {
			return fmt.Sprintf("PodTemplate %q not found", name)
		}
	}
	if r.Pods() > mostBuffered {
		return fmt.Sprintf("it is for %d pods, and %d are the most", r.Pods(), mostBuffered)
	}
	return ""
}

// Booked is what all requests ask for, or have got, of those that read says. A request is asked for once it is accepted; in
// files nothing accepts it.
func (x *Index) Booked(read Bookings, files bool) map[types.NamespacedName]Booked {
	if !read.Enabled || len(x.requests) == 0 {
		return nil
	}
	out := map[types.NamespacedName]Booked{}
	for k, r := range x.requests {
		if !r.Served(read.Instance) || r.Over() || !r.Accepted() && !files || x.Lacks(r) != "" {
			continue
		}
		_, held := r.Booked()
		out[types.NamespacedName{Namespace: k.namespace, Name: k.name}] = Booked{Held: held, Sets: x.setsOf(k, r)}
	}
	return out
}

// setsOf are the sets of pods of a request without those that run. A running pod belongs to the set with the same
// requests, or else to the first one that lacks a pod.
func (x *Index) setsOf(k key, r *autoscalingv1.ProvisioningRequest) []Set {
	sets := make([]Set, len(r.Spec.PodSets))
	for i := range sets {
		sets[i].Pods = int(r.Spec.PodSets[i].Count)
		sets[i].Template = &x.podTemplates[key{k.namespace, r.Spec.PodSets[i].PodTemplateRef.Name}].Template
	}
	pods := make([]*corev1.Pod, 0, len(x.consumers[k]))
	for _, pod := range x.consumers[k] {
		if pod.Spec.NodeName != "" {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for _, pod := range pods {
		asks := requests(pod)
		at := slices.IndexFunc(sets, func(s Set) bool {
			return s.Pods > 0 && equality.Semantic.DeepEqual(asks, requests(&corev1.Pod{Spec: s.Template.Spec}))
		})
		if at < 0 {
			at = slices.IndexFunc(sets, func(s Set) bool { return s.Pods > 0 })
		}
		if at >= 0 {
			sets[at].Pods--
		}
	}
	return sets
}

// consumers holds the pods that use the room of requests, by request.
type consumers map[key]map[key]*corev1.Pod

func (c consumers) replace(was, is *corev1.Pod) {
	if name := consumes(was); name != "" {
		k := key{namespaceOf(was), name}
		if delete(c[k], keyOf(was)); len(c[k]) == 0 {
			delete(c, k)
		}
	}
	if name := consumes(is); name != "" {
		k := key{namespaceOf(is), name}
		if c[k] == nil {
			c[k] = map[key]*corev1.Pod{}
		}
		c[k][keyOf(is)] = is
	}
}

func consumes(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return autoscalingv1.Consumes(pod)
}

// Consumers are the pods that use the room of a request, by name.
func (x *Index) Consumers(namespace, name string) []types.NamespacedName {
	var out []types.NamespacedName
	for _, k := range sortedKeys(x.consumers[key{namespace, name}]) {
		out = append(out, types.NamespacedName{Namespace: k.namespace, Name: k.name})
	}
	return out
}

// awaitsBooking names the request whose room a pod is to use, while room is looked for or kept; empty for all other
// pods. No node is launched for such a pod.
func (t *Translator) awaitsBooking(pod *corev1.Pod) string {
	name := consumes(pod)
	if name == "" || !t.options.Bookings.Enabled {
		return ""
	}
	r, found := t.index.requests[key{namespaceOf(pod), name}]
	if !found || !r.Served(t.options.Bookings.Instance) || r.Over() {
		return ""
	}
	return name
}

// bookings are the rooms of ProvisioningRequests, by namespace and name, and the sets of one in their order.
func (t *Translator) bookings() []snapshot.Buffer {
	var out []snapshot.Buffer
	booked := t.index.Booked(t.options.Bookings, t.options.Files)
	for _, k := range sortedKeys(t.index.requests) {
		r := t.index.requests[k]
		b := booked[types.NamespacedName{Namespace: k.namespace, Name: k.name}]
		for i, set := range b.Sets {
			if set.Pods == 0 {
				continue
			}
			found := t.template(t.admitted(stands(r, set.Template)))
			out = append(out, snapshot.Buffer{
				Namespace: k.namespace, Name: k.name, Template: found.template, Pods: set.Pods, Refused: found.refused, Created: r.CreationTimestamp.UTC(),
				Booking: &snapshot.Booking{Set: i, Held: b.Held, Buys: r.Spec.ProvisioningClassName == autoscalingv1.ClassBestEffortAtomic},
			})
		}
	}
	return out
}

// stands is a pod that stands for the room of a request.
func stands(r *autoscalingv1.ProvisioningRequest, template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := podOf(r, autoscalingv1.GroupVersion.String(), "ProvisioningRequest", template).DeepCopy()
	pod.Annotations = map[string]string{karpenterv1.AnnotationBufferFakePod: "true"}
	pod.Spec.NodeName, pod.Spec.SchedulingGates = "", nil
	pod.Spec.Priority, pod.Spec.PriorityClassName = ptr.To(int32(lowestPriority)), ""
	pod.Spec.Volumes = withoutClaims(pod.Spec.Volumes)
	return pod
}

// withheld adds to the obstacles of a pod that it is of another scheduler than those that count, and that it is to use the
// room of a request.
func (t *Translator) withheld(pod *corev1.Pod, obstacles reason.Obstacles) reason.Obstacles {
	if name := cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName); len(t.options.Schedulers) > 0 && !slices.Contains(t.options.Schedulers, name) {
		obstacles = append(slices.Clip(obstacles), reason.Reason{Code: reason.SchedulerNotAllowed, Where: name})
	}
	name := t.awaitsBooking(pod)
	if name == "" {
		return obstacles
	}
	return append(slices.Clip(obstacles), reason.Reason{Code: reason.BookingAwaited, Where: name})
}
