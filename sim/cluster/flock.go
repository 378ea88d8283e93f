package cluster

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// flock is the pods on nodes that no selector can tell apart: those of one namespace with the
// same labels. A caller that counts pods asks once for all of them.
type flock struct {
	namespace string
	labels    labels.Set
	// staying is how many are on a node and not on their way out.
	staying map[*room]int
}

// flockOf names the flock of a pod.
func flockOf(pod *corev1.Pod) string {
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

// count has a guest counted on a node. One that is on its way out is not.
func (f *floor) count(g *guest, r *room) {
	g.counted = g.DeletionTimestamp == nil
	if !g.counted {
		return
	}
	k := f.flocks[g.flock]
	if k == nil {
		k = &flock{namespace: g.Namespace, labels: g.Labels, staying: map[*room]int{}}
		f.flocks[g.flock] = k
	}
	k.staying[r]++
}

// discount takes back what count did.
func (f *floor) discount(g *guest, r *room) {
	if !g.counted {
		return
	}
	g.counted = false
	k := f.flocks[g.flock]
	if k.staying[r]--; k.staying[r] > 0 {
		return
	}
	if delete(k.staying, r); len(k.staying) == 0 {
		delete(f.flocks, g.flock)
	}
}

// change puts the next version of a pod in the place of a guest that stays where it is. What
// it takes does not change.
func (f *floor) change(g *guest, is *corev1.Pod) {
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
		g.flock = flockOf(is)
	}
	if r != nil {
		f.count(g, r)
	}
}
