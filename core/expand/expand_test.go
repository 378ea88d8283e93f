package expand_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tenon/core/expand"
	"tenon/core/model"
)

func chance() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// A chain has known names, each once, and random at its end.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "least-waste", "random": "random", "grpc,priority": "grpc priority", "grpc,grpc": "twice", "priority,least-waste,random": "priority least-waste random",
		"grow": "not known", "price,price": "twice", "random,price": "last", "price,": "not known",
	} {
		chain, err := expand.Parse(text)
		if got := strings.Join(chain, " "); got != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// Each expander keeps the options that its rule says, and a chain applies one after the other.
func TestChoose(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	of := func(group string, nodes int64, pods int, cpu, used int64, price model.Money) expand.Option {
		return expand.Option{Group: group, Nodes: nodes, Pods: pods, Price: price,
			Capacity: model.Resources{CPU: cpu, Memory: 8 * gib}, Requests: model.Resources{CPU: used, Memory: gib}}
	}
	high, low := int64(50), int64(10)
	prior := func(o expand.Option, priority *int64) expand.Option { o.Priority = priority; return o }
	options := []expand.Option{
		prior(of("big-spot", 1, 8, 16000, 8000, 50), &low), prior(of("small-demand", 5, 10, 2000, 9000, 40), &high),
		prior(of("free-size", 3, 8, 4000, 8000, 0), &low), prior(of("mid-demand", 2, 9, 4000, 7900, 60), &high),
	}
	for chain, want := range map[string]string{
		"most-pods": "small-demand", "least-nodes": "big-spot", "price": "big-spot", "least-waste": "mid-demand",
		"priority,least-nodes": "mid-demand", "priority,most-pods": "small-demand",
	} {
		for range 3 { // the order of the options does not matter
			options = append(options[1:], options[0])
			got := expand.Choose(strings.Split(chain, ","), options, nil, chance())
			if !got.Found || got.Option.Group != want {
				t.Errorf("%s chose %s, want %s", chain, got.Option.Group, want)
			}
		}
	}
	if expand.Choose([]string{"random"}, nil, nil, chance()).Found {
		t.Error("chose from nothing")
	}
}

// A group has the highest number with a pattern that matches any part of its name; numbers below
// zero never count.
func TestPriorities(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		patterns map[int][]string
		want     string // of web-spot, web-demand and db; - is none
	}{
		"each its own":        {map[int][]string{10: {"spot"}, 50: {"demand"}}, "10 50 -"},
		"the highest":         {map[int][]string{10: {".*"}, 50: {"^web-s", "db$"}}, "50 10 50"},
		"nothing matches":     {map[int][]string{10: {"none"}}, "- - -"},
		"negative never wins": {map[int][]string{-5: {"spot"}, 0: {"db"}}, "- - 0"},
		"no map":              {nil, "- - -"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := expand.Compile(tc.patterns)
			var got []string
			for _, group := range []string{"web-spot", "web-demand", "db"} {
				if priority, matched := p.Of(group); matched {
					got = append(got, fmt.Sprint(priority))
				} else {
					got = append(got, "-")
				}
			}
			if err != nil || strings.Join(got, " ") != tc.want {
				t.Errorf("priorities %v, error %v, want %s", got, err, tc.want)
			}
		})
	}
	if _, err := expand.Compile(map[int][]string{1: {"("}}); err == nil {
		t.Error("a broken pattern was read")
	}
}

// Options with the highest priority stay; groups without one are removed, unless no group has one.
func TestPriorityFilters(t *testing.T) {
	t.Parallel()
	ten, fifty := int64(10), int64(50)
	of := func(spot, demand, db *int64) []expand.Option {
		return []expand.Option{{Group: "spot", Priority: spot, Nodes: 2}, {Group: "demand", Priority: demand, Nodes: 1}, {Group: "db", Priority: db, Nodes: 3}}
	}
	for name, tc := range map[string]struct {
		options []expand.Option
		want    string
	}{
		"the highest":      {of(&fifty, &ten, nil), "spot"},
		"ties go on":       {of(&fifty, &fifty, &ten), "demand"},
		"none has one":     {of(nil, nil, nil), "demand"},
		"one alone has it": {of(nil, nil, &ten), "db"},
	} {
		got := expand.Choose([]string{"priority", "least-nodes"}, tc.options, nil, chance())
		if got.Option.Group != tc.want {
			t.Errorf("%s: %s, want %s", name, got.Option.Group, tc.want)
		}
	}
}

// The expander grpc keeps the options that the answer to its question names, and all of them if it names none; without an answer the
// question is open. It is asked about what the rules before it leave, if these are several.
func TestGRPC(t *testing.T) {
	t.Parallel()
	options := []expand.Option{{Group: "c", Nodes: 2, Helped: []string{"default/x"}}, {Group: "a", Nodes: 1}, {Group: "b", Nodes: 1}}
	question := expand.Question{Options: []expand.Option{options[1], options[2], options[0]}} // by group
	two := expand.Question{Options: question.Options[:2]}
	answer := func(q expand.Question, groups ...string) []expand.Answer {
		return []expand.Answer{{Question: q.Key(), Groups: groups}}
	}
	for name, tc := range map[string]struct {
		chain   string
		answers []expand.Answer
		want    string // the groups among which chance decides
		open    *expand.Question
	}{
		"one":                       {"grpc", answer(question, "c"), "c", nil},
		"two":                       {"grpc", answer(question, "c", "a"), "a c", nil},
		"a group that is no option": {"grpc", answer(question, "x", "b"), "b", nil},
		"only such groups":          {"grpc", answer(question, "x"), "a b c", nil},
		"none":                      {"grpc", answer(question), "a b c", nil},
		"no answer":                 {"grpc", nil, "a b c", &question},
		"an answer to another one":  {"grpc", answer(two, "a"), "a b c", &question},
		"after another rule":        {"least-nodes,grpc", answer(two, "b"), "b", nil},
		"before another rule":       {"grpc,least-nodes", answer(question, "c", "b"), "b", nil},
		"after several rules":       {"most-pods,least-nodes,priority,least-waste,grpc", answer(two, "b"), "b", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			random := chance()
			for range 40 {
				got := expand.Choose(strings.Split(tc.chain, ","), options, tc.answers, random)
				if diff := cmp.Diff(tc.open, got.Open); diff != "" {
					t.Fatalf("open question (-want +got):\n%s", diff)
				}
				seen[got.Option.Group] = true
			}
			if got := strings.Join(slices.Sorted(maps.Keys(seen)), " "); got != tc.want {
				t.Errorf("chose among %s, want %s", got, tc.want)
			}
		})
	}
}

// The price decides unless another expander comes before it.
func TestByPrice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"price": true, "priority": true, "priority,price": true, "price,random": true,
		"": false, "least-waste": false, "priority,least-waste": false, "random": false, "least-nodes,price": false} {
		chain, err := expand.Parse(text)
		if err != nil || expand.ByPrice(chain) != want {
			t.Errorf("%q: %v, %v, want %v", text, chain, err, want)
		}
	}
}

// Nodes go to the smallest groups, no maximum is exceeded, and the number of nodes without a place
// is returned.
func TestBalance(t *testing.T) {
	t.Parallel()
	more, rest := expand.Balance([]expand.Size{{"a", 3, 10}, {"b", 1, 10}, {"c", 1, 2}}, 6)
	if diff := cmp.Diff(map[string]int64{"a": 2, "b": 3, "c": 1}, more); diff != "" || rest != 0 {
		t.Errorf("%d left over, growth (-want +got):\n%s", rest, diff)
	}
	rapid.Check(t, func(t *rapid.T) {
		var groups []expand.Size
		for i := range rapid.IntRange(0, 5).Draw(t, "groups") {
			groups = append(groups, expand.Size{Group: fmt.Sprint(i), Target: rapid.Int64Range(0, 9).Draw(t, "target"), Max: rapid.Int64Range(0, 9).Draw(t, "max")})
		}
		nodes := rapid.Int64Range(0, 40).Draw(t, "nodes")
		more, rest := expand.Balance(groups, nodes)
		sum, highest, open := rest, int64(0), int64(1)<<40
		for _, g := range groups {
			grown := g.Target + more[g.Group]
			sum += more[g.Group]
			if more[g.Group] > 0 {
				highest = max(highest, grown)
				if grown > g.Max {
					t.Errorf("%+v grows to %d", g, grown)
				}
			}
			if grown < g.Max {
				open = min(open, grown)
			}
		}
		if sum != nodes || rest > 0 && open < 1<<40 || highest > open+1 {
			t.Errorf("%d of %d nodes handed out, %d left over; up to %d, while a group of %d may grow", sum, nodes, rest, highest, open)
		}
	})
}

// Groups are alike if their nodes differ only in ignored labels and by small amounts.
func TestAlike(t *testing.T) {
	t.Parallel()
	base := expand.Likeness{Ignored: func(key string) bool { return key == "zone" }, Memory: 0.015, Allocatable: 0.05, Free: 0.05}
	sample := func(change func(*expand.Sample)) expand.Sample {
		all := model.Resources{CPU: 4000, Memory: 16_000_000, Pods: 58}
		s := expand.Sample{Labels: map[string]string{"zone": "a", "team": "shop"}, Capacity: all, Allocatable: all, Free: all}
		if change != nil {
			change(&s)
		}
		return s
	}
	for name, tc := range map[string]struct {
		change func(*expand.Sample)
		labels []string
		want   bool
	}{
		"equal":                  {want: true},
		"another zone":           {change: func(s *expand.Sample) { s.Labels["zone"] = "b" }, want: true},
		"another label":          {change: func(s *expand.Sample) { s.Labels["team"] = "mail" }},
		"a label more":           {change: func(s *expand.Sample) { s.Labels["tier"] = "1" }},
		"a little less memory":   {change: func(s *expand.Sample) { s.Capacity.Memory = 15_800_000 }, want: true},
		"less memory":            {change: func(s *expand.Sample) { s.Capacity.Memory = 15_000_000 }},
		"another number of pods": {change: func(s *expand.Sample) { s.Capacity.Pods = 57 }},
		"a resource more": {change: func(s *expand.Sample) {
			s.Capacity = s.Capacity.Add(model.NewResources(model.Amount{Name: "gpu", Value: 1}))
		}},
		"daemons take more":       {change: func(s *expand.Sample) { s.Free.CPU = 3000 }},
		"kubelet takes more":      {change: func(s *expand.Sample) { s.Allocatable.CPU = 3900 }, want: true},
		"by labels":               {change: func(s *expand.Sample) { s.Capacity.CPU = 1 }, labels: []string{"team"}, want: true},
		"by labels that differ":   {change: func(s *expand.Sample) { s.Labels["team"] = "mail" }, labels: []string{"team"}},
		"by labels that are none": {labels: []string{"absent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := base
			l.Labels = tc.labels
			one, other := sample(nil), sample(tc.change)
			if got := []bool{l.Alike(one, other), l.Alike(other, one)}; !slices.Equal(got, []bool{tc.want, tc.want}) {
				t.Errorf("alike, there and back: %v, want %v", got, tc.want)
			}
		})
	}
}
