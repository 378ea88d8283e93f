package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// crossing is a fleet with a node that leaves and a receiver in each zone. held says how many pods of each template leave each zone, and
// moves how many of them go from one zone to another; the others go to the receiver of their zone.
func crossing(held [][]int, moves map[[3]int]int) (*Fleet, Question, Answer) {
	of := func(cpu int64) model.Resources { return model.Resources{CPU: cpu, Memory: 64 << 30, Pods: 1000} }
	zones := len(held[0])
	s := &snapshot.Snapshot{Settings: snapshot.Settings{GuideMoves: true}}
	for z := range 2 * zones { // receivers first
		name, zone := fmt.Sprintf("%s-%d", []string{"at", "from"}[z/zones], z%zones), fmt.Sprintf("zone-%d", z%zones)
		s.Nodes = append(s.Nodes, snapshot.Node{
			Name: name, Claim: name, Zone: zone, Initialized: true, Capacity: of(100_000), Allocatable: of(100_000), Labels: map[string]string{requirement.KeyZone: zone},
		})
	}
	var q Question
	to := make([][]snapshot.PodIndex, zones)
	for t := range held {
		s.Templates = append(s.Templates, snapshot.Template{
			Namespace: "default", Requests: model.Resources{CPU: int64(100 + t), Memory: 1 << 20, Pods: 1},
			Spreads: []snapshot.Spread{{Key: requirement.KeyZone, MaxSkew: 1}},
		})
		for z, n := range held[t] {
			goes := slices.Repeat([]int{z}, n)
			i := 0
			for into := range zones {
				for range moves[[3]int{t, z, into}] {
					goes[i] = into
					i++
				}
			}
			for j, into := range goes {
				p := snapshot.PodIndex(len(s.Pods))
				s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("%d-%d-%02d", t, z, j), Node: fmt.Sprintf("from-%d", z), Template: snapshot.TemplateIndex(t)})
				to[into], q.Pods = append(to[into], p), append(q.Pods, p)
			}
		}
	}
	var a Answer
	for z := range zones {
		q.Nodes = append(q.Nodes, snapshot.NodeIndex(zones+z))
		a.Existing = append(a.Existing, HostPods{Node: snapshot.NodeIndex(z), Pods: to[z]})
	}
	return New(snapshot.Sort(s, nil), &plan.Plan{}, nil), q, a
}

// evenMoves draws how many pods leave each zone, and which of them go to other zones so that the zones get the same, but for one.
func evenMoves(dice *rand.Rand, templates, zones int) (held [][]int, moves map[[3]int]int) {
	moves = map[[3]int]int{}
	for t := range templates {
		var pods []int
		total := 0
		for range zones {
			pods = append(pods, 1+dice.IntN(12))
			total += pods[len(pods)-1]
		}
		held = append(held, slices.Clone(pods))
		want := func(zone int) int { return (total + zone) / zones }
		for into := range zones {
			for from := range zones {
				n := min(pods[from]-want(from), want(into)-pods[into])
				if n > 0 {
					moves[[3]int{t, from, into}] = n
					pods[from], pods[into] = pods[from]-n, pods[into]+n
				}
			}
		}
	}
	return held, moves
}

// Pods that change zones are evicted in an order in which a spread lets each successor into the zone of the receiver that is open.
func TestZoneTurns(t *testing.T) {
	t.Parallel()
	const zones = 4
	dice := rand.New(rand.NewPCG(1, 1))
	for draw := range 200 {
		held, moves := evenMoves(dice, 2+dice.IntN(5), zones)
		crossers := 0
		for _, n := range moves {
			crossers += n
		}
		f, q, a := crossing(held, moves)
		planned := map[snapshot.PodIndex]int{}
		for zone, h := range a.Existing {
			for _, p := range h.Pods {
				planned[p] = zone
			}
		}
		order := f.NewForecast().Try(q, a).Evict[:crossers]
		for len(order) > 0 {
			zone, n := planned[order[0]], 0
			for ; n < len(order) && planned[order[n]] == zone; n++ { // while its receiver is open
				pod := &f.Snapshot.Pods[order[n]]
				from := int(pod.Node[len("from-")] - '0')
				if from == zone {
					t.Fatalf("draw %d: pod %s stays in its zone, and is evicted before pods that change theirs", draw, pod.Name)
				}
				held[pod.Template][from]--
			}
			for _, p := range order[:n] {
				pod := &f.Snapshot.Pods[p]
				pods := held[pod.Template]
				if pods[zone]++; pods[zone]-slices.Min(pods) > 1 {
					t.Fatalf("draw %d: the successor of pod %s may not go to zone %d: pods by zone would be %v", draw, pod.Name, zone, pods)
				}
			}
			order = order[n:]
		}
	}
}

// Pods that an earlier disruption of the decision moves count in their new zones, and no longer in those that they leave.
func TestZoneTurnsAfterOtherMoves(t *testing.T) {
	t.Parallel()
	f, q, a := crossing([][]int{{1, 6, 2}, {2, 3, 1}}, map[[3]int]int{{0, 1, 0}: 2, {0, 1, 2}: 1, {1, 1, 2}: 1})
	earlier := func(p snapshot.PodIndex) bool { return f.Snapshot.Pods[p].Node == "from-0" }
	later := func(p snapshot.PodIndex) bool { return !earlier(p) }
	only := func(which func(snapshot.PodIndex) bool, nodes []snapshot.NodeIndex) (Question, Answer) {
		out := Question{Nodes: nodes, Pods: slices.DeleteFunc(slices.Clone(q.Pods), func(p snapshot.PodIndex) bool { return !which(p) })}
		var answer Answer
		for _, h := range a.Existing {
			answer.Existing = append(answer.Existing, HostPods{Node: h.Node, Pods: slices.DeleteFunc(slices.Clone(h.Pods), func(p snapshot.PodIndex) bool { return !which(p) })})
		}
		return out, answer
	}
	forecast := f.NewForecast()
	forecast.Try(only(earlier, q.Nodes[:1]))
	first := forecast.Try(only(later, q.Nodes[1:])).Evict[:2]
	for _, p := range first {
		if !slices.Contains(a.Existing[0].Pods, p) {
			t.Errorf("pod %s goes first, although zone 0 has the fewest pods of template 0", f.Snapshot.Pods[p].Name)
		}
	}
}
