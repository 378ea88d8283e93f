package disruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// markUnneeded writes on the nodes of groups in mode cas since when they have been unneeded, and removes the mark from nodes that are
// needed again. Later evaluations, including those of another process, count from that time.
func (d *disruption) markUnneeded(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan) error {
	prospects := make(map[string]*plan.Prospect, len(p.Prospects))
	for i := range p.Prospects {
		prospects[p.Prospects[i].Node] = &p.Prospects[i]
	}
	ruled := map[string]bool{}
	for i := range s.Pools {
		ruled[s.Pools[i].Name] = s.Pools[i].Rules() != nil
	}
	var wrong []error
	for i := range s.Nodes {
		n := &s.Nodes[i]
		o := prospects[n.Name]
		if o == nil || n.Leaving || n.Life.Underway != "" || o.Kind == plan.Chosen || o.Skipped() {
			continue // a node that is being removed keeps its mark
		}
		if marked, unneeded := !n.Life.Unneeded.IsZero(), ruled[n.Pool] && o.Unneeded; marked != unneeded {
			wrong = append(wrong, d.mark(ctx, n.Name, unneeded))
		}
	}
	return errors.Join(wrong...)
}

// mark adds or removes the taint of a candidate. After a conflict, the next evaluation writes it again.
func (d *disruption) mark(ctx context.Context, name string, unneeded bool) error {
	var node corev1.Node
	if err := d.kit.Client.Get(ctx, client.ObjectKey{Name: name}, &node); err != nil {
		return client.IgnoreNotFound(err)
	}
	marked := node.DeepCopy()
	marked.Spec.Taints = slices.DeleteFunc(marked.Spec.Taints, func(t corev1.Taint) bool { return t.Key == tenonv1alpha1.TaintCandidate })
	if unneeded {
		marked.Spec.Taints = append(marked.Spec.Taints, corev1.Taint{
			Key: tenonv1alpha1.TaintCandidate, Value: strconv.FormatInt(d.kit.Clock.Now().Unix(), 10), Effect: corev1.TaintEffectPreferNoSchedule,
		})
	}
	if err := patch.IfUnchanged(ctx, d.kit, &node, marked); client.IgnoreNotFound(err) != nil && !reconcile.Overtaken(err) {
		return fmt.Errorf("mark node %s as a candidate for deletion: %w", name, err)
	}
	return nil
}
