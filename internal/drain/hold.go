package drain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/internal/podpolicy"
	"tenon/internal/surge"
)

// Cause is what holds a pod on a node that goes.
type Cause int

// The causes.
const (
	// Protected: the annotation do-not-disrupt.
	Protected Cause = iota
	// Budget: a PodDisruptionBudget that allows no disruption now.
	Budget
	// Budgets: more than one of them, which eviction does not support.
	Budgets
	// Ending: it was told to leave, and takes longer than people would expect.
	Ending
	// Surging: another pod is made in its place, and is not Ready yet.
	Surging
)

// usual is how long a pod may take to end without being mentioned.
const usual = time.Minute

// Hold is a pod whose turn has come and which does not leave now.
type Hold struct {
	Pod   *corev1.Pod
	Cause Cause
	// Budgets are those that cover the pod, where they are the cause.
	Budgets []*policyv1.PodDisruptionBudget
	// Unsurged says of a pod that asks for another one in its place first why it gets none;
	// empty for all others.
	Unsurged string
	// Until is when the hold ends by itself; zero if it does not, or if that is not known.
	Until time.Time
	// Forced is when the pod is deleted in spite of every hold; zero if it never is.
	Forced time.Time
}

// Holds says what keeps each pod of whom it is the turn, in the order of Waiting. Pods that
// leave now, or whose turn has not come, are not listed. budgets are those of the pods'
// namespaces; rolls are what becomes of those that ask for a replacement first.
func Holds(s State, d Decision, budgets []*policyv1.PodDisruptionBudget, rolls map[types.UID]surge.Step) []Hold {
	var out []Hold
	for _, pod := range d.Waiting {
		if GroupOf(pod) != d.Turn && !podpolicy.Terminating(pod) || s.due(pod) && !podpolicy.Terminating(pod) {
			continue
		}
		if hold, held := holdOf(s, pod, budgets, rolls); held {
			hold.Forced, _ = s.forcedAt(pod)
			out = append(out, hold)
		}
	}
	return out
}

func holdOf(s State, pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget, rolls map[types.UID]surge.Step) (Hold, bool) {
	hold := Hold{Pod: pod}
	if podpolicy.Terminating(pod) {
		hold.Cause, hold.Until = Ending, pod.DeletionTimestamp.Add(podpolicy.StuckAfter)
		return hold, s.Now.After(pod.DeletionTimestamp.Time) || promised(pod) > usual
	}
	if protection := podpolicy.ProtectionOf(pod); protection.Holds(s.Now) {
		hold.Until, _ = protection.Until()
		return hold, true
	}
	if roll, asks := rolls[pod.UID]; asks {
		if roll.Verb != surge.Evict {
			hold.Cause = Surging
			return hold, true
		}
		hold.Unsurged = roll.Why
	}
	if pod.Status.Phase == corev1.PodPending { // eviction does not ask budgets about pods that do not run
		return Hold{}, false
	}
	hold.Budgets = podpolicy.Covering(inNamespace(budgets, pod.Namespace), pod)
	if len(hold.Budgets) > 1 {
		hold.Cause = Budgets
		return hold, true
	}
	hold.Cause = Budget
	return hold, len(hold.Budgets) == 1 && refuses(hold.Budgets[0], pod)
}

// lasts reports whether a user has to act, or a deadline to come, for the hold
// to end.
func (h Hold) lasts() bool { return h.Until.IsZero() && h.Cause != Surging }

// promised is the grace period that a pod that ends was given.
func promised(pod *corev1.Pod) time.Duration {
	if pod.DeletionGracePeriodSeconds == nil {
		return 0
	}
	return podpolicy.Seconds(*pod.DeletionGracePeriodSeconds)
}

func inNamespace(budgets []*policyv1.PodDisruptionBudget, namespace string) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, b := range budgets {
		if b.Namespace == namespace {
			out = append(out, b)
		}
	}
	return out
}

// refuses foresees what the API server will say. Unless the budget says otherwise, a pod
// that is not healthy may go while enough others are.
func refuses(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if b.Status.DisruptionsAllowed > 0 || podpolicy.Ignores(b, pod) {
		return false
	}
	enough := b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
	return !(podpolicy.Unready(pod) && enough)
}
