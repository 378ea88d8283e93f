package invariant

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/model"
	"tenon/internal/telemetry"
	"tenon/sim/store"
)

// The rules for the end of a run.
const (
	RestRuns     = "at rest every pod runs"
	RestReason   = "at rest every pod that cannot run has its reason"
	RestSettled  = "at rest nothing is bought any more"
	RestDecided  = "at rest no disruption begins any more"
	RestGone     = "at rest nothing is on its way out"
	RestTaints   = "at rest no taint is left"
	RestOrphans  = "at rest no node is without its claim"
	RestCommands = "at rest no disruption is under way"
	RestJoined   = "at rest every claim has its node"
)

// Infeasible is the annotation of pods that no node can hold: they may wait for ever.
const Infeasible = "sim.tenon.dev/infeasible"

// Settled checks what was done late, since a given time.
func (w *Watch) Settled(before Late) {
	if bought := w.late.Bought - before.Bought; bought > 0 {
		w.report(RestSettled, "%d machines were", bought)
	}
	if begun := w.late.Begun - before.Begun; begun > 0 {
		w.report(RestDecided, "%d claims were to go", begun)
	}
}

// AtRest checks the final state after a time without events.
func (w *Watch) AtRest() {
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if pod.Spec.NodeName == "" && !finished(pod) && pod.Annotations[Infeasible] == "" && !daemon(pod) && !w.limitHolds(pod) && !w.totalsReached(pod) && !w.groupPauses(pod) && !w.cameNow(pod) {
			w.report(RestRuns, "pod %s/%s waits since %s: %s", pod.Namespace, pod.Name, pod.CreationTimestamp.UTC().Format(time.DateTime), why(pod))
		}
	}
	w.reasonsAtRest()
	w.buffersAtRest()
	w.claimsAtRest()
	w.commandsAtRest()
	w.groupsAtRest()
	for _, node := range store.All[*corev1.Node](w.Store) {
		w.nodeAtRest(node)
	}
}

// cameNow reports whether a pod began to wait only now, after a recent change: it was moved because a job
// ended, and the scheduler gave its room to other pods.
func (w *Watch) cameNow(pod *corev1.Pod) bool {
	return w.recent(pod.CreationTimestamp.Time, leaves) && !w.settled()
}

// Daemon pods may wait when other pods were faster: Tenon reserves their room when it buys a node, and the
// scheduler does not know of that.
func daemon(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" })
}

// why returns the scheduler's reason for a waiting pod.
func why(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Message
		}
	}
	return "the scheduler has not seen it"
}

// reasonsAtRest looks for waiting pods without an event that explains why. The event has to be recent,
// because events expire.
func (w *Watch) reasonsAtRest() {
	var said []telemetry.Event
	if w.Recent != nil {
		said = w.Recent()
	}
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if pod.Spec.NodeName != "" || finished(pod) || daemon(pod) || w.Now().Sub(pod.CreationTimestamp.Time) < leaves {
			continue
		}
		if !slices.ContainsFunc(said, func(e telemetry.Event) bool { return explains(e, pod) }) {
			w.report(RestReason, "pod %s/%s waits, and no event says why", pod.Namespace, pod.Name)
		}
	}
}

// failed is the beginning of an event's text that says why a pod has no node.
const failed = "Failed to schedule pod, "

// explains reports whether an event with a reason is about a pod, or about all pods of its owner.
func explains(e telemetry.Event, pod *corev1.Pod) bool {
	_, text, says := strings.Cut(e.Message, failed)
	if e.Type != corev1.EventTypeWarning || e.Reason != "FailedScheduling" || !says || text == "" {
		return false
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	return e.Object.GetUID() == pod.UID || owner != nil && e.Object.GetUID() == owner.UID
}

func (w *Watch) claimsAtRest() {
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		switch {
		case w.leftNow(claim) || claim.DeletionTimestamp != nil && w.holds(claim.Status.NodeName):
		case claim.DeletionTimestamp != nil:
			w.report(RestGone, "claim %s, held by %v", claim.Name, claim.Finalizers)
		case !meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInitialized) && w.Now().Sub(claim.CreationTimestamp.Time) >= leaves:
			w.report(RestJoined, "claim %s has none that is initialized", claim.Name)
		}
	}
}

// leaves is how long a removal may take: consolidation may find something at any time after the last job
// has ended.
const leaves = 5 * time.Minute

// leftNow reports whether something began to go only now.
func (w *Watch) leftNow(object client.Object) bool {
	at := object.GetDeletionTimestamp()
	return at != nil && w.Now().Sub(at.Time) < leaves
}

// begunNow reports whether a disruption began to take a claim, or a node of a group, only now, or has just deleted it.
func (w *Watch) begunNow(carrier client.Object) bool {
	r := taking(carrier)
	return r != nil && w.Now().Sub(r.Begun) < leaves || w.leftNow(carrier)
}

// movesNow reports whether a disruption began to move pods only now.
func (w *Watch) movesNow() bool {
	return slices.ContainsFunc(store.All[*karpenterv1.NodeClaim](w.Store), func(c *karpenterv1.NodeClaim) bool { return w.begunNow(c) }) ||
		slices.ContainsFunc(store.All[*corev1.Node](w.Store), func(n *corev1.Node) bool { return w.begunNow(n) })
}

func (w *Watch) nodeAtRest(node *corev1.Node) {
	if node.DeletionTimestamp != nil {
		if !w.leftNow(node) && !w.holds(node.Name) {
			w.report(RestGone, "node %s, held by %v", node.Name, node.Finalizers)
		}
		return
	}
	if w.claimFor(node) == nil && node.Annotations[tenonv1alpha1.AnnotationGroup] == "" {
		w.report(RestOrphans, "node %s of %s", node.Name, node.Spec.ProviderID)
	}
	for _, taint := range node.Spec.Taints {
		stays := false
		switch taint.Key {
		case cloud.Unregistered().Key: // the node joins
			stays = w.Now().Sub(node.CreationTimestamp.Time) >= leaves
		case model.KeyNotReceiving: // the node is bought for pods that have yet to move, or pods move to others
			stays = w.Now().Sub(node.CreationTimestamp.Time) >= leaves && !w.movesNow()
		case karpenterv1.TaintDisrupted().Key:
			claim := w.claimFor(node)
			stays = !w.begunNow(node) && (claim == nil || !w.begunNow(claim))
		}
		if stays {
			w.report(RestTaints, "node %s has %s", node.Name, taint.Key)
		}
	}
}

// loosen records when the last pod that kept a node was gone.
func (w *Watch) loosen(c store.Change) {
	before, is := c.Old.(*corev1.Pod)
	if !is || before == nil || finished(before) || !protected(before) {
		return
	}
	if after, is := c.New.(*corev1.Pod); !is || after == nil || finished(after) {
		w.loosened[before.Spec.NodeName] = w.Now()
	}
}

func protected(pod *corev1.Pod) bool {
	_, protected := pod.Annotations[karpenterv1.AnnotationDoNotDisrupt]
	return protected
}

// holds reports whether a pod's own protection keeps a node from going, possibly for ever, or did so until
// a moment ago.
func (w *Watch) holds(node string) bool {
	if node == "" {
		return false
	}
	if w.recent(w.loosened[node], leaves) {
		return true
	}
	for _, pod := range w.podsOn[node] { // one is enough, in any order
		if !finished(pod) && (protected(pod) || w.exhausted(pod) != "") {
			return true
		}
	}
	return false
}

// limitHolds reports whether the pools say that their limits leave no room, and whether that is true: the
// rest of a pool's limit is less than the smallest machine that the pod may need.
func (w *Watch) limitHolds(pod *corev1.Pod) bool {
	pools := store.All[*karpenterv1.NodePool](w.Store)
	for _, pool := range pools {
		_, has := pool.Spec.Limits[corev1.ResourceCPU]
		said := slices.ContainsFunc(pool.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == karpenterv1.ConditionLimitReached && c.Status == metav1.ConditionTrue
		})
		if !has || !said {
			return false
		}
	}
	return w.limitsReached(pod)
}

// groupPauses reports whether a pod waits for a group that does not grow for a while, because its instances did not come, or did not until now: the
// limits leave nothing for the pod elsewhere.
func (w *Watch) groupPauses(pod *corev1.Pod) bool {
	return w.limitsReached(pod) && slices.ContainsFunc(store.All[*tenonv1alpha1.NodeGroup](w.Store), func(g *tenonv1alpha1.NodeGroup) bool {
		return g.Status.Backoff != nil && w.Now().Sub(g.Status.Backoff.Until.Time) < leaves
	})
}

// limitsReached reports whether the limits of all pools, or one of the cluster, leave less than the machine for a pod may need.
func (w *Watch) limitsReached(pod *corev1.Pod) bool {
	pools := store.All[*karpenterv1.NodePool](w.Store)
	if w.totalsReached(pod) {
		return true
	}
	return len(pools) > 0 && !slices.ContainsFunc(pools, func(pool *karpenterv1.NodePool) bool {
		limit, has := pool.Spec.Limits[corev1.ResourceCPU]
		return !has || limit.MilliValue()-w.has(pool.Name) > mostNeeded(pod)
	})
}

// limitsAwaited reports whether every pool or the cluster has a limit, and a pod that machines exist for waits. At rest it waits
// for what the limits leave, which buffers must not take from it.
func (w *Watch) limitsAwaited() bool {
	for _, pool := range store.All[*karpenterv1.NodePool](w.Store) {
		if _, has := pool.Spec.Limits[corev1.ResourceCPU]; !has && len(w.Totals.Limits) == 0 {
			return false
		}
	}
	for _, pod := range w.podsOn[""] { // the order does not matter
		if !finished(pod) && !daemon(pod) && pod.Annotations[Infeasible] == "" {
			return true
		}
	}
	return false
}

// has returns how much CPU counts for the limit of a pool.
func (w *Watch) has(pool string) int64 {
	var cpu int64
	for _, claim := range w.outlived() {
		if poolOf(claim) == pool {
			cpu += claim.Status.Capacity.Cpu().MilliValue()
		}
	}
	for _, i := range w.Cloud.Instances() {
		if i.Pool == pool && i.State != cloud.Terminating {
			cpu += i.Capacity.CPU
		}
	}
	return cpu
}

// mostNeeded returns the most CPU that the smallest machine for a pod may have: daemon pods and the
// machine's overhead are added, and sizes double.
func mostNeeded(pod *corev1.Pod) int64 {
	var cpu, memoryGiB int64
	for i := range pod.Spec.Containers {
		cpu += pod.Spec.Containers[i].Resources.Requests.Cpu().MilliValue()
		memoryGiB += pod.Spec.Containers[i].Resources.Requests.Memory().Value()>>30 + 1
	}
	return 2 * (max(cpu, 500*memoryGiB) + 1000)
}
