package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// A line has the first entries of long lists, and their number. The rest is in the snapshot.
const (
	mostLaunches    = 40
	mostUnplaced    = 8
	mostNames       = 5
	mostDisruptions = 40
)

// summary is a decision as a line of the journal, without the digests.
func summary(r *Record) *Decision {
	s, p := r.Snapshot, &r.Decision.Plan
	d := &Decision{
		At: s.Now.UTC(), By: r.By, Woke: r.Woke, TookMicros: r.Took.Microseconds(), Effort: effortOf(r.Effort),
		Cost: costOf(s, p, r.Decision.Bound), Held: len(p.Held),
	}
	launched := map[Launch]int{}
	for i := range p.Claims {
		d.launch(launched, &p.Claims[i])
	}
	for i := range p.Disruptions {
		d.disruption(&p.Disruptions[i])
	}
	for i := range p.Existing {
		d.Placed += len(p.Existing[i].Pods)
	}
	d.unplaced(s, p)
	for i := range p.Prospects {
		o := &p.Prospects[i]
		if o.Kind == plan.Chosen {
			continue
		}
		if d.Kept == nil {
			d.Kept = map[string]int{}
		}
		d.Kept[string(o.Cause.Code)]++
	}
	return d
}

// launch adds a claim to those of the same offer.
func (d *Decision) launch(at map[Launch]int, c *plan.Claim) {
	key := Launch{
		Pool: c.Pool, InstanceType: c.Offer.InstanceType, Zone: c.Offer.Zone, CapacityType: c.Offer.CapacityType,
		Price: c.Offer.Price.Float(), WaitsFor: string(c.Delay.Code),
	}
	i, known := at[key]
	if !known {
		if len(d.Launches) == mostLaunches {
			return
		}
		i = len(d.Launches)
		at[key], d.Launches = i, append(d.Launches, key)
	}
	d.Launches[i].Nodes++
	d.Launches[i].Pods += len(c.Pods)
}

func (d *Decision) disruption(x *plan.Disruption) {
	if len(d.Disruptions) == mostDisruptions {
		return
	}
	out := Disruption{
		Reason: string(x.Reason), Decision: x.Decision(), Replacements: len(x.Replacements), Evictions: x.Evictions(),
		Savings: x.Savings.Float(), WaitsFor: string(x.Delay.Code),
	}
	for i := range x.Nodes {
		out.Nodes = append(out.Nodes, x.Nodes[i].Node)
	}
	d.Disruptions = append(d.Disruptions, out)
}

// unplaced groups pods by their verdict, which pods of one shape share.
func (d *Decision) unplaced(s *snapshot.Snapshot, p *plan.Plan) {
	at := map[*reason.Verdict]int{}
	for _, u := range p.Unplaced {
		i, known := at[u.Verdict]
		if !known {
			if len(d.Unplaced) == mostUnplaced {
				continue
			}
			i = len(d.Unplaced)
			at[u.Verdict] = i
			d.Unplaced = append(d.Unplaced, Unplaced{Why: u.Verdict.Text()})
		}
		group := &d.Unplaced[i]
		group.Pods++
		if len(group.Names) < mostNames {
			group.Names = append(group.Names, s.Pods[u.Pod].Key())
		}
	}
}

// costOf covers everything that the plan does, including disruptions.
func costOf(s *snapshot.Snapshot, p *plan.Plan, bound model.Money) *Cost {
	whole := p.Whole(bound)
	before, after := whole.Fleet(s)
	return &Cost{New: whole.Cost.New.Float(), LowerBound: whole.Cost.LowerBound.Float(), Before: before.Float(), After: after.Float()}
}

// said is a digest that is the same for equal decisions.
func (d *Decision) said() string {
	same := *d
	same.At, same.Woke, same.TookMicros, same.Effort = time.Time{}, "", 0, nil
	text, err := json.Marshal(same)
	if err != nil { // it has no value that cannot be written
		panic(fmt.Sprintf("write a decision: %s", err))
	}
	return digestOf(text)
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Digest distinguishes plans: two plans with the same digest are the same to the byte, including
// alternatives.
func Digest(p *plan.Plan) string {
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode(p); err != nil {
		panic(fmt.Sprintf("write a plan: %s", err))
	}
	claims := slices.Concat(p.Claims, p.Spare)
	for i := range p.Disruptions {
		claims = append(claims, p.Disruptions[i].Replacements...)
	}
	for i := range claims {
		for o := range claims[i].Alternatives.All() {
			fmt.Fprintf(hash, "%s/%s/%s/%s/%d\n", o.InstanceType, o.Zone, o.CapacityType, o.Reservation, o.Price)
		}
		fmt.Fprintln(hash, claims[i].Name)
	}
	return hex.EncodeToString(hash.Sum(nil))
}
