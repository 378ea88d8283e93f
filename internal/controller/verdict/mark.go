package verdict

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
)

const (
	// patience is how long an answer must have been the same before it is told. While a node
	// starts, and while pods move, answers come and go.
	patience = 10 * time.Second
	// again is the least time between two writes of one claim's condition.
	again = time.Minute
	// startup is how long a node may take until people want to know what keeps it from being
	// disrupted, of all things. Until then nobody writes to the claim but who launches it.
	startup = 5 * time.Minute
)

// mark is what the condition says.
type mark struct {
	status metav1.ConditionStatus
	reason string
	text   string
	// until is when the answer may change by itself: not before.
	until time.Time
}

// markOf is what the condition should say. A claim that goes already keeps what was said
// when it was chosen, which tells more than that it goes.
func markOf(s *subject) mark {
	e := &s.entry
	out := mark{status: metav1.ConditionFalse, reason: string(e.Kind), text: e.Message, until: e.Until.Truncate(time.Second)}
	if s.claim.DeletionTimestamp != nil {
		return mark{status: metav1.ConditionTrue, reason: deleting, text: "Is being deleted"}
	}
	switch going, isGoing := find(s.claim, karpenterv1.ConditionDisruptionReason); {
	case isGoing && going.Status == metav1.ConditionTrue && e.Kind == plan.Blocked:
		out.status, out.reason = metav1.ConditionTrue, going.Reason
		if said, isSaid := find(s.claim, karpenterv1.ConditionDisruptable); isSaid && said.Status == out.status && said.Reason == out.reason {
			return read(said)
		}
	case e.Kind == plan.Chosen:
		out.status, out.reason = metav1.ConditionTrue, string(e.Reason)
	case e.Kind == plan.Waiting:
		out.status = metav1.ConditionUnknown
	}
	return out
}

func find(claim *karpenterv1.NodeClaim, name string) (metav1.Condition, bool) {
	c := meta.FindStatusCondition(claim.Status.Conditions, name)
	return ptr.Deref(c, metav1.Condition{}), c != nil
}

// isStarting tells nodes that are not in service yet, as is usual for new ones.
func isStarting(claim *karpenterv1.NodeClaim, now time.Time) bool {
	c, found := find(claim, karpenterv1.ConditionInitialized)
	return !(found && c.Status == metav1.ConditionTrue) && now.Sub(claim.CreationTimestamp.Time) < startup
}

const (
	notBefore = "; not before "
	// looked is said once a time is over, until the next evaluation has an answer.
	looked = "; looked at again with the next evaluation"
	// deleting is the reason for claims that go for what was not chosen here.
	deleting = "Deleting"
)

// at is the mark as it is to be read now: a time that is over is not spoken of.
func (m mark) at(now time.Time) mark {
	if m.isOver(now) {
		m.text, m.until = m.text+looked, time.Time{}
	}
	return m
}

// isOver reports whether the mark speaks of a time that is over.
func (m mark) isOver(now time.Time) bool { return !m.until.IsZero() && !m.until.After(now) }

func (m mark) message() string {
	if m.until.IsZero() {
		return m.text
	}
	return m.text + notBefore + m.until.UTC().Format(time.RFC3339)
}

// read is what a condition says.
func read(c metav1.Condition) mark {
	out := mark{status: c.Status, reason: c.Reason, text: c.Message}
	if at := strings.LastIndex(c.Message, notBefore); at >= 0 {
		if until, err := time.Parse(time.RFC3339, c.Message[at+len(notBefore):]); err == nil {
			out.text, out.until = c.Message[:at], until
		}
	}
	return out
}

func (m mark) put(to *condition.Set) {
	switch m.status {
	case metav1.ConditionTrue:
		to.SetTrueBecause(karpenterv1.ConditionDisruptable, m.reason, m.message())
	case metav1.ConditionFalse:
		to.SetFalse(karpenterv1.ConditionDisruptable, m.reason, m.message())
	default:
		to.SetUnknown(karpenterv1.ConditionDisruptable, m.reason, m.message())
	}
}

// stands reports whether what was said is still right, given what there is to say. "Not
// before" a time that is to come is right also if it turns out to take longer: on a busy
// node consolidateAfter begins anew with every pod.
func (m mark) stands(now mark, at time.Time) bool {
	if m.status != now.status || m.reason != now.reason || m.text != now.text {
		return false
	}
	return m.until.Equal(now.until) || at.Before(m.until) && !now.until.Before(m.until)
}

// dueMark is a condition that is to be written.
type dueMark struct {
	subject
	mark   mark
	marked time.Time // when it was last
}

// before puts nodes that will go first, and then those that have waited longest.
func (d dueMark) before(o dueMark) int {
	return cmp.Or(
		cmp.Compare(d.rank(), o.rank()), d.marked.Compare(o.marked), cmp.Compare(d.claim.Name, o.claim.Name),
	)
}

func (d dueMark) rank() int {
	if d.mark.status == metav1.ConditionTrue {
		return 0
	}
	return 1
}
