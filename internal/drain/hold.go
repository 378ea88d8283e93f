package drain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/internal/podpolicy"
	"tenon/internal/surge"
)

// Cause is what holds a pod on a node that is being removed.
type Cause int

// The causes.
const (
	// Protected: the annotation do-not-disrupt.
	Protected Cause = iota
	// Budget: a PodDisruptionBudget that allows no disruption now.
	Budget
	// Budgets: more than one of them, which eviction does not support.
	Budgets
	// Ending: it is terminating, and takes longer than usual.
	Ending
	// Surging: its replacement is being created, and is not Ready yet.
	Surging
)

// usual is how long a pod may terminate without being mentioned.
const usual = time.Minute

// Hold is a pod of the present group that does not leave now.
type Hold struct {
	Pod   *corev1.Pod
	Cause Cause
	// Budgets are the budgets that cover the pod, if they are the cause.
	Budgets []*policyv1.PodDisruptionBudget
	// Unsurged says why a pod that asks to be replaced first is not; empty for all other pods.
	Unsurged string
	// Until is when the hold ends by itself; zero if it does not, or if the time is unknown.
	Until time.Time
	// Forced is when the pod is deleted by force; zero if it never is.
	Forced time.Time
}

// Holds says what keeps each pod of the present group, in the order of Waiting. Pods that leave
// now, or whose group does not leave yet, are not listed. budgets are those of the pods'
// namespaces; rolls are the states of pods that ask to be replaced first.
func Holds(s State, d Decision, budgets []*policyv1.PodDisruptionBudget, rolls map[types.UID]surge.Step) []Hold {
	var out []Hold
	for _, pod := range d.Waiting {
		if s.GroupOf(pod) != d.Turn && !podpolicy.Terminating(pod) || s.due(pod) && !podpolicy.Terminating(pod) {
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
	if pod.Status.Phase == corev1.PodPending { // eviction ignores budgets for pods that do not run
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

// lasts reports whether the hold ends only by a user's action or at a deadline.
func (h Hold) lasts() bool { return h.Until.IsZero() && h.Cause != Surging }

// promised is the grace period that a terminating pod was given.
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

// refuses foresees the API server's answer. Unless the budget says otherwise, an unhealthy pod may
// be evicted while enough others are healthy.
func refuses(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if b.Status.DisruptionsAllowed > 0 || podpolicy.Ignores(b, pod) {
		return false
	}
	enough := b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
	return !(podpolicy.Unready(pod) && enough)
}
