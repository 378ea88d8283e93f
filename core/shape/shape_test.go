package shape

import (
	"slices"
	"testing"

	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// crowd is pods of some templates, one of each.
func crowd(templates ...snapshot.Template) (*feasible.Space, []Wish) {
	s := &snapshot.Snapshot{
		Settings: snapshot.Settings{WellKnown: requirement.Core().WellKnown()},
		Catalogs: []catalog.Catalog{{Types: []catalog.Type{{
			Name: "m", Capacity: model.Resources{CPU: 8000, Memory: 8 << 30, Pods: 10},
			Requirements: requirement.NewSet(requirement.New(requirement.KeyZone, requirement.In, "a", "b")),
			Offerings: []catalog.Offering{
				{Zone: "a", CapacityType: catalog.OnDemand, Price: 10, Available: true}, {Zone: "b", CapacityType: catalog.OnDemand, Price: 10, Available: true},
			},
		}}}},
		Pools: []snapshot.Pool{{Name: "default"}}, Templates: templates,
	}
	var askers []snapshot.TemplateIndex
	var wishes []Wish
	for i := range templates {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: string(rune('a' + i)), Template: snapshot.TemplateIndex(i), Pending: true})
		askers = append(askers, snapshot.TemplateIndex(i))
		wishes = append(wishes, Wish{Template: snapshot.TemplateIndex(i), Pods: []snapshot.PodIndex{snapshot.PodIndex(i)}})
	}
	return feasible.Compile(s, askers), wishes
}

func pod(change ...func(*snapshot.Template)) snapshot.Template {
	t := snapshot.Template{Namespace: "default", Labels: map[string]string{"app": "web"}, Requests: model.Resources{CPU: 1000, Memory: 1 << 30, Pods: 1}}
	for _, c := range change {
		c(&t)
	}
	return t
}

func apart(key, app string) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.AntiAffinity = append(t.AntiAffinity, snapshot.AffinityTerm{Key: key, Namespaces: []string{"default"}, Selector: model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{app}}}}})
	}
}

// Pods are of one shape when no rule can tell them apart, and only then.
func TestWhatTellsPodsApart(t *testing.T) {
	t.Parallel()
	label := func(key, value string) func(*snapshot.Template) {
		return func(t *snapshot.Template) { t.Labels = map[string]string{"app": "web", key: value} }
	}
	for name, c := range map[string]struct {
		a, b []func(*snapshot.Template)
		want int
	}{
		"nothing":                       {nil, nil, 1},
		"a label that no rule looks at": {[]func(*snapshot.Template){label("hash", "1")}, []func(*snapshot.Template){label("hash", "2")}, 1},
		"the owner":                     {nil, []func(*snapshot.Template){func(t *snapshot.Template) { t.Owner = "Deployment/x" }}, 1},
		"a size":                        {nil, []func(*snapshot.Template){func(t *snapshot.Template) { t.Requests.CPU = 500 }}, 2},
		"a priority":                    {nil, []func(*snapshot.Template){func(t *snapshot.Template) { t.Priority = 5 }}, 2},
		"a zone": {nil, []func(*snapshot.Template){func(t *snapshot.Template) {
			t.Selector = requirement.NewSet(requirement.New(requirement.KeyZone, requirement.In, "a"))
		}}, 2},
		"a host port":            {nil, []func(*snapshot.Template){func(t *snapshot.Template) { t.HostPorts = []model.HostPort{{Port: 80}} }}, 2},
		"a rule of its own":      {nil, []func(*snapshot.Template){apart(requirement.KeyHostname, "db")}, 2},
		"a rule that counts one": {[]func(*snapshot.Template){apart(requirement.KeyHostname, "web")}, []func(*snapshot.Template){apart(requirement.KeyHostname, "web"), func(t *snapshot.Template) { t.Labels = nil }}, 2},
	} {
		sp, wishes := crowd(pod(c.a...), pod(c.b...))
		if got := len(Compile(sp, wishes).Shapes); got != c.want {
			t.Errorf("%s: %d shapes, not %d", name, got, c.want)
		}
	}
}

// The pods of a shape come oldest first, from all of its templates.
func TestPodsComeOldestFirst(t *testing.T) {
	t.Parallel()
	sp, wishes := crowd(pod(), pod(), pod())
	slices.Reverse(wishes)
	set := Compile(sp, wishes)
	if got := set.Shapes[0].Pods; !slices.Equal(got, []snapshot.PodIndex{0, 1, 2}) {
		t.Errorf("pods %v", got)
	}
}

// Pins narrow the places of a shape; pins that contradict it leave none.
func TestNarrow(t *testing.T) {
	t.Parallel()
	sp, wishes := crowd(pod(func(t *snapshot.Template) {
		t.Selector = requirement.NewSet(requirement.New(requirement.KeyZone, requirement.In, "a"))
	}), pod())
	set := Compile(sp, wishes)
	pin := func(values ...string) []topology.Pin {
		return []topology.Pin{{Key: requirement.KeyZone, Values: values}}
	}
	inA, anywhere := &set.Shapes[0], &set.Shapes[1]
	if set.Narrow(inA.Alternatives[0], inA, pin("b")) != nil {
		t.Error("a pod of zone a may go to zone b")
	}
	if got := set.Narrow(anywhere.Alternatives[0], anywhere, pin("b")); got == nil || got.Slots.Count() != 1 {
		t.Errorf("zone b is %v", got)
	}
	if got := set.Narrow(anywhere.Alternatives[0], anywhere, pin("a", "b")); got == nil || got.Slots.Count() != 2 {
		t.Errorf("both zones are %v", got)
	}
}
