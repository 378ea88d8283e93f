package disrupt

import (
	"slices"
	"strconv"
	"time"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/provision/fleet"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// proposal is nodes that could be given up, with where their pods would go.
type proposal struct {
	reason  plan.Reason
	nodes   []snapshot.NodeIndex
	ledger  *budgetUse
	asked   fleet.Question
	answer  fleet.Answer
	price   model.Money // of the nodes
	worth   float64     // what the savings have to be at least
	scores  []plan.Score
	landing fleet.Landing // zero if it does not matter where kube-scheduler puts the pods
}

func (p *proposal) savings() model.Money { return p.price - p.answer.Price }

// gain is what the savings are above what justifies the evictions.
func (p *proposal) gain() float64 { return float64(p.savings()) - p.worth }

// Effort of one question: some for asking at all, and more for more pods.
const (
	questionEffort = 2_000_000
	podEffort      = 4_000
)

// propose asks where the pods of some nodes would go. Nodes that budgets do not let go
// must have been left out.
func (x *search) propose(why plan.Reason, nodes, receivers []snapshot.NodeIndex, buy bool) (*proposal, *refusal) {
	return x.ask(why, fleet.Question{Nodes: nodes, Receivers: receivers, Buy: buy})
}

// ask is propose for a question of which the pods are not known yet.
func (x *search) ask(why plan.Reason, q fleet.Question) (*proposal, *refusal) {
	nodes := q.Nodes
	p := &proposal{reason: why, nodes: nodes}
	for _, n := range nodes {
		p.price += x.nodes[n].Price
		p.worth += x.nodes[n].worth
	}
	pods := x.movable(nodes)
	if why == plan.Drifted && x.nodes[nodes[0]].Life.Bounded {
		pods = slices.DeleteFunc(pods, x.stuck) // they go when they are made to
	}
	p.asked = q
	p.asked.Pods, p.asked.Effort = pods, x.part(questionEffort)+podEffort*int64(len(pods))
	if len(pods) == 0 {
		return p, nil
	}
	if pod, ok := x.hasPodRules(pods); ok {
		return nil, &refusal{pod: pod, later: true}
	}
	answer, obstacle := x.fleet.Ask(p.asked)
	if obstacle != nil && why == plan.Drifted && slices.ContainsFunc(pods, x.isVirtual) {
		// No buffer holds a node that has to go: its room is found anew.
		if p.asked.Pods = slices.DeleteFunc(pods, x.isVirtual); len(p.asked.Pods) == 0 {
			return p, nil
		}
		answer, obstacle = x.fleet.Ask(p.asked)
	}
	if obstacle != nil {
		return nil, &refusal{pod: obstacle.Pods[0].Pod, obstacle: obstacle}
	}
	p.answer = answer
	for i := range p.answer.Claims {
		x.settlePlace(&p.answer.Claims[i])
	}
	return p, nil
}

// settlePlace fixes the zone of a claim if rules between pods concern its pods: later decisions of the same
// plan must know where they are.
func (x *search) settlePlace(c *plan.Claim) {
	if !slices.ContainsFunc(c.Pods, x.fleet.Ruled) {
		return
	}
	c.Alternatives = c.Alternatives.Where(func(o plan.Offer) bool {
		return o.Zone == c.Offer.Zone && o.CapacityType == c.Offer.CapacityType
	})
	c.Requirements = c.Requirements.With(requirement.New(requirement.KeyZone, requirement.In, c.Offer.Zone))
}

// refusal is why some nodes cannot be given up, and because of which pod; later says that a part of this
// plan is the obstacle.
type refusal struct {
	pod      snapshot.PodIndex
	later    bool
	obstacle *fleet.Obstacle
}

// mostStranded is how many pods without a place are named.
const mostStranded = 5

// kind is what sort of answer the refusal is: waiting if a later plan may succeed, and
// otherwise what the caller says.
func (r *refusal) kind(otherwise plan.Kind) plan.Kind {
	if r.later {
		return plan.Waiting
	}
	return otherwise
}

// causeOf a refusal. To find out why pods have no other place takes effort: it is asked for
// single nodes only, and not for groups, whose refusals are not told.
func (x *search) causeOf(r *refusal) reason.Cause {
	if r.later {
		return reason.Cause{Code: reason.RelatedPodsFirst}
	}
	pods := r.obstacle.Pods
	out := reason.Cause{Code: reason.PodsWithoutOtherPlace, Have: int64(len(pods))}
	for _, p := range pods[:min(len(pods), mostStranded)] {
		why := x.fleet.Why(p)
		if r.obstacle.Short {
			why = reason.Refusal{General: reason.Reason{Code: reason.MinimumNotMet}}
		}
		out.Pods = append(out.Pods, reason.Stranded{Pod: x.s.Pods[p.Pod].Key(), Why: why})
	}
	return out
}

// stuck pods cannot be evicted for a standing reason. Only nodes whose removal is bounded
// in time are given up nevertheless.
func (x *search) stuck(p snapshot.PodIndex) bool {
	pod := &x.s.Pods[p]
	if pod.Tie.Holds(x.s.Now) {
		return true
	}
	keys := x.rules.Covering(pod)
	return pod.Tie.Asked && (len(keys) > 1 || len(keys) == 1 && x.covers[keys[0]].never)
}

// hasPodRules finds a pod that rules of pods which move already count on: where those may go
// was decided with this one where it is.
func (x *search) hasPodRules(pods []snapshot.PodIndex) (snapshot.PodIndex, bool) {
	for _, p := range pods {
		if c := x.fleet.Component(p); c != fleet.NoComponent && x.unsure[c] {
			return p, true
		}
		for _, g := range x.fleet.Counts(p) {
			if x.needed[g] {
				return p, true
			}
		}
	}
	return 0, false
}

// need notes the groups that a pod with a new place needs: their pods must not move in this plan.
func (x *search) need(p snapshot.PodIndex) {
	for _, g := range x.fleet.Asks(p) {
		x.needed[g] = true
	}
}

// accept makes a proposal part of the plan.
func (x *search) accept(p *proposal) {
	p.ledger.commit()
	x.fleet = x.fleet.With(p.asked, p.answer)
	for _, pod := range p.asked.Pods {
		x.need(pod)
	}
	x.enter(p)
}

// enter puts a disruption into the plan.
func (x *search) enter(p *proposal) {
	d := plan.Disruption{Reason: p.reason, Savings: p.savings(), Scores: p.scores, Evict: append([]snapshot.PodIndex{}, p.landing.Evict...), DeleteFirst: p.asked.Instead}
	for _, n := range p.landing.Guide {
		d.Guide = append(d.Guide, x.nodes[n].Name)
	}
	for _, n := range p.nodes {
		node := &x.nodes[n]
		node.state = gone
		node.prospect.Kind, node.prospect.Reason, node.prospect.Disruption = plan.Chosen, p.reason, len(x.list)
		node.prospect.Cause, node.prospect.Until = reason.Cause{}, time.Time{}
		d.Nodes = append(d.Nodes, plan.Removal{
			Node: node.Name, Claim: node.Claim, Pool: node.Node.Pool, Price: node.Price, Pods: append([]snapshot.PodIndex{}, node.pods...),
		})
	}
	for _, l := range p.answer.Existing {
		x.take(&x.nodes[l.Node], l.Pods)
		d.Moves = append(d.Moves, plan.Placement{Node: x.nodes[l.Node].Name, Pods: slices.Clone(l.Pods)})
	}
	for _, c := range p.answer.Claims {
		x.names[c.Pool]++
		c.Name = c.Pool + "-" + strconv.Itoa(x.names[c.Pool])
		c.Pods = slices.Clone(c.Pods)
		d.Replacements = append(d.Replacements, c)
	}
	x.list = append(x.list, d)
}

// receives reports whether a node may take pods that move: it is in service, stays, and has not drifted. As
// in Karpenter, nodes to which pods came too recently take none either, because those pods may soon leave.
func (x *search) receives(n *node) bool {
	if n.state == gone || !n.Initialized || n.Life.Unready || n.Unschedulable || !x.fleet.Stays(n.at) || n.Life.Drifted != "" {
		return false
	}
	if n.pool == noPool || x.s.Pools[n.pool].Consolidation.After == nil {
		return true
	}
	return !n.Life.Quiet.Add(*x.s.Pools[n.pool].Consolidation.After).After(x.s.Now)
}
