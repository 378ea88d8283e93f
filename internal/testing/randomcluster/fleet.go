package randomcluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/core/snapshot"
)

// Fleet makes a cluster with about so many half-used nodes, a few pods that want a place, and everything
// that may keep a node: budgets of pools and pods, annotations, recent pods, drifted nodes.
func Fleet(seed uint64, nodes int) *Cluster {
	w := &world{d: newDice(seed ^ 0xf1ee7), out: &Cluster{Seed: seed}}
	w.zones = []string{"zone-a", "zone-b", "zone-c"}[:w.d.between(2, 3)]
	w.out.Settings = Settings{
		Preferences:       one(w.d, snapshot.Respect, snapshot.Ignore),
		BestEffortMinimum: w.d.percent(20),
		ReservedCapacity:  w.d.percent(50),
		SpotToSpot:        w.d.percent(50),
	}
	w.addNamespaces()
	w.addTypes()
	w.addPools()
	w.addStorage()
	w.addDaemons()
	for i := range nodes {
		if pool, t := one(w.d, w.pools...), one(w.d, w.out.Types...); w.d.percent(85) && t.Capacity[gpuResource] == "" && (pool.arch == "" || t.Architecture == pool.arch) {
			labels := w.nodeLabels(pool, t)
			name := fmt.Sprintf("half-%d", i)
			w.addClaim(name, pool, t, labels, false)
			w.addMachine(name, t, labels, pool.taints, inService)
		}
	}
	w.addNodes()
	w.crowd = w.d.between(1, 5)
	w.addWorkloads(w.d.between(1, 6))
	w.addStaticPool()
	if pool := w.pools[len(w.pools)-1]; pool.name == "static-0" {
		for i := range w.d.between(1, 3) {
			if t := one(w.d, w.out.Types...); t.Capacity[gpuResource] == "" && (pool.arch == "" || t.Architecture == pool.arch) {
				labels := w.nodeLabels(pool, t)
				name := fmt.Sprintf("fixed-%d", i)
				w.addClaim(name, pool, t, labels, false)
				w.addMachine(name, t, labels, pool.taints, inService)
			}
		}
	}
	for _, o := range w.out.Objects {
		w.age(o)
	}
	return w.out
}

// age gives an object a past.
func (w *world) age(o Object) {
	switch o := o.(type) {
	case *karpenterv1.NodePool:
		w.agePool(o)
	case *karpenterv1.NodeClaim:
		w.ageClaim(o)
	case *corev1.Node:
		ready := corev1.ConditionTrue
		if w.d.percent(5) {
			ready = corev1.ConditionFalse
		}
		o.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		if w.d.percent(4) {
			o.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
		}
	case *corev1.Pod:
		w.agePod(o)
	case *policyv1.PodDisruptionBudget:
		o.Status.ObservedGeneration, o.Status.ExpectedPods = 1, 3
		o.Status.DisruptionsAllowed = int32(w.d.IntN(3))
	}
}

func (w *world) agePool(o *karpenterv1.NodePool) {
	d := &o.Spec.Disruption
	d.ConsolidationPolicy = one(w.d, karpenterv1.ConsolidateWhenEmptyOrUnderutilized, karpenterv1.ConsolidateWhenEmptyOrUnderutilized,
		karpenterv1.ConsolidateBalanced, karpenterv1.ConsolidateWhenEmpty)
	d.ConsolidateAfter = karpenterv1.DurationOf(time.Duration(w.d.IntN(2)) * time.Minute)
	if w.d.percent(5) {
		d.ConsolidateAfter = karpenterv1.NeverEnding()
	}
	for range w.d.IntN(3) {
		budget := karpenterv1.Budget{Nodes: one(w.d, "0", "1", "2", "20%", "50%", "100%", "100%")}
		if w.d.percent(30) {
			budget.Reasons = some(w.d, karpenterv1.DisruptionEmpty, karpenterv1.DisruptionDrifted, karpenterv1.DisruptionUnderutilized)
		}
		d.Budgets = append(d.Budgets, budget)
	}
}

func (w *world) ageClaim(o *karpenterv1.NodeClaim) {
	set := func(name, reason string, ago time.Duration) {
		o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{
			Type: name, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.NewTime(Now.Add(-ago)),
		})
	}
	set(karpenterv1.ConditionInitialized, "Initialized", time.Hour)
	if w.d.percent(10) {
		set(karpenterv1.ConditionDrifted, "NodePoolDrifted", time.Duration(w.d.between(1, 50))*time.Minute)
	}
	if w.d.percent(30) {
		o.Status.LastPodEventTime = metav1.NewTime(Now.Add(-time.Duration(w.d.between(1, 120)) * time.Second))
	}
	if w.d.percent(30) {
		o.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Hour}
	}
}

func (w *world) agePod(o *corev1.Pod) {
	o.CreationTimestamp = metav1.NewTime(Now.Add(-time.Duration(w.d.between(1, 5000)) * time.Minute))
	if w.d.percent(4) {
		o.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: one(w.d, "true", "10m", "4h")}
	}
	if w.d.percent(5) {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		o.Annotations[corev1.PodDeletionCost] = one(w.d, "-1000000000", "100000000", "-5")
	}
}
