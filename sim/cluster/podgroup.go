package cluster

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// podGroup is pods on nodes that no selector can tell apart: those of one namespace with the same labels.
// Code that counts pods checks a selector once for all of them.
type podGroup struct {
	namespace string
	labels    labels.Set
	// staying is how many of them are on a node and not being deleted.
	staying map[*room]int
}

// groupOf returns the group of a pod.
func groupOf(pod *corev1.Pod) string {
	var name strings.Builder
	name.WriteString(pod.Namespace)
	for _, key := range slices.Sorted(maps.Keys(pod.Labels)) {
		for _, part := range []string{key, pod.Labels[key]} {
			name.WriteByte(0)
			name.WriteString(part)
		}
	}
	return name.String()
}

// count counts a pod on a node, unless it is being deleted.
func (f *nodeIndex) count(g *placedPod, r *room) {
	g.counted = g.DeletionTimestamp == nil
	if !g.counted {
		return
	}
	k := f.groups[g.group]
	if k == nil {
		k = &podGroup{namespace: g.Namespace, labels: g.Labels, staying: map[*room]int{}}
		f.groups[g.group] = k
	}
	k.staying[r]++
}

// discount reverses count.
func (f *nodeIndex) discount(g *placedPod, r *room) {
	if !g.counted {
		return
	}
	g.counted = false
	k := f.groups[g.group]
	if k.staying[r]--; k.staying[r] > 0 {
		return
	}
	if delete(k.staying, r); len(k.staying) == 0 {
		delete(f.groups, g.group)
	}
}

// change replaces a pod by its next version on the same node. Its requests do not change.
func (f *nodeIndex) change(g *placedPod, is *corev1.Pod) {
	same := g.Namespace == is.Namespace && maps.Equal(g.Labels, is.Labels)
	if same && g.counted == (is.DeletionTimestamp == nil) {
		g.Pod = is
		return
	}
	r := f.byName[g.Spec.NodeName]
	if r != nil {
		f.discount(g, r)
	}
	if g.Pod = is; !same {
		g.group = groupOf(is)
	}
	if r != nil {
		f.count(g, r)
	}
}
