// Package verdict tells of every node what disruption would do with it, or what keeps it:
// as the condition Disruptable of its claim, as events, and in gauges. Nodes of groups, which have no claim, have events alone. It is the controller
// `nodeclaim.verdict`.
//
// The disruption controller decides the answers and puts them into an evaluation.Nodes. This package
// decides when to publish them: at once where people wait for them, and never so often that they load the
// API server, however large the fleet is and however often the answers change.
package verdict

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/internal/evaluation"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/translate"
)

const (
	// every is how often to look without a new page: an ageing coverage is reported even if
	// evaluations have stopped.
	every = 10 * time.Second
	// turn is the pause when there was more to write than may be written at once, and spell when there were
	// more events. Only one event a second is allowed, and scanning the whole fleet for each of them would
	// cost too much: so a few are published together.
	turn  = time.Second
	spell = 10 * time.Second
)

// New makes the controller.
func New(kit reconcile.Kit, board *evaluation.Nodes) reconcile.Controller {
	c := &controller{
		kit: kit, board: board, about: kit.Cloud.Describe(), memory: map[types.UID]lastTold{}, closed: map[evaluation.Closed]time.Time{},
		writes: bucket{perSecond: 20, most: 20}, events: bucket{perSecond: 1, most: 50}, pools: bucket{perSecond: 1, most: 20},
	}
	return reconcile.Controller{
		Name:      "nodeclaim.verdict",
		Subscribe: board.Subscribe,
		Workers:   reconcile.One,
		Retry:     reconcile.Backoff{First: time.Second, Longest: time.Minute},
		Yields:    true,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return c.reconcile(ctx) },
	}
}

// controller remembers what it published when. Nothing depends on that: without it, the same would be
// published more often.
type controller struct {
	kit    reconcile.Kit
	board  *evaluation.Nodes
	about  cloud.Description
	memory map[types.UID]lastTold
	closed map[evaluation.Closed]time.Time // when people were told
	// writes are patches of claims, events pairs of them, pools those about budgets.
	writes, events, pools bucket
}

func (c *controller) reconcile(ctx context.Context) (reconcile.Result, error) {
	page, now := c.board.Page(), c.kit.Clock.Now()
	c.measure(page, now)
	if page.At.IsZero() {
		return reconcile.In(every), nil
	}
	subjects, leaving, err := c.subjects(ctx, page)
	if err != nil {
		return reconcile.Never, err
	}
	members, err := c.members(ctx, page)
	if err != nil {
		return reconcile.Never, err
	}
	next := reconcile.In(every).Sooner(c.announce(ctx, slices.Concat(subjects, members), now)).Sooner(c.announcePools(ctx, page, now))
	after, err := c.mark(ctx, subjects, patienceWith(leaving), now)
	return next.Sooner(after), err
}

// subject is a claim, or a node of a group, as the cache has it, with the last word about its node.
type subject struct {
	claim  *karpenterv1.NodeClaim
	member *corev1.Node // nil if there is a claim
	entry  evaluation.Entry
}

// object is what the subject is about.
func (s *subject) object() client.Object {
	if s.member != nil {
		return s.member
	}
	return s.claim
}

// members are the nodes of groups that have joined, and about which there is something to tell.
func (c *controller) members(ctx context.Context, page *evaluation.Page) ([]subject, error) {
	var list corev1.NodeList
	if err := c.kit.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var out []subject
	there := map[types.UID]bool{}
	for i := range list.Items {
		node := &list.Items[i]
		if entry, found := page.Find(evaluation.NodeKey(node.Name)); found && node.DeletionTimestamp == nil && node.Annotations[tenonv1alpha1.AnnotationJoined] == "true" {
			entry.Message = reason.InCurrency(entry.Message, c.about.Currency)
			out = append(out, subject{member: node, entry: entry})
			there[node.UID] = true
		}
	}
	for uid, m := range c.memory {
		if m.member && !there[uid] {
			delete(c.memory, uid)
		}
	}
	return out, nil
}

// subjects are the claims about which there is something to tell, and how many claims are leaving. It forgets the others.
func (c *controller) subjects(ctx context.Context, page *evaluation.Page) (out []subject, leaving int, err error) {
	var list karpenterv1.NodeClaimList
	if err := c.kit.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, 0, fmt.Errorf("list claims: %w", err)
	}
	now := c.kit.Clock.Now()
	there := make(map[types.UID]bool, len(list.Items))
	out = make([]subject, 0, len(list.Items))
	for i := range list.Items {
		claim := &list.Items[i]
		there[claim.UID] = true
		if isLeaving(claim) {
			leaving++
		}
		entry, found := page.Find(claim.Name)
		if claim.DeletionTimestamp != nil {
			if says, is := find(claim, karpenterv1.ConditionDisruptable); is && says.Status != metav1.ConditionTrue && c.about.Supports(translate.ClassOf(claim)) {
				out = append(out, subject{claim: claim, entry: evaluation.Entry{Prospect: plan.Prospect{Kind: plan.Blocked}}})
			}
			continue
		}
		if !found || isStarting(claim, now) || !c.about.Supports(translate.ClassOf(claim)) {
			continue
		}
		entry.Message = reason.InCurrency(entry.Message, c.about.Currency)
		out = append(out, subject{claim: claim, entry: entry})
	}
	for uid, m := range c.memory {
		if !m.member && !there[uid] {
			delete(c.memory, uid)
		}
	}
	return out, leaving, nil
}

// mark writes the condition on claims of which it says something else, as many as may be
// written at once. Answers that keep a node must have been the same for at least so long.
func (c *controller) mark(ctx context.Context, subjects []subject, least time.Duration, now time.Time) (reconcile.Result, error) {
	due, next := c.dueMarks(subjects, least, now)
	for _, d := range due {
		if !c.writes.take(now) {
			return next.Sooner(reconcile.In(turn)), nil
		}
		after := d.claim.DeepCopy()
		conditions := after.Conditions(now)
		d.mark.put(&conditions)
		after.Status.Conditions = conditions.List()
		again, err := patch.Status(ctx, c.kit, d.claim, after)
		if err != nil {
			return next, err
		}
		if again == reconcile.Never { // no other writer was faster
			m := c.memory[d.claim.UID]
			m.marked, m.mark = now, d.mark
			c.memory[d.claim.UID] = m
		}
		next = next.Sooner(again)
	}
	return next, nil
}

// dueMarks are the conditions to write, and when the next ones will be.
func (c *controller) dueMarks(subjects []subject, least time.Duration, now time.Time) ([]dueMark, reconcile.Result) {
	var due []dueMark
	next := reconcile.Never
	for i := range subjects {
		s := &subjects[i]
		wanted := markOf(s).at(now)
		if wanted.until.After(now) {
			next = next.Sooner(reconcile.In(wanted.until.Sub(now))) // then it is wrong
		}
		m := c.memory[s.claim.UID]
		condition, found := find(s.claim, karpenterv1.ConditionDisruptable)
		said := m.read(condition)
		if found && said.stands(wanted, now) {
			continue
		}
		at := time.Time{}
		if !m.marked.IsZero() {
			at = m.marked.Add(again)
		}
		if found && !m.marked.IsZero() && (said.isOver(now) || s.claim.DeletionTimestamp != nil) {
			at = m.marked.Add(patience) // it is wrong
		}
		if wanted.status != metav1.ConditionTrue {
			at = later(at, s.entry.Since.Add(least))
		}
		if at.After(now) {
			next = next.Sooner(reconcile.In(at.Sub(now)))
			continue
		}
		due = append(due, dueMark{*s, wanted, m.marked})
	}
	slices.SortFunc(due, dueMark.before)
	return due, next
}
