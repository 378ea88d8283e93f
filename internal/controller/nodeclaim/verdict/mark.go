package verdict

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/internal/command"
)

const (
	// patience is how long an answer must have been the same before it is written. While a node
	// starts, and while pods move, answers change often.
	patience = 10 * time.Second
	// While more than manyLeaving nodes are being removed, the answers about the others change with every
	// evaluation, and each of them may go next: then an answer must have been the same for longer.
	manyLeaving  = 10
	longPatience = time.Minute
	// again is the least time between two writes of one claim's condition.
	again = time.Minute
	// startup is how long a node may take before the condition says what keeps it from being disrupted.
	// Until then only its launch writes to the claim.
	startup = 5 * time.Minute
)

// mark is what the condition says.
type mark struct {
	status metav1.ConditionStatus
	reason string
	text   string
	// until is the earliest time at which the answer may change by itself.
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
			return asIs(said)
		}
	case e.Kind == plan.Chosen:
		out.status, out.reason = metav1.ConditionTrue, string(e.Reason)
	case e.Kind == plan.Waiting:
		out.status = metav1.ConditionUnknown
	}
	return out
}

// patienceWith is how long an answer must have been the same while so many nodes are being removed.
func patienceWith(leaving int) time.Duration {
	if leaving > manyLeaving {
		return longPatience
	}
	return patience
}

// isLeaving reports whether a claim is being removed, or a command says that it will be.
func isLeaving(claim *karpenterv1.NodeClaim) bool {
	return claim.DeletionTimestamp != nil || command.Removes(claim)
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
	lookedAfter = "; looked at again after "
	// looked is the text after such a time is over, until the next evaluation has an answer.
	looked = "; looked at again with the next evaluation"
	// deleting is the reason for claims that go for another reason than disruption.
	deleting = "Deleting"
)

// at is the mark as of now: it leaves out a time that is over.
func (m mark) at(now time.Time) mark {
	if m.isOver(now) {
		m.text, m.until = m.text+looked, time.Time{}
	}
	return m
}

// isOver reports whether the mark has a time that is over.
func (m mark) isOver(now time.Time) bool { return !m.until.IsZero() && !m.until.After(now) }

func (m mark) message() string {
	if m.until.IsZero() {
		return m.text
	}
	return m.text + lookedAfter + m.until.UTC().Format(time.RFC3339)
}

// asIs is a condition of any origin: its time, if it speaks of one, is part of its text.
func asIs(c metav1.Condition) mark { return mark{status: c.Status, reason: c.Reason, text: c.Message} }

// read is what a condition says, by what was written there last. One that was written by another
// process, or changed since, is taken as it is.
func (m *lastTold) read(c metav1.Condition) mark {
	if is := asIs(c); !is.same(m.mark) {
		return is
	}
	return m.mark
}

// same reports whether two marks read the same.
func (m mark) same(o mark) bool {
	return m.status == o.status && m.reason == o.reason && m.message() == o.message()
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

// stands reports whether the written mark is still right, given the new one. "After" a future time stays
// right if it takes longer: on a busy node consolidateAfter begins again with every pod.
func (m mark) stands(now mark, at time.Time) bool {
	if m.same(now) {
		return true
	}
	longer := at.Before(m.until) && !now.until.Before(m.until)
	return longer && m.status == now.status && m.reason == now.reason && m.text == now.text
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
