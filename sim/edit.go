package sim

import (
	"context"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/sim/store"
)

// editAtRandom is a user who deletes or changes something at a random time. Changes that would keep pods
// waiting for ever are undone after a while.
func (s *Sim) editAtRandom() {
	acts := []func(){
		func() { s.remove(pick(s, store.All[*karpenterv1.NodeClaim](s.Store))) },
		func() { s.remove(pick(s, store.All[*corev1.Node](s.Store))) },
		func() { s.remove(pick(s, store.All[*corev1.Pod](s.Store))) },
		func() { s.remove(pick(s, store.All[*policyv1.PodDisruptionBudget](s.Store))) },
		s.relabel, s.narrow, s.capPool, s.pacePool, s.replacePool, s.retouchClass,
		s.cordon, s.taint, s.protect, s.forbid, s.pull, s.untag,
	}
	acts[s.dice.IntN(len(acts))]()
}

func pick[T client.Object](s *Sim, all []T) client.Object {
	if len(all) == 0 {
		return nil
	}
	return all[s.dice.IntN(len(all))]
}

func (s *Sim) remove(object client.Object) {
	if object == nil {
		return
	}
	s.Log.Info("edit", "deletes", client.ObjectKeyFromObject(object).String())
	_ = s.Store.Delete(context.Background(), object.DeepCopyObject().(client.Object)) // it is there
}

// change edits an object, if there is one.
func change[T client.Object](s *Sim, what string, object client.Object, edit func(T)) {
	if object == nil {
		return
	}
	next := object.DeepCopyObject().(T)
	edit(next)
	err := s.Store.Update(context.Background(), next)
	s.Log.Info("edit", "changes", client.ObjectKeyFromObject(object).String(), "what", what, "err", err)
}

// undoLater undoes a change later, or when the run comes to rest.
func (s *Sim) undoLater(after time.Duration, undo func()) {
	done := false
	once := func() {
		if !done {
			done = true
			s.watch.Stir()
			undo()
		}
	}
	s.undos = append(s.undos, once)
	s.outside(s.Clock.Now().Add(after), "regret", once)
}

// undoAll undoes the remaining changes.
func (s *Sim) undoAll() {
	for _, undo := range s.undos {
		undo()
	}
	s.undos = nil
}

func (s *Sim) aPool() client.Object { return pick(s, store.All[*karpenterv1.NodePool](s.Store)) }

// relabel changes the template of a pool, so that its claims drift.
func (s *Sim) relabel() {
	change(s, "template", s.aPool(), func(p *karpenterv1.NodePool) {
		if p.Spec.Template.Labels == nil {
			p.Spec.Template.Labels = map[string]string{}
		}
		p.Spec.Template.Labels["team"] = s.suffix()
	})
}

// narrow excludes spot or a zone from a pool, and undoes that later.
func (s *Sim) narrow() {
	object := s.aPool()
	if object == nil {
		return
	}
	extra := karpenterv1.Requirement{Key: karpenterv1.LabelCapacityType, Operator: "NotIn", Values: []string{"spot"}}
	change(s, "requirements", object, func(p *karpenterv1.NodePool) {
		if s.dice.IntN(2) == 0 {
			extra = karpenterv1.Requirement{Key: corev1.LabelTopologyZone, Operator: "NotIn", Values: []string{"memory-1a"}}
		}
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, extra)
	})
	s.undoLater(s.upTo(time.Hour), func() {
		s.restore(object.GetName(), func(p *karpenterv1.NodePool) {
			all := p.Spec.Template.Spec.Requirements
			own := func(r karpenterv1.Requirement) bool { return reflect.DeepEqual(r, extra) } // others may be narrow by now, too
			if at := slices.IndexFunc(all, own); at >= 0 {
				p.Spec.Template.Spec.Requirements = slices.Delete(slices.Clone(all), at, at+1)
			}
		})
	})
}

// restore undoes a change of a pool once the pool exists: another user may have deleted it, and makes it
// again with its former spec.
func (s *Sim) restore(pool string, edit func(*karpenterv1.NodePool)) {
	var now karpenterv1.NodePool
	if s.Store.Get(context.Background(), client.ObjectKey{Name: pool}, &now) != nil {
		s.outside(s.Clock.Now().Add(time.Minute), "regret", func() { s.restore(pool, edit) })
		return
	}
	edit(&now)
	_ = s.Store.Update(context.Background(), &now) // it was just read
}

// capPool gives a pool a limit that its nodes may exceed already.
func (s *Sim) capPool() {
	object := s.aPool()
	if object == nil {
		return
	}
	before := object.(*karpenterv1.NodePool).Spec.Limits
	change(s, "limits", object, func(p *karpenterv1.NodePool) {
		p.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: *resource.NewQuantity(int64(s.dice.IntN(16)), resource.DecimalSI)}
	})
	s.undoLater(s.upTo(30*time.Minute), func() { s.restore(object.GetName(), func(p *karpenterv1.NodePool) { p.Spec.Limits = before }) })
}

// pacePool changes when and how fast a pool may be disrupted.
func (s *Sim) pacePool() {
	object := s.aPool()
	if object == nil {
		return
	}
	before := object.(*karpenterv1.NodePool).Spec
	s.undoLater(s.upTo(3*time.Hour), func() {
		s.restore(object.GetName(), func(p *karpenterv1.NodePool) {
			p.Spec.Disruption, p.Spec.Template.Spec.ExpireAfter = before.Disruption, before.Template.Spec.ExpireAfter
		})
	})
	minutes := func(n int) karpenterv1.NillableDuration {
		return karpenterv1.DurationOf(time.Duration(n) * time.Minute)
	}
	never := karpenterv1.NeverEnding()
	change(s, "disruption", object, func(p *karpenterv1.NodePool) {
		d := &p.Spec.Disruption
		switch s.dice.IntN(4) {
		case 0:
			d.Budgets = []karpenterv1.Budget{{Nodes: []string{"0", "1", "50%", "100%"}[s.dice.IntN(4)]}}
		case 1:
			d.ConsolidationPolicy = []karpenterv1.ConsolidationPolicy{karpenterv1.ConsolidateWhenEmpty, karpenterv1.ConsolidateWhenEmptyOrUnderutilized}[s.dice.IntN(2)]
		case 2:
			d.ConsolidateAfter = []karpenterv1.NillableDuration{minutes(0), minutes(1), minutes(10), never}[s.dice.IntN(4)]
		default:
			p.Spec.Template.Spec.ExpireAfter = []karpenterv1.NillableDuration{minutes(60), minutes(180), never}[s.dice.IntN(3)]
		}
	})
}

// replacePool deletes a pool, and makes it again later. Its claims go with it.
func (s *Sim) replacePool() {
	object := s.aPool()
	if object == nil {
		return
	}
	s.remove(object)
	s.undoLater(s.upTo(10*time.Minute), func() { s.renew(object.(*karpenterv1.NodePool)) })
}

// renew makes a pool again under its name, once the old one is gone.
func (s *Sim) renew(old *karpenterv1.NodePool) {
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: old.Name}, Spec: *old.Spec.DeepCopy()}
	if err := s.Store.Create(context.Background(), pool); apierrors.IsAlreadyExists(err) {
		s.outside(s.Clock.Now().Add(time.Minute), "the pool again", func() { s.renew(old) })
	}
}

// retouchClass changes a class, so that instances may drift.
func (s *Sim) retouchClass() {
	change(s, "class", pick(s, store.All[*awsv1.EC2NodeClass](s.Store)), func(c *awsv1.EC2NodeClass) {
		c.Spec.Tags = map[string]string{"team": s.suffix()}
	})
}

func (s *Sim) aNode() client.Object { return pick(s, store.All[*corev1.Node](s.Store)) }

// cordon makes a node unschedulable, and schedulable again later.
func (s *Sim) cordon() {
	object := s.aNode()
	change(s, "cordon", object, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	if object != nil {
		s.undoLater(s.upTo(time.Hour), func() {
			s.restoreNode(object.GetName(), func(n *corev1.Node) { n.Spec.Unschedulable = false })
		})
	}
}

func (s *Sim) restoreNode(name string, edit func(*corev1.Node)) {
	var now corev1.Node
	if s.Store.Get(context.Background(), client.ObjectKey{Name: name}, &now) == nil {
		edit(&now)
		_ = s.Store.Update(context.Background(), &now) // it was just read
	}
}

// taint adds a taint that evicts a node's pods, and removes it later; or it removes a taint of another
// owner.
func (s *Sim) taint() {
	object := s.aNode()
	if object == nil {
		return
	}
	own := corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoExecute}
	if s.dice.IntN(3) == 0 {
		change(s, "no taints", object, func(n *corev1.Node) { n.Spec.Taints = nil })
		return
	}
	change(s, "taint", object, func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, own) })
	s.undoLater(s.upTo(time.Hour), func() {
		s.restoreNode(object.GetName(), func(n *corev1.Node) {
			var kept []corev1.Taint
			for _, t := range n.Spec.Taints {
				if !t.MatchTaint(&own) {
					kept = append(kept, t)
				}
			}
			n.Spec.Taints = kept
		})
	})
}

// protect forbids disruption of a node or a pod permanently.
func (s *Sim) protect() {
	annotate := func(o client.Object) {
		annotations := map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
		for key, value := range o.GetAnnotations() {
			annotations[key] = value
		}
		o.SetAnnotations(annotations)
	}
	if s.dice.IntN(2) == 0 {
		change(s, "do not disrupt", s.aNode(), func(n *corev1.Node) { annotate(n) })
		return
	}
	change(s, "do not disrupt", pick(s, store.All[*corev1.Pod](s.Store)), func(p *corev1.Pod) { annotate(p) })
}

// forbid makes a budget that allows no disruption, and deletes it later.
func (s *Sim) forbid() {
	object := pick(s, store.All[*corev1.Pod](s.Store))
	if object == nil || object.GetLabels()["app"] == "" {
		return
	}
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: "none-" + s.suffix()},
		Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt(0)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": object.GetLabels()["app"]}}},
	}
	if s.Store.Create(context.Background(), budget) == nil {
		s.undoLater(s.upTo(time.Hour), func() { _ = s.Store.Delete(context.Background(), budget) }) // another user may have
	}
}

// pull removes the finalizers of a claim or a node: other parts must clean up without them.
func (s *Sim) pull() {
	object := s.aNode()
	if s.dice.IntN(2) == 0 {
		object = pick(s, store.All[*karpenterv1.NodeClaim](s.Store))
	}
	if object == nil {
		return
	}
	s.Meddle(object.GetName())
	change(s, "no finalizers", object, func(o client.Object) { o.SetFinalizers(nil) })
}

// untag removes a tag from a machine, as a tag policy does that does not know our tags.
func (s *Sim) untag() {
	all := s.Cloud.Instances()
	if len(all) == 0 {
		return
	}
	tags := []memory.Tag{memory.TagCluster, memory.TagPool, memory.TagClass, memory.TagClaim}
	s.Untag(all[s.dice.IntN(len(all))].ProviderID, tags[s.dice.IntN(len(tags))])
}

// Untag removes a tag from a machine.
func (s *Sim) Untag(providerID string, tag memory.Tag) {
	s.Log.Info("edit", "untags", providerID, "tag", string(tag))
	s.Cloud.Untag(providerID, tag)
	s.watch.Untagged(providerID)
}

// Meddle returns a claim or a node whose finalizers a user removes: the product is not responsible for the
// consequences.
func (s *Sim) Meddle(name string) { s.meddled[name] = true }
