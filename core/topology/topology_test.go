package topology

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

const zone = requirement.KeyZone

// zones is an atlas where every shape may go to every zone, the first being cheapest.
type zones []string

func (z zones) Domains(int, string, []Pin) []Domain { return z.Within(nil, "") }

func (z zones) Within([]*feasible.Places, string) []Domain {
	var out []Domain
	for i, value := range z {
		out = append(out, Domain{Value: value, Price: model.Money(i)})
	}
	return out
}

// fixture makes shapes of templates, all pods in one namespace.
type fixture struct {
	reg    *Registry
	sp     *feasible.Space
	shapes []Shape
}

func newFixture(counts []int, templates ...snapshot.Template) *fixture {
	s := &snapshot.Snapshot{Templates: templates}
	askers := make([]snapshot.TemplateIndex, len(templates))
	for i := range askers {
		askers[i] = snapshot.TemplateIndex(i)
	}
	out := &fixture{reg: NewRegistry(), sp: feasible.Compile(s, askers)}
	for i := range templates {
		v := out.sp.Variant(&templates[i], 0)
		out.reg.Enter(&templates[i], &v, Node{})
	}
	for i := range templates {
		v := out.sp.Variant(&templates[i], 0)
		rules := out.reg.Rules(&templates[i], &v, Node{})
		out.shapes = append(out.shapes, Shape{Rules: &rules, Places: []*feasible.Places{out.sp.Find(v.Alternatives[0])}, Count: counts[i]})
	}
	return out
}

func (s *fixture) assigner(atlas Atlas, strategy Strategy) *Assigner {
	return NewAssigner(s.sp, s.reg, atlas, s.shapes, strategy)
}

func (s *fixture) counts() []int {
	var out []int
	for _, p := range s.shapes {
		out = append(out, p.Count)
	}
	return out
}

func labelled(app string, changes ...func(*snapshot.Template)) snapshot.Template {
	t := snapshot.Template{Namespace: "default", Labels: map[string]string{"app": app}, Requests: model.Resources{Pods: 1}}
	for _, change := range changes {
		change(&t)
	}
	return t
}

func selecting(app string) model.Selector {
	return model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{app}}}}
}

func spread(key, app string, skew int32) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.Spreads = append(t.Spreads, snapshot.Spread{Key: key, MaxSkew: skew, Selector: selecting(app), IgnoreNodeAffinity: true})
	}
}

func near(key, app string) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.Affinity = append(t.Affinity, snapshot.AffinityTerm{Key: key, Namespaces: []string{"default"}, Selector: selecting(app)})
	}
}

func away(key, app string) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.AntiAffinity = append(t.AntiAffinity, snapshot.AffinityTerm{Key: key, Namespaces: []string{"default"}, Selector: selecting(app)})
	}
}

// byZone counts the pods of a shape in each zone; pods without a pin are in none.
func byZone(portions []Portion, shape int) map[string]int {
	out := map[string]int{}
	for _, p := range portions {
		if p.Shape != shape {
			continue
		}
		where := ""
		for _, pin := range p.Pins {
			if len(pin.Values) == 1 {
				where = pin.Values[0]
			}
		}
		out[where] += p.Count
	}
	return out
}

func lost(failures []Failure) int {
	n := 0
	for _, f := range failures {
		n += f.Count
	}
	return n
}

// A rule on hostname is a cap or a need of one node; on other keys it is about domains.
func TestRulesByKey(t *testing.T) {
	t.Parallel()
	host := feasible.HostnameKey
	s := newFixture([]int{1}, labelled("web", spread(host, "web", 2), away(host, "db"), near(host, "web"), spread(zone, "web", 1), away(zone, "db"), near(zone, "web")))
	r := s.shapes[0].Rules
	if len(r.HostCaps) != 2 || len(r.HostNeeds) != 1 || len(r.Spreads) != 1 || len(r.Caps) != 1 || len(r.Needs) != 1 {
		t.Fatalf("rules %+v", r)
	}
	for _, c := range r.HostCaps {
		if self := has(r.HostCounts, c.Group); self && c.Max != 2 || !self && c.Max != 0 {
			t.Errorf("cap %+v, counted %t", c, self)
		}
	}
	if !r.HostNeeds[0].Self || !r.Needs[0].Self || !r.Spreads[0].Self || r.Free() {
		t.Errorf("a pod is not its own partner: %+v", r)
	}
}

// Where pods are told to go, for each kind of rule.
func TestAssign(t *testing.T) {
	t.Parallel()
	three := zones{"a", "b", "c"}
	for name, c := range map[string]struct {
		counts    []int
		templates []snapshot.Template
		atlas     zones
		shape     int
		want      []int // by zone of the atlas, then pods without a pin
		lost      int
	}{
		"no rule at all":                {[]int{5}, []snapshot.Template{labelled("web")}, three, 0, []int{0, 0, 0, 5}, 0},
		"spread evenly":                 {[]int{7}, []snapshot.Template{labelled("web", spread(zone, "web", 1))}, three, 0, []int{3, 2, 2, 0}, 0},
		"who is counted takes part":     {[]int{3, 3}, []snapshot.Template{labelled("web", spread(zone, "web", 1)), labelled("web")}, three, 1, []int{1, 1, 1, 0}, 0},
		"one in each domain":            {[]int{5}, []snapshot.Template{labelled("web", away(zone, "web"))}, three, 0, []int{1, 1, 1, 0}, 2},
		"apart from another":            {[]int{1, 1}, []snapshot.Template{labelled("web", away(zone, "db")), labelled("db", away(zone, "db"))}, zones{"a"}, 0, []int{1, 0}, 1},
		"its own partner stays in one":  {[]int{9}, []snapshot.Template{labelled("web", near(zone, "web"))}, three, 0, []int{9, 0, 0, 0}, 0},
		"partners are invited":          {[]int{2, 3}, []snapshot.Template{labelled("web", near(zone, "db")), labelled("db")}, three, 0, []int{2, 0, 0, 0}, 0},
		"no partners, no place":         {[]int{2}, []snapshot.Template{labelled("web", near(zone, "db"))}, three, 0, []int{0, 0, 0, 0}, 2},
		"a spread that no pod can meet": {[]int{2}, []snapshot.Template{labelled("web", spread(zone, "web", 1))}, zones{}, 0, []int{0}, 2},
	} {
		s := newFixture(c.counts, c.templates...)
		portions, failures := s.assigner(c.atlas, Even).Assign(s.counts())
		got := byZone(portions, c.shape)
		for i, z := range append(slices.Clone([]string(c.atlas)), "") {
			if got[z] != c.want[i] {
				t.Errorf("%s: %d in %q, not %d", name, got[z], z, c.want[i])
			}
		}
		if lost(failures) != c.lost {
			t.Errorf("%s: %d without a domain, not %d", name, lost(failures), c.lost)
		}
	}
}

// No pod is forgotten, and in the strategies that go by price no spread is broken once all
// pods are where they were told to go: evening out is no promise, and is checked after packing.
func TestStrategies(t *testing.T) {
	t.Parallel()
	apps := []string{"x", "y", "z"}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var templates []snapshot.Template
		var counts []int
		for range 1 + r.IntN(6) {
			var rules []func(*snapshot.Template)
			if r.IntN(2) == 0 {
				rules = append(rules, spread(zone, apps[r.IntN(3)], int32(1+r.IntN(2))))
			}
			templates, counts = append(templates, labelled(apps[r.IntN(3)], rules...)), append(counts, 1+r.IntN(4))
		}
		for _, strategy := range []Strategy{Even, Gather, Together} {
			s := newFixture(counts, templates...)
			a := s.assigner(zones{"a", "b", "c"}, strategy)
			portions, failures := a.Assign(s.counts())
			total := lost(failures)
			for _, p := range portions {
				total += p.Count
				if len(failures) == 0 && strategy != Even && a.Broken(p) {
					t.Errorf("seed %d, strategy %d: the spread of shape %d is broken", seed, strategy, p.Shape)
				}
			}
			for _, n := range counts {
				total -= n
			}
			if total != 0 {
				t.Errorf("seed %d, strategy %d: %d pods too many", seed, strategy, total)
			}
		}
	}
}

// Gathering pods that are merely counted needs no more domains than evening them out.
func TestGatheredPodsStayTogether(t *testing.T) {
	t.Parallel()
	s := newFixture([]int{1, 6}, labelled("web", spread(zone, "db", 1)), labelled("db"))
	a := s.assigner(zones{"a", "b", "c"}, Gather)
	portions, _ := a.Assign(s.counts())
	if got := byZone(portions, 1); got["a"] != 6 {
		t.Errorf("gathered in %v", got)
	}
	if got := byZone(portions, 0); got["a"] != 0 {
		t.Errorf("the pod with the spread is in %v", got)
	}
}

// Withdraw takes back all that Assign counted, and bars the domain from then on.
func TestWithdrawUndoesAssign(t *testing.T) {
	t.Parallel()
	s := newFixture([]int{4, 2}, labelled("web", spread(zone, "web", 1)), labelled("web", near(zone, "web")))
	a := s.assigner(zones{"a", "b"}, Even)
	portions, _ := a.Assign(s.counts())
	for _, p := range portions {
		a.Withdraw(p, p.Count)
	}
	for g := range a.counts {
		for _, d := range []string{"a", "b"} {
			if n := a.counts.At(DomainGroup(g), d).Total(); n != 0 {
				t.Errorf("group %d still counts %d in %s", g, n, d)
			}
		}
	}
	if again, failures := a.Assign([]int{1, 0}); len(again) > 0 || lost(failures) != 1 {
		t.Errorf("sent to %v again", again)
	}
}

// A pod whose partners were withdrawn is broken.
func TestBrokenWithoutCompany(t *testing.T) {
	t.Parallel()
	s := newFixture([]int{1, 1}, labelled("web", near(zone, "db")), labelled("db"))
	a := s.assigner(zones{"a"}, Even)
	portions, _ := a.Assign(s.counts())
	at := func(shape int) Portion {
		return portions[slices.IndexFunc(portions, func(p Portion) bool { return p.Shape == shape })]
	}
	if a.Broken(at(0)) {
		t.Error("broken with partners")
	}
	a.Withdraw(at(1), 1)
	if !a.Broken(at(0)) {
		t.Error("not broken without partners")
	}
}
