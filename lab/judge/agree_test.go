package judge

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"tenon/core/check"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/testing/randomcluster"
)

// schedulerRules are the rules of core/check that the scheduler has too.
var schedulerRules = []check.Rule{
	check.Taint, check.Label, check.Volume, check.VolumeLimit, check.HostPort, check.Room,
	check.Spread, check.Affinity, check.AffinityOrder, check.AntiAffinity,
}

// TestCheckAndSchedulerAgree makes random plans, good ones and bad ones, and asks both the verifier and
// the scheduler. The verifier implements the scheduler's rules anew; this test shows, in both directions,
// that it has them right.
func TestCheckAndSchedulerAgree(t *testing.T) {
	t.Parallel()
	accepted, refused := 0, 0
	for seed := *first; seed < *first+*seeds; seed++ {
		c := randomcluster.World(seed, 8)
		s := c.Snapshot()
		if staysBehind(s) {
			continue // the verifier sees the remains of leaving nodes, the scheduler does not
		}
		p := randomPlan(rand.New(rand.NewPCG(seed, 1)), s)
		found := broken(s, p)
		judged, err := Judge(context.Background(), c.Listing(), s, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if (len(found) == 0) != (len(judged) == 0) {
			t.Errorf("seed %d: the verifier finds %v, the scheduler refuses %v\n%s", seed, found, judged, describePlan(s, p))
		}
		if len(judged) == 0 {
			accepted++
		} else {
			refused++
		}
	}
	if total := int(*seeds); accepted < total/10 || refused < total/10 {
		t.Errorf("%d plans are accepted and %d refused: too few of one kind to prove anything", accepted, refused)
	}
}

// staysBehind reports whether some pod stays on a leaving node.
func staysBehind(s *snapshot.Snapshot) bool {
	leaving := map[string]bool{}
	for _, n := range s.Nodes {
		leaving[n.Name] = n.Leaving
	}
	return slices.ContainsFunc(s.Pods, func(p snapshot.Pod) bool { return leaving[p.Node] && !p.Movable && !p.Terminating })
}

func broken(s *snapshot.Snapshot, p *plan.Plan) []check.Violation {
	return slices.DeleteFunc(check.Plan(s, p), func(v check.Violation) bool { return !slices.Contains(schedulerRules, v.Rule) })
}

// randomPlan places a few pods, most of them where the verifier sees nothing wrong.
func randomPlan(d *rand.Rand, s *snapshot.Snapshot) *plan.Plan {
	p := &plan.Plan{}
	for _, i := range d.Perm(len(s.Pods)) {
		pod := &s.Pods[i]
		if !pod.Pending && !pod.Movable || len(pod.Refused) > 0 || len(p.Claims)+len(p.Existing) > 4 {
			continue
		}
		careless := d.IntN(100) < 8
		for range 12 {
			next := withPod(d, s, p, snapshot.PodIndex(i))
			if next != nil && (careless || len(broken(s, next)) == 0) {
				p = next
				break
			}
		}
	}
	return p
}

// withPod puts the pod somewhere: on a node, on a claim that the plan has, or on one more.
func withPod(d *rand.Rand, s *snapshot.Snapshot, p *plan.Plan, pod snapshot.PodIndex) *plan.Plan {
	out := &plan.Plan{Claims: slices.Clone(p.Claims), Existing: slices.Clone(p.Existing)}
	switch n := d.IntN(10); {
	case n < 4 && len(s.Nodes) > 0:
		node := &s.Nodes[d.IntN(len(s.Nodes))]
		if node.Leaving {
			return nil
		}
		at := slices.IndexFunc(out.Existing, func(e plan.Placement) bool { return e.Node == node.Name })
		if at < 0 {
			at = len(out.Existing)
			out.Existing = append(out.Existing, plan.Placement{Node: node.Name})
		}
		out.Existing[at].Pods = append(slices.Clone(out.Existing[at].Pods), pod)
	case n < 7 && len(out.Claims) > 0:
		at := d.IntN(len(out.Claims))
		out.Claims[at].Pods = append(slices.Clone(out.Claims[at].Pods), pod)
	default:
		claim := randomClaim(d, s)
		if claim == nil {
			return nil
		}
		claim.Name, claim.Pods = claim.Pool+"-new-"+string(rune('a'+len(out.Claims))), []snapshot.PodIndex{pod}
		out.Claims = append(out.Claims, *claim)
	}
	return out
}

func randomClaim(d *rand.Rand, s *snapshot.Snapshot) *plan.Claim {
	pool := &s.Pools[d.IntN(len(s.Pools))]
	types := s.Catalogs[pool.Catalog].Types
	if len(types) == 0 {
		return nil
	}
	kind := &types[d.IntN(len(types))]
	o := kind.Offerings[d.IntN(len(kind.Offerings))]
	claim := &plan.Claim{
		Pool:         pool.Name,
		Offer:        plan.Offer{InstanceType: kind.Name, Zone: o.Zone, CapacityType: o.CapacityType, Reservation: o.ReservationID, Price: o.Price},
		Requirements: pool.Requirements.With(requirement.New(requirement.KeyZone, requirement.In, o.Zone)),
		Labels:       map[string]string{},
	}
	for r := range pool.Requirements.All() {
		if values := r.Values(); !s.Settings.WellKnown.Contains(r.Key()) && r.Operator() == requirement.In {
			claim.Labels[r.Key()] = values[d.IntN(len(values))]
		}
	}
	if _, err := check.Labels(s, claim, claim.Offer); err != nil {
		return nil
	}
	return claim
}

func describePlan(s *snapshot.Snapshot, p *plan.Plan) string {
	text := ""
	line := func(node string, pods []snapshot.PodIndex) {
		text += node + ":"
		for _, i := range pods {
			text += " " + s.Pods[i].Key()
		}
		text += "\n"
	}
	for _, c := range p.Claims {
		line(c.Name+" "+c.Offer.InstanceType+"/"+c.Offer.Zone+"/"+c.Offer.CapacityType, c.Pods)
	}
	for _, e := range p.Existing {
		line(e.Node, e.Pods)
	}
	return text
}
