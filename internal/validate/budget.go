package validate

import (
	"fmt"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/robfig/cron/v3"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/podpolicy"
)

// checkDisruptionBudgets finds budgets of pools that never or always block.
func (c *checker) checkDisruptionBudgets() {
	for _, object := range c.objects.NodePools {
		d := c.documentOf("NodePool", object)
		for i, b := range object.Spec.Disruption.Budgets {
			field := fmt.Sprintf("spec.disruption.budgets[%d]", i)
			when, err := c.turns(b)
			switch none := strings.TrimSuffix(b.Nodes, "%") == "0"; {
			case err != nil:
				c.add(d, ruleBudgetLine, Error, field+".schedule", err.Error(), "write five fields (minute hour day month weekday) or a macro such as @daily, in UTC")
			case b.Reasons != nil && len(b.Reasons) == 0:
				c.add(d, ruleBudgetNever, Warning, field+".reasons", "an empty list of reasons is about no disruption: the budget bounds nothing", "remove reasons, so that it is about all of them")
			case when == never:
				c.add(d, ruleBudgetNever, Warning, field+".schedule", fmt.Sprintf("%q is a date that never comes: the budget bounds nothing", *b.Schedule), "correct the day or the month")
			case none && when == always:
				c.add(d, ruleBudgetBlocks, Warning, field, "allows 0 nodes at all times: "+blocked(b), "give it a schedule and a duration, or reasons, or allow a node; consolidateAfter: Never stops consolidation alone")
			case b.Nodes == "100%" && when == always && b.Reasons == nil && len(object.Spec.Disruption.Budgets) == 1:
				c.add(d, ruleBudgetNever, Note, field+".nodes", "allows all nodes to be disrupted at the same time", "allow a part of them, such as 10%")
			}
		}
	}
}

func blocked(b karpenterv1.Budget) string {
	if b.Reasons == nil {
		return "no node is ever consolidated or replaced after drift"
	}
	return fmt.Sprintf("no node is ever disrupted for %v", b.Reasons)
}

// turn is when a budget counts.
type turn int

const (
	sometimes turn = iota
	always
	never
)

// manyTurns is how many turns of a schedule are looked at: more than a year of hours.
const manyTurns = 10_000

// turns looks ahead when a budget counts.
func (c *checker) turns(b karpenterv1.Budget) (turn, error) {
	if b.Schedule == nil || b.Duration == nil {
		return always, nil
	}
	schedule, err := cron.ParseStandard("TZ=UTC " + *b.Schedule)
	if err != nil {
		return sometimes, fmt.Errorf("%q is no schedule: %w", *b.Schedule, err)
	}
	now := c.options.Ingest.Now.UTC()
	at := schedule.Next(now)
	if at.IsZero() {
		return never, nil
	}
	for range manyTurns {
		next := schedule.Next(at)
		if next.IsZero() || next.Sub(at) > b.Duration.Duration {
			return sometimes, nil
		}
		if next.Sub(now) > 366*24*time.Hour {
			break
		}
		at = next
	}
	return always, nil
}

// checkPodDisruptionBudgets finds budgets that never allow an eviction, and pods with two of them.
func (c *checker) checkPodDisruptionBudgets() {
	for _, other := range c.objects.Others {
		if b, ok := other.(*policyv1.PodDisruptionBudget); ok {
			c.checkPodDisruptionBudget(b)
		}
	}
	c.checkOverlap()
}

func (c *checker) checkPodDisruptionBudget(b *policyv1.PodDisruptionBudget) {
	expected, workloads := 0, []string{}
	for _, w := range c.workloads() {
		if w.pod.Namespace == b.Namespace && podpolicy.Selects(b, w.pod) {
			expected += w.replicas
			workloads = append(workloads, w.name)
		}
	}
	counted := b.DeepCopy()
	if counted.Status.ExpectedPods == 0 && expected > 0 {
		counted.Status.ExpectedPods, counted.Status.DesiredHealthy, counted.Status.ObservedGeneration = int32(expected), desired(b, expected), b.Generation
	}
	why := podpolicy.Never(counted)
	if why == "" {
		return
	}
	field := "spec.minAvailable"
	if b.Spec.MaxUnavailable != nil {
		field = "spec.maxUnavailable"
	}
	fix := "write maxUnavailable: 1"
	if expected == 1 {
		fix = "run two replicas; or leave the budget out, and let tenon.sh/surge have another pod ready before the only one goes"
	}
	about := ""
	if len(workloads) > 0 {
		about = " (" + strings.Join(workloads, ", ") + ")"
	}
	c.add(c.documentOf("PodDisruptionBudget", b), rulePDBNever, Warning, field, "never allows an eviction, as "+why+": nodes with its pods"+about+" cannot be drained", fix)
}

// desired is how many healthy pods a budget asks for, of as many as are expected.
func desired(b *policyv1.PodDisruptionBudget, expected int) int32 {
	if b.Spec.MinAvailable != nil {
		n, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, expected, true)
		if err != nil {
			return 0 // the schema of budgets refuses it
		}
		return int32(n)
	}
	if b.Spec.MaxUnavailable == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, expected, true)
	if err != nil {
		return 0
	}
	return int32(expected - n)
}

// checkOverlap finds pods that two budgets cover.
func (c *checker) checkOverlap() {
	var budgets []*policyv1.PodDisruptionBudget
	for _, other := range c.objects.Others {
		if b, ok := other.(*policyv1.PodDisruptionBudget); ok {
			budgets = append(budgets, b)
		}
	}
	for _, w := range c.workloads() {
		var names []string
		var last *policyv1.PodDisruptionBudget
		for _, b := range budgets {
			if w.pod.Namespace == b.Namespace && podpolicy.Selects(b, w.pod) {
				names, last = append(names, b.Name), b
			}
		}
		if len(names) > 1 {
			c.add(c.documentOf("PodDisruptionBudget", last), rulePDBTwice, Warning, "spec.selector", fmt.Sprintf("pods of %s are covered by %s: the eviction API refuses pods with more than one budget, so their nodes cannot be drained", w.name, strings.Join(names, " and ")), "leave one budget for each pod")
		}
	}
}
