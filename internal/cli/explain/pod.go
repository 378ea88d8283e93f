package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/rulecost"
	"tenon/core/snapshot"
)

// pod answers where a pod is, where it will be, or why it has no place.
func (e *explainer) pod(name string) error {
	if found, err := e.gated(name); found || err != nil {
		return err
	}
	at, err := e.findPod(name)
	if err != nil {
		return err
	}
	pod := &e.s.Pods[at]
	e.a.Name = pod.Key()
	switch {
	case e.unplaced(at), e.held(at), e.onNewNode(at), e.onExisting(at):
	case pod.Node != "":
		e.a.State = "Running"
		if n := e.nodeNamed(pod.Node); n != nil {
			e.a.say("node", "it runs on %s", e.describe(n))
			e.prospect(n)
		}
	case len(pod.Refused) > 0:
		e.a.State = "Refused"
		e.a.say("why", "%s", pod.Refused.Text())
	default:
		e.a.State = "NotWaiting"
		e.a.say("why", "it does not wait for a node: the scheduler has not given up on it")
	}
	e.standing(pod)
	e.rules(pod)
	return nil
}

// gated answers about a pod that scheduling gates hold, unless another pod may be meant too.
func (e *explainer) gated(name string) (bool, error) {
	var found []*snapshot.Gated
	for i := range e.s.Gated {
		if g := &e.s.Gated[i]; g.Key() == name || g.Name == name {
			found = append(found, g)
		}
	}
	if len(found) == 0 {
		return false, nil
	}
	other := slices.ContainsFunc(e.s.Pods, func(p snapshot.Pod) bool { return p.Name == name })
	if len(found) > 1 || other {
		return false, severalPods(name)
	}
	g := found[0]
	e.a.Name, e.a.State, e.a.Code = g.Key(), "Gated", corev1.PodReasonSchedulingGated
	gates, gone := "scheduling gate "+g.Gates[0], "it is"
	if len(g.Gates) > 1 {
		gates, gone = "scheduling gates "+strings.Join(g.Gates, ", "), "they are"
	}
	e.a.say("why", "held by the %s: until %s removed, the scheduler does not look at the pod and no node is bought for it", gates, gone)
	e.a.say("remedy", "the controller that added a gate removes it from spec.schedulingGates when its condition is met")
	return true, nil
}

func severalPods(name string) error {
	return fmt.Errorf("there are several pods %s; write NAMESPACE/%s", name, name)
}

func (e *explainer) findPod(name string) (snapshot.PodIndex, error) {
	var names []string
	found := snapshot.PodIndex(-1)
	for i := range e.s.Pods {
		p := &e.s.Pods[i]
		if p.Key() == name || p.Name == name {
			if found >= 0 {
				return 0, severalPods(name)
			}
			found = snapshot.PodIndex(i)
		}
		names = append(names, p.Key())
	}
	if found < 0 {
		return 0, fmt.Errorf("%w; a plan leaves out pods that are done or being deleted, or that a DaemonSet made", notFound("pod", name, names))
	}
	return found, nil
}

func (e *explainer) unplaced(pod snapshot.PodIndex) bool {
	for _, u := range e.p.Plan.Unplaced {
		if u.Pod != pod {
			continue
		}
		e.a.State = "Unplaced"
		if u.Verdict.General.Code != reason.None {
			e.a.Code = string(u.Verdict.General.Code)
			e.a.say("why", "%s", u.Verdict.GeneralText())
		}
		contradicted := e.places(pod)
		if remedy := u.Verdict.RemedyText(); remedy != "" && !contradicted {
			e.a.say("remedy", "%s", remedy)
		}
		for _, v := range u.Verdict.Promising() {
			if e.a.Code == "" {
				e.a.Code = string(v.Reason.Code)
			}
			e.a.say("pool "+v.Pool, "%s", v.Text())
		}
		return true
	}
	return false
}

func (e *explainer) held(pod snapshot.PodIndex) bool {
	for _, h := range e.p.Plan.Held {
		if h.Pod == pod {
			e.a.State, e.a.Code = "Held", string(h.Delay.Code)
			e.a.say("why", "a pod of its workload ends and leaves its place to it%s", until(h.Delay.Until))
			return true
		}
	}
	return false
}

// onNewNode says what is bought for a pod, and what would have been bought instead.
func (e *explainer) onNewNode(pod snapshot.PodIndex) bool {
	for i := range e.p.Plan.Claims {
		c := &e.p.Plan.Claims[i]
		if !slices.Contains(c.Pods, pod) {
			continue
		}
		e.a.State = "NewNode"
		e.a.say("node", "%s %s in %s of pool %s, %s an hour, for %s", c.Offer.InstanceType, c.Offer.CapacityType, c.Offer.Zone, c.Pool, c.Offer.Price, plural(len(c.Pods), "pod", "pods"))
		if !c.Now() {
			e.a.Code = string(c.Delay.Code)
			e.a.say("when", "later: %s%s", c.Delay.Code, until(c.Delay.Until))
		}
		e.runnerUp(c)
		if cost := e.p.Plan.Cost; cost.LowerBound > 0 {
			e.a.say("bound", "all new nodes cost %s an hour; less than %s an hour is proven to be impossible", cost.New, cost.LowerBound)
		}
		return true
	}
	return false
}

func (e *explainer) runnerUp(c *plan.Claim) {
	next, others := plan.Offer{}, 0
	for o := range c.Alternatives.All() {
		if others++; others == 1 {
			next = o
		}
	}
	if others == 0 {
		e.a.say("runner-up", "none: no other offer holds these pods by their rules")
		return
	}
	e.a.say("runner-up", "%s %s in %s, %s an hour (%s more an hour); the node may be any of %d offers",
		next.InstanceType, next.CapacityType, next.Zone, next.Price, next.Price-c.Offer.Price, others+1)
}

func (e *explainer) onExisting(pod snapshot.PodIndex) bool {
	for i := range e.p.Plan.Existing {
		x := &e.p.Plan.Existing[i]
		if !slices.Contains(x.Pods, pod) {
			continue
		}
		e.a.State = "ExistingNode"
		if from := e.s.Pods[pod].Node; from != "" {
			e.a.State = "Moves"
			e.a.say("from", "node %s is given up", from)
		}
		if n := e.nodeNamed(x.Node); n != nil {
			e.a.say("node", "there is room for it on %s: nothing is bought", e.describe(n))
		}
		return true
	}
	return false
}

// standing says what keeps a pod, and with it its node.
func (e *explainer) standing(pod *snapshot.Pod) {
	if pod.Tie.Holds(e.s.Now) {
		e.a.say("protected", `it has the annotation do-not-disrupt, or safe-to-evict: "false"%s: its node is not given up`, until(pod.Tie.Until))
	}
	for _, name := range pod.Tie.Budgets {
		for i := range e.s.Budgets {
			if b := &e.s.Budgets[i]; b.Namespace == pod.Namespace && b.Name == name && b.Allowed == 0 {
				never := ""
				if b.Never {
					never = ", by its spec alone"
				}
				e.a.say("budget", "PodDisruptionBudget %s allows no eviction%s", b.Key(), never)
			}
		}
	}
}

// rules says what the rules of the pod's workload cost, if that was asked.
func (e *explainer) rules(pod *snapshot.Pod) {
	owner := e.s.Templates[pod.Template].Owner
	for _, c := range e.p.RuleCosts.Costs {
		if c.Rule.Workload != "" && c.Rule.Workload == owner && c.Rule.Namespace == pod.Namespace {
			e.rule(&c)
		}
	}
}

// rule says what a rule costs. One that keeps pods from having a place saves what their nodes would cost.
func (e *explainer) rule(c *rulecost.Cost) {
	if c.Places <= 0 {
		e.a.say("rule", "%s costs %s an hour", c.Rule.Text(), c.Savings)
		return
	}
	text := fmt.Sprintf("%s keeps %s from having a place", c.Rule.Text(), plural(c.Places, "pod", "pods"))
	switch {
	case c.Savings > 0:
		text += fmt.Sprintf(", and costs %s an hour", c.Savings)
	case c.Savings < 0:
		text += fmt.Sprintf("; with them the price is %s an hour more", -c.Savings)
	}
	e.a.say("rule", "%s", text)
}

func (e *explainer) nodeNamed(name string) *snapshot.Node {
	for i := range e.s.Nodes {
		if e.s.Nodes[i].Name == name {
			return &e.s.Nodes[i]
		}
	}
	return nil
}

// describe is a node in a few words.
func (e *explainer) describe(n *snapshot.Node) string {
	parts := []string{n.Name}
	for _, part := range []string{n.InstanceType, n.CapacityType, n.Zone} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, " ")
	if n.Pool != "" {
		text += " of pool " + n.Pool
	}
	if n.Price > 0 {
		text += fmt.Sprintf(", %s an hour", n.Price)
	}
	return text
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + t.UTC().Format(time.RFC3339)
}
