// Package invariant watches a run for what must never happen, and looks at its end for
// what must not be left.
//
// It sees what the API server and the cloud see, not what the product thinks. The package
// must not change anything.
package invariant

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/sim/cluster"
	"tenon/sim/store"
)

// Violation is something that must not be.
type Violation struct {
	At   time.Time
	Rule string
	What string
}

// String is for people.
func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s", v.At.UTC().Format(time.DateTime), v.Rule, v.What)
}

// Limits of what is put up with for a while.
const (
	// stray is how long an instance may be without a claim, and a claim that has launched
	// without its instance.
	stray = 15 * time.Minute
	// changing is how long after a change of its limits a pool may still be above them.
	changing = 5 * time.Minute
)

// Watch looks at one run.
type Watch struct {
	Store *store.Store
	Cloud *memory.Cloud
	Now   func() time.Time
	// Report is told of each violation once.
	Report func(Violation)

	bought  map[string]string    // provider IDs by claim UID
	strays  map[string]time.Time // since when, by what
	limited map[string]time.Time // when a pool's limits were last changed
	limits  map[string]string    // of pools
	told    map[string]bool
	looked  time.Time
}

// Begin starts to watch.
func (w *Watch) Begin() {
	w.bought, w.strays = map[string]string{}, map[string]time.Time{}
	w.limited, w.limits, w.told = map[string]time.Time{}, map[string]string{}, map[string]bool{}
	w.Store.Listen(w.hear)
}

func (w *Watch) report(rule, format string, values ...any) {
	v := Violation{At: w.Now(), Rule: rule, What: fmt.Sprintf(format, values...)}
	if key := v.Rule + v.What; !w.told[key] {
		w.told[key] = true
		w.Report(v)
	}
}

// hear remembers when pools were changed.
func (w *Watch) hear(c store.Change) {
	pool, is := c.New.(*karpenterv1.NodePool)
	if !is {
		return
	}
	text := fmt.Sprint(pool.Spec.Limits)
	if w.limits[pool.Name] != text {
		w.limits[pool.Name], w.limited[pool.Name] = text, w.Now()
	}
}

// Launched is told of every machine when it is bought.
func (w *Watch) Launched(m memory.Machine) {
	i := m.Instance
	if other, twice := w.bought[i.ClaimUID]; twice && other != i.ProviderID {
		w.report("nothing is bought twice for one claim", "claim %s has %s and %s", i.ClaimName, other, i.ProviderID)
	}
	w.bought[i.ClaimUID] = i.ProviderID
	if w.claimOf(i) == nil {
		w.report("intent comes before effect", "%s was bought for claim %s, which does not exist", i.ProviderID, i.ClaimName)
	}
	w.checkLimits(i.Pool)
}

func (w *Watch) claimOf(i cloud.Instance) *karpenterv1.NodeClaim {
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		if string(claim.UID) == i.ClaimUID {
			return claim
		}
	}
	return nil
}

// checkLimits adds up what a pool has bought.
func (w *Watch) checkLimits(name string) {
	var pool *karpenterv1.NodePool
	for _, p := range store.All[*karpenterv1.NodePool](w.Store) {
		if p.Name == name {
			pool = p
		}
	}
	if pool == nil || len(pool.Spec.Limits) == 0 || w.Now().Sub(w.limited[name]) < changing {
		return
	}
	var cpu, memoryBytes int64
	for _, i := range w.Cloud.Instances() {
		if i.Pool == name && i.State != cloud.Terminating {
			cpu += i.Capacity.CPU
			memoryBytes += i.Capacity.Memory
		}
	}
	if limit, has := pool.Spec.Limits[corev1.ResourceCPU]; has && cpu > limit.MilliValue() {
		w.report("pool limits are never exceeded", "pool %s has %dm of CPU, and may have %s", name, cpu, limit.String())
	}
	if limit, has := pool.Spec.Limits[corev1.ResourceMemory]; has && memoryBytes > limit.Value() {
		w.report("pool limits are never exceeded", "pool %s has %d bytes, and may have %s", name, memoryBytes, limit.String())
	}
}

// Removing is told before the product deletes or evicts a pod.
func (w *Watch) Removing(pod *corev1.Pod, evicts bool) {
	if pod.DeletionTimestamp != nil || finished(pod) || w.outOfTime(pod.Spec.NodeName) {
		return
	}
	if pod.Annotations[karpenterv1.AnnotationDoNotDisrupt] == "true" {
		w.report("do-not-disrupt pods keep their grace", "pod %s/%s on %s", pod.Namespace, pod.Name, pod.Spec.NodeName)
	}
	if budget := w.exhausted(pod); !evicts && budget != "" {
		w.report("no budget is broken", "pod %s/%s is deleted while budget %s allows nothing", pod.Namespace, pod.Name, budget)
	}
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// outOfTime reports whether a claim's grace counts more than its pods' wishes.
func (w *Watch) outOfTime(node string) bool {
	return slices.ContainsFunc(store.All[*karpenterv1.NodeClaim](w.Store), func(c *karpenterv1.NodeClaim) bool {
		return c.Status.NodeName == node && (c.Annotations[karpenterv1.AnnotationTerminationTimestamp] != "" || c.Spec.TerminationGracePeriod != nil)
	})
}

// exhausted names a budget that has no healthy pod to spare, counted now: its status may
// be behind.
func (w *Watch) exhausted(pod *corev1.Pod) string {
	if !cluster.Ready(pod) {
		return ""
	}
	for _, b := range store.All[*policyv1.PodDisruptionBudget](w.Store) {
		s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || b.Namespace != pod.Namespace || !s.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if w.healthy(b.Namespace, s) <= b.Status.DesiredHealthy {
			return b.Name
		}
	}
	return ""
}

func (w *Watch) healthy(namespace string, s labels.Selector) int32 {
	n := int32(0)
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if pod.Namespace == namespace && pod.DeletionTimestamp == nil && cluster.Ready(pod) && s.Matches(labels.Set(pod.Labels)) {
			n++
		}
	}
	return n
}

// lookEvery is how often instances and claims are compared.
const lookEvery = 30 * time.Second

// Step is called after every step.
func (w *Watch) Step() {
	if w.Now().Sub(w.looked) < lookEvery {
		return
	}
	w.looked = w.Now()
	seen := map[string]bool{}
	claims := map[types.UID]*karpenterv1.NodeClaim{}
	instances := map[string]bool{}
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		claims[claim.UID] = claim
	}
	for _, i := range w.Cloud.Instances() {
		instances[i.ProviderID] = true
		if claims[types.UID(i.ClaimUID)] == nil && i.State != cloud.Terminating {
			w.stray(seen, "no instance without a claim", i.ProviderID)
		}
	}
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		if id := claim.Status.ProviderID; id != "" && !instances[id] {
			w.stray(seen, "no claim without its instance", claim.Name)
		}
	}
	for key := range w.strays { // deletion alone: the order does not matter
		if !seen[key] {
			delete(w.strays, key)
		}
	}
}

func (w *Watch) stray(seen map[string]bool, rule, what string) {
	seen[what] = true
	since, known := w.strays[what]
	if !known {
		w.strays[what] = w.Now()
		return
	}
	if w.Now().Sub(since) > stray {
		w.report(rule, "%s, since %s", what, since.UTC().Format(time.DateTime))
	}
}

// why is what the scheduler says of a pod.
func why(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Message
		}
	}
	return "the scheduler has not seen it"
}

// Infeasible is the annotation of pods that no node can hold: they may wait for ever.
const Infeasible = "sim.tenon.dev/infeasible"

// Settled is told how many machines were bought after everything should have settled.
func (w *Watch) Settled(bought int) {
	if bought > 0 {
		w.report("at rest nothing is bought", "%d machines were", bought)
	}
}

// AtRest looks at what is left when nothing has happened for a while.
func (w *Watch) AtRest() {
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if pod.Spec.NodeName == "" && !finished(pod) && pod.Annotations[Infeasible] == "" {
			w.report("at rest every pod runs", "pod %s/%s waits since %s: %s", pod.Namespace, pod.Name, pod.CreationTimestamp.UTC().Format(time.DateTime), why(pod))
		}
	}
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		if claim.DeletionTimestamp != nil {
			w.report("at rest nothing is on its way out", "claim %s, held by %v", claim.Name, claim.Finalizers)
		}
	}
	for _, node := range store.All[*corev1.Node](w.Store) {
		if node.DeletionTimestamp != nil {
			w.report("at rest nothing is on its way out", "node %s, held by %v", node.Name, node.Finalizers)
			continue
		}
		for _, taint := range node.Spec.Taints {
			if taint.Key == cloud.Unregistered().Key || taint.Key == karpenterv1.TaintDisrupted().Key {
				w.report("at rest no taint is left", "node %s has %s", node.Name, taint.Key)
			}
		}
	}
}
