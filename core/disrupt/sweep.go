package disrupt

import (
	"cmp"
	"slices"

	"tenon/core/plan"
	"tenon/core/provision/fleet"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// sweep looks at every node that is left, one by one, those first that cost most for their
// evictions; it goes on where the last evaluation stopped.
func (x *search) sweep() {
	list := x.remaining()
	from := 0
	if x.budget.After != "" {
		from = slices.IndexFunc(list, func(at snapshot.NodeIndex) bool { return x.nodes[at].Name == x.budget.After }) + 1
	}
	list = slices.Concat(list[from:], list[:from])
	for i, at := range list {
		n := &x.nodes[at]
		if i > 0 && x.spent() { // one at least, or it would never come to an end
			n.skip(plan.Underutilized)
			if x.next == "" {
				x.next = x.nodes[list[i-1]].Name
			}
			continue
		}
		x.swept++
		x.lookAt(n)
	}
}

// leaveOut leaves the nodes whose pods might cost less elsewhere to a later evaluation.
func (x *search) leaveOut() {
	for i := range x.nodes {
		if n := &x.nodes[i]; !n.isEmpty() && n.state == consolidatable {
			n.skip(plan.Underutilized)
		}
	}
}

// remaining are the nodes to look at, most price for least cost first.
func (x *search) remaining() []snapshot.NodeIndex {
	var out []snapshot.NodeIndex
	for i := range x.nodes {
		n := &x.nodes[i]
		switch {
		case n.isEmpty():
		case n.state == consolidatable:
			out = append(out, n.at)
		case n.state == receiving:
			n.keep(plan.Kept, plan.Underutilized, reason.Cause{Code: reason.TakesPods})
		}
	}
	slices.SortFunc(out, func(a, b snapshot.NodeIndex) int {
		return cmp.Or(cmp.Compare(x.pricePerPod(b), x.pricePerPod(a)), cmp.Compare(x.nodes[a].Name, x.nodes[b].Name), cmp.Compare(a, b))
	})
	return out
}

// pricePerPod is the price for each ordinary pod that would have to move, as users know it.
func (x *search) pricePerPod(at snapshot.NodeIndex) float64 {
	n := &x.nodes[at]
	return float64(n.Price) / (1 + float64(n.cost)/ordinary)
}

// lookAt gives a single node up if that is worth it, and says what keeps it otherwise.
func (x *search) lookAt(n *node) {
	if n.state == receiving {
		n.keep(plan.Kept, plan.Underutilized, reason.Cause{Code: reason.TakesPods})
		return
	}
	ledger := x.newBudgetUse(plan.Underutilized)
	if cause, ok := ledger.add(n); !ok {
		x.hold(n, plan.Underutilized, cause)
		return
	}
	receivers, dearest := x.outlook(n.moving, n.at)
	if most := float64(n.Price) - dearest; most <= n.worth {
		n.keep(plan.Kept, plan.Underutilized, x.notCheaper(n, most))
		return
	}
	p, refused := x.propose(plan.Underutilized, []snapshot.NodeIndex{n.at}, receivers, true)
	if refused != nil {
		n.keep(refused.kind(plan.Kept), plan.Underutilized, x.causeOf(refused))
		return
	}
	p.ledger = ledger
	cause, ok := x.cheaper(p)
	if !ok && cause.Code == reason.NotCheaper {
		cause = x.notCheaper(n, float64(p.savings()))
	}
	if ok {
		cause, ok = x.balanced(p)
	}
	if ok && !x.lands(p) {
		cause, ok = reason.Cause{Code: reason.NotLanding}, false
	}
	if !ok {
		n.keep(plan.Kept, plan.Underutilized, cause)
		return
	}
	x.accept(p)
}

// lands reports whether a proposal is still worth it when kube-scheduler spreads the pods differently and
// nodes have to be bought for those that find no room.
func (x *search) lands(p *proposal) bool {
	if x.forecast == nil {
		x.forecast = x.fleet.NewForecast()
	}
	if x.s.Settings.GuideMoves {
		x.fleet.KeepZones(p.asked, p.answer)
	}
	p.landing = x.forecast.Try(p.asked, p.answer)
	if len(p.landing.Strays) == 0 {
		return true
	}
	for _, effort := range []int64{leastEffort, p.asked.Effort} { // mostly the first nodes that come to mind are cheap enough
		bought, obstacle := x.fleet.Ask(fleet.Question{Nodes: p.nodes, Pods: p.landing.Strays, Buy: true, Effort: effort})
		if obstacle == nil && p.gain() > float64(bought.Price) {
			return true
		}
	}
	x.forecast.Drop()
	return false
}

// notCheaper tells why too little is saved; sometimes only an upper bound of the savings is known. It has
// no numbers, because they would change every time.
func (x *search) notCheaper(n *node, most float64) reason.Cause {
	switch recently := x.s.Now.Add(-2 * movedFor); {
	case most > n.value*rate && movedAt(n.Life.Rearranged, x.s.Now).After(recently):
		return reason.Cause{Code: reason.RecentlyMoved}
	case most > float64(n.Price)/100:
		return reason.Cause{Code: reason.SavingsTooSmall}
	}
	return reason.Cause{Code: reason.NotCheaper}
}

// manyReceivers is how many nodes with room are asked about for one node's pods, beside
// those where its pods were found to fit.
const manyReceivers = 16

// outlook finds nodes, but for one, that could take some pods, the tightest first, and what
// those pods that fit nowhere would cost at the least.
func (x *search) outlook(moving []snapshot.PodIndex, but snapshot.NodeIndex) (receivers []snapshot.NodeIndex, dearest float64) {
	pods := slices.Clone(moving)
	slices.SortFunc(pods, func(a, b snapshot.PodIndex) int {
		return cmp.Or(cmp.Compare(x.value[b], x.value[a]), cmp.Compare(a, b))
	})
	taken, stay := map[snapshot.NodeIndex][]int64{}, x.stay(moving)
	for _, p := range pods {
		at := x.someRoom(p, but, stay, taken)
		if at < 0 {
			dearest += x.value[p]
			continue
		}
		if !slices.Contains(receivers, at) {
			receivers = append(receivers, at)
		}
	}
	for _, at := range x.withRoom() {
		if len(receivers) >= len(taken)+manyReceivers {
			break
		}
		if at != but && x.takes(&x.nodes[at], stay) && !slices.Contains(receivers, at) {
			receivers = append(receivers, at)
		}
	}
	return receivers, dearest
}

// someRoom finds a node where the pod would fit beside those that it was found for before.
func (x *search) someRoom(p snapshot.PodIndex, but snapshot.NodeIndex, stay bool, taken map[snapshot.NodeIndex][]int64) snapshot.NodeIndex {
	need := x.fleet.Need(p)
	for _, at := range x.withRoom() {
		if at == but || !x.takes(&x.nodes[at], stay) {
			continue
		}
		room := taken[at]
		if room == nil {
			room = x.fleet.Room(at)
		}
		if most(need, room) > 0 && x.fleet.Admits(p, at) {
			left := slices.Clone(room)
			for d, want := range need {
				left[d] -= want
			}
			taken[at] = left
			return at
		}
	}
	return -1
}

// withRoom are the nodes that could take the smallest pods, those with least room first;
// before them those that are worth their price, since others may be the next to go. The
// list is made anew when something was accepted.
func (x *search) withRoom() []snapshot.NodeIndex {
	if x.free != nil && x.freeAsOf == len(x.list) {
		return x.free
	}
	x.free, x.freeAsOf = []snapshot.NodeIndex{}, len(x.list)
	least := x.leastNeed()
	for i := range x.nodes {
		if n := &x.nodes[i]; x.receives(n) && most(least, x.fleet.Room(n.at)) > 0 {
			x.free = append(x.free, n.at)
		}
	}
	slices.SortFunc(x.free, func(a, b snapshot.NodeIndex) int {
		return cmp.Or(cmp.Compare(x.nearlyWorth(a), x.nearlyWorth(b)), x.compareRoom(a, b))
	})
	return x.free
}

// nearlyWorth is 1 for nodes that would be given up if their pods could be had at their value
// elsewhere.
func (x *search) nearlyWorth(at snapshot.NodeIndex) int {
	if n := &x.nodes[at]; n.state == consolidatable && n.wasteful() {
		return 1
	}
	return 0
}

// leastNeed is less than any pod takes of any resource.
func (x *search) leastNeed() []int64 {
	var least []int64
	for i := range x.nodes {
		for _, p := range x.nodes[i].moving {
			need := x.fleet.Need(p)
			if least == nil {
				least = slices.Clone(need)
			}
			for d := range need {
				least[d] = min(least[d], need[d])
			}
		}
	}
	return least
}

func (x *search) compareRoom(a, b snapshot.NodeIndex) int {
	return cmp.Or(slices.Compare(x.fleet.Room(a), x.fleet.Room(b)), cmp.Compare(x.nodes[a].Name, x.nodes[b].Name), cmp.Compare(a, b))
}

const ordinary = float64(1 << 27)
