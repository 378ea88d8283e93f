package check

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// world is a snapshot and a plan for it, built side by side.
type world struct {
	s *snapshot.Snapshot
	p *plan.Plan
}

const (
	gib = int64(1) << 30
	usd = model.Unit
)

// newWorld sells small (2 cores) and large (8 cores) machines in two zones, on demand and
// spot, to one pool.
func newWorld() *world {
	w := &world{s: &snapshot.Snapshot{}, p: &plan.Plan{}}
	w.s.Settings.WellKnown = requirement.Core().WellKnown()
	w.s.Catalogs = []catalog.Catalog{{Types: []catalog.Type{kind("small", 2, usd), kind("large", 8, 4*usd)}}}
	w.pool("default")
	return w
}

func kind(name string, cores int64, price model.Money) catalog.Type {
	t := catalog.Type{
		Name:     name,
		Capacity: model.Resources{CPU: cores * 1000, Memory: cores * 4 * gib, Pods: 10},
		Overhead: model.Resources{CPU: 100, Memory: gib / 2},
		Requirements: requirement.NewSet(
			requirement.New(requirement.KeyInstanceType, requirement.In, name),
			requirement.New(requirement.KeyArch, requirement.In, "amd64"),
			requirement.New(requirement.KeyOS, requirement.In, "linux"),
			requirement.New(requirement.KeyZone, requirement.In, "a", "b"),
			requirement.New(requirement.KeyCapacityType, requirement.In, "on-demand", "spot"),
			requirement.New(requirement.KeyRegion, requirement.DoesNotExist),
			requirement.New(requirement.KeyWindowsBuild, requirement.DoesNotExist),
		),
	}
	for _, zone := range []string{"a", "b"} {
		t.Offerings = append(t.Offerings,
			catalog.Offering{Zone: zone, CapacityType: "on-demand", Price: price, Available: true},
			catalog.Offering{Zone: zone, CapacityType: "spot", Price: price / 2, Available: true})
	}
	return t
}

func (w *world) pool(name string, asks ...requirement.Requirement) *snapshot.Pool {
	asks = append(asks, requirement.New(requirement.KeyNodePool, requirement.In, name))
	w.s.Pools = append(w.s.Pools, snapshot.Pool{Name: name, Requirements: requirement.NewSet(asks...)})
	return &w.s.Pools[len(w.s.Pools)-1]
}

func (w *world) kind(name string) *catalog.Type {
	for i := range w.s.Catalogs[0].Types {
		if t := &w.s.Catalogs[0].Types[i]; t.Name == name {
			return t
		}
	}
	panic("no type " + name)
}

func (w *world) offering(kindName, zone, capacityType string) *catalog.Offering {
	t := w.kind(kindName)
	for i := range t.Offerings {
		if o := &t.Offerings[i]; o.Zone == zone && o.CapacityType == capacityType {
			return o
		}
	}
	panic("no offering")
}

// pod adds a pending pod of half a core with labels app=name.
func (w *world) pod(name string, changes ...func(*snapshot.Template)) snapshot.PodIndex {
	t := snapshot.Template{
		Namespace: "default", Owner: "Deployment/" + name,
		Labels:   map[string]string{"app": name},
		Requests: model.Resources{CPU: 500, Memory: gib, Pods: 1},
	}
	for _, change := range changes {
		change(&t)
	}
	w.s.Templates = append(w.s.Templates, t)
	i := snapshot.PodIndex(len(w.s.Pods))
	w.s.Pods = append(w.s.Pods, snapshot.Pod{
		Namespace: t.Namespace, Name: name + "-" + strconv.Itoa(int(i)), Template: snapshot.TemplateIndex(len(w.s.Templates) - 1), Pending: true,
	})
	return i
}

// bound adds a running pod.
func (w *world) bound(node, name string, changes ...func(*snapshot.Template)) snapshot.PodIndex {
	i := w.pod(name, changes...)
	w.s.Pods[i].Pending, w.s.Pods[i].Node = false, node
	return i
}

func (w *world) daemon(name string, changes ...func(*snapshot.Template)) {
	i := w.pod(name, changes...)
	template := w.s.Pods[i].Template
	w.s.Pods = w.s.Pods[:i]
	w.s.Templates[template].Daemon = true
	w.s.Daemons = append(w.s.Daemons, snapshot.Daemon{Namespace: "default", Name: name, Template: template})
}

// node adds an existing small node in a zone.
func (w *world) node(name, zone string) *snapshot.Node {
	small := w.kind("small")
	w.s.Nodes = append(w.s.Nodes, snapshot.Node{
		Name: name, Pool: "default", Initialized: true,
		Labels: map[string]string{
			requirement.KeyZone: zone, requirement.KeyArch: "amd64", requirement.KeyHostname: name, requirement.KeyNodePool: "default",
		},
		Capacity: small.Capacity, Allocatable: small.Allocatable(&small.Offerings[0]),
	})
	return &w.s.Nodes[len(w.s.Nodes)-1]
}

func (w *world) place(node string, pods ...snapshot.PodIndex) {
	w.p.Existing = append(w.p.Existing, plan.Placement{Node: node, Pods: pods})
}

func (w *world) unplaced(pod snapshot.PodIndex) {
	w.p.Unplaced = append(w.p.Unplaced, plan.Unplaced{Pod: pod, Verdict: &reason.Verdict{General: reason.Reason{Code: reason.NoPools}}})
}

// claim buys the first offer for the pods, with the others as alternatives.
func (w *world) claim(pool string, pods []snapshot.PodIndex, offers ...string) *plan.Claim {
	c := plan.Claim{Name: pool + "-" + strconv.Itoa(len(w.p.Claims)+1), Pool: pool, Pods: pods}
	var list []plan.Offer
	var kinds, zones, capacityTypes []string
	for _, text := range offers {
		o := w.offer(text)
		list = append(list, o)
		kinds, zones, capacityTypes = append(kinds, o.InstanceType), append(zones, o.Zone), append(capacityTypes, o.CapacityType)
	}
	c.Offer, c.Alternatives = list[0], plan.List(list[1:]...)
	for i := range w.s.Pools {
		if w.s.Pools[i].Name == pool {
			c.Taints, c.StartupTaints, c.Requirements = w.s.Pools[i].Taints, w.s.Pools[i].StartupTaints, w.s.Pools[i].Requirements
		}
	}
	c.Requirements = c.Requirements.With(
		requirement.New(requirement.KeyInstanceType, requirement.In, kinds...),
		requirement.New(requirement.KeyZone, requirement.In, zones...),
		requirement.New(requirement.KeyCapacityType, requirement.In, capacityTypes...),
	)
	t := w.kind(c.Offer.InstanceType)
	c.Capacity, c.Allocatable = t.Capacity, t.Allocatable(&t.Offerings[0])
	for _, pod := range pods {
		c.Requests = c.Requests.Add(w.s.Templates[w.s.Pods[pod].Template].Requests)
	}
	w.p.Claims = append(w.p.Claims, c)
	w.p.Cost.New += c.Offer.Price
	w.p.Cost.LowerBound = w.p.Cost.New / 2
	return &w.p.Claims[len(w.p.Claims)-1]
}

// offer reads "small/a/spot".
func (w *world) offer(text string) plan.Offer {
	parts := [3]string{}
	copy(parts[:], splitSlash(text))
	o := w.offering(parts[0], parts[1], parts[2])
	return plan.Offer{InstanceType: parts[0], Zone: parts[1], CapacityType: parts[2], Reservation: o.ReservationID, Price: o.Price}
}

func splitSlash(text string) []string {
	var out []string
	for {
		i := slices.Index([]byte(text), '/')
		if i < 0 {
			return append(out, text)
		}
		out, text = append(out, text[:i]), text[i+1:]
	}
}

// found are the rules that the plan breaks, each once, in the order in which they are
// found.
func (w *world) found() []Rule {
	var out []Rule
	for _, v := range Plan(w.s, w.p) {
		if !slices.Contains(out, v.Rule) {
			out = append(out, v.Rule)
		}
	}
	return out
}

// cases are named plans with the rules that they break; none, if they are good.
type cases map[string]struct {
	build func(w *world)
	want  []Rule
}

func (c cases) run(t *testing.T) {
	t.Parallel()
	for name, tc := range c {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			tc.build(w)
			if diff := cmp.Diff(tc.want, w.found()); diff != "" {
				t.Errorf("rules broken (-want +got):\n%s", diff)
				for _, v := range Plan(w.s, w.p) {
					t.Log(v)
				}
			}
		})
	}
}
