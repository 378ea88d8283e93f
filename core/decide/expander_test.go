package decide_test

import (
	stdcmp "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/catalog"
	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/expand"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// member is a group of machines in mode cas, or a pool if it has no ceiling.
type member struct {
	name     string
	cpu      int64 // cores; four GiB each
	price    model.Money
	ceiling  int64
	priority int64
	taint    string
}

func tainted(m member, key string) member { m.taint = key; return m }

// among is a cluster with several groups of no node, and pods of which each asks for so many cores and a GiB.
func among(chain string, groups []member, cores ...int64) *snapshot.Snapshot {
	s := groupCluster(0, 0, nil)
	kind, pool := s.Catalogs[0].Types[0], s.Pools[0]
	s.Catalogs, s.Pools, s.Templates = nil, nil, nil
	if chain != "" {
		s.Settings.Expanders = strings.Split(chain, ",")
	}
	for i, m := range groups {
		k, p := kind, pool
		k.Capacity = model.Resources{CPU: m.cpu * 1000, Memory: m.cpu << 32, Pods: 110}
		k.Offerings = []catalog.Offering{kind.Offerings[0]}
		k.Offerings[0].Price = m.price
		if m.ceiling == 0 {
			k.Offerings[0].Zone, k.Offerings[0].Extra = "a", requirement.Set{}
		}
		p.Name, p.Catalog, p.Group, p.Limits = m.name, snapshot.CatalogIndex(i), nil, nil
		if m.taint != "" {
			p.Taints = []model.Taint{{Key: m.taint, Effect: model.NoSchedule}}
		}
		if m.ceiling > 0 {
			p.Name = snapshot.GroupPool(m.name)
			p.Group = &snapshot.Group{Name: m.name, Chosen: pool.Group.Chosen, ScaleDown: &snapshot.ScaleDown{}}
			p.Limits = []model.Amount{{Name: model.Nodes, Value: m.ceiling}}
		}
		if m.priority > 0 {
			p.Group.Priority, p.Weight = &m.priority, int32(m.priority)
		}
		s.Catalogs = append(s.Catalogs, catalog.Catalog{Types: []catalog.Type{k}})
		s.Pools = append(s.Pools, p)
	}
	for i, c := range cores {
		s.Templates = append(s.Templates, snapshot.Template{Namespace: "default", Labels: map[string]string{"app": fmt.Sprint("app-", i)},
			Requests: model.Resources{CPU: c * 1000, Memory: 1 << 30, Pods: 1}, Tolerations: []model.Toleration{{Key: fmt.Sprint("only-", i), Operator: "Exists"}}})
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprint("pod-", i), UID: fmt.Sprint("uid-", i), Template: snapshot.TemplateIndex(i), Pending: true})
	}
	return s
}

// Of groups that could hold the same pods the chain of expanders says which one grows; the pods that it has no room for go to the
// next. The price decides between a pool and the group that was chosen.
func TestExpandersChooseGroups(t *testing.T) {
	t.Parallel()
	small, large, dear := member{name: "small", cpu: 2, price: 10, ceiling: 9}, member{name: "large", cpu: 8, price: 90, ceiling: 9}, member{name: "dear", cpu: 3, price: 200, ceiling: 9}
	limited := func(m member, ceiling int64) member { m.ceiling = ceiling; return m }
	prior := func(m member, priority int64) member { m.priority = priority; return m }
	three := []int64{1, 1, 1}
	cases := map[string]struct {
		chain  string
		groups []member
		cores  []int64
		want   string
	}{
		"the price, without a chain":       {"", []member{small, large, dear}, three, "2 small"},
		"the price, named":                 {"price", []member{small, large, dear}, three, "2 small"},
		"the least waste":                  {"least-waste", []member{small, large, dear}, three, "1 dear"},
		"the fewest nodes, then the price": {"least-nodes,price", []member{small, large, dear}, three, "1 large"},
		"the fewest nodes, then the waste": {"least-nodes,least-waste", []member{small, large, dear}, three, "1 dear"},
		"the most pods":                    {"most-pods,price", []member{limited(small, 1), large, dear}, three, "1 large"},
		"a ceiling is reached":             {"least-waste", []member{small, large, limited(dear, 1)}, []int64{3, 3, 1}, "1 dear 1 large 1 small"},
		"no room in the chosen one":        {"least-waste", []member{small, large, dear}, []int64{3, 8}, "1 dear 1 large"},
		"priorities come first":            {"priority,least-waste", []member{prior(small, 50), prior(large, 50), dear}, []int64{8}, "1 large"},
		"the highest priority":             {"priority,least-waste", []member{prior(small, 50), prior(large, 60), prior(dear, 10)}, three, "1 large"},
		"equal priorities":                 {"priority,least-nodes", []member{prior(small, 50), prior(large, 50), dear}, three, "1 large"},
		"a cheaper pool":                   {"least-waste", []member{small, large, dear, {name: "pool", cpu: 4, price: 100}}, three, "1 pool"},
		"a dearer pool":                    {"least-waste", []member{small, large, dear, {name: "pool", cpu: 4, price: 300}}, three, "1 dear"},
		"groups for other pods":            {"least-waste", []member{tainted(small, "only-0"), tainted(large, "only-1"), {name: "pool", cpu: 4, price: 500}}, []int64{1, 1}, "1 large 1 small"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := among(tc.chain, tc.groups, tc.cores...)
			p := decide.Decide(s, decide.Budget{}).Plan
			for _, v := range check.Plan(s, &p) {
				if !v.Rule.IsAdvice() {
					t.Error(v)
				}
			}
			if got := grown(p.Claims); got != tc.want || len(p.Unplaced) > 0 {
				t.Errorf("%s, want %s; %d pods have no place", got, tc.want, len(p.Unplaced))
			}
		})
	}
}

// A server of the expander grpc is asked once for each choice among several groups, with the pods that the choice would help; its answers
// decide which groups grow, and nothing is open after them.
func TestServersChooseGroups(t *testing.T) {
	t.Parallel()
	small, large, dear := member{name: "small", cpu: 2, price: 10, ceiling: 9}, member{name: "large", cpu: 7, price: 90, ceiling: 1}, member{name: "dear", cpu: 3, price: 200, ceiling: 9}
	for name, tc := range map[string]struct {
		chain string
		keeps []string // by the server, if it is asked about them
		want  string
		asked []string
	}{
		"one":               {"grpc", []string{"dear"}, "3 dear", []string{"dear 3 pod-0 pod-1 pod-2; large 1 pod-0 pod-1; small 1 pod-2"}},
		"one, and the rest": {"grpc", []string{"large", "small"}, "1 large 1 small", []string{"dear 3 pod-0 pod-1 pod-2; large 1 pod-0 pod-1; small 1 pod-2", "dear 1 pod-2; small 1 pod-2"}},
		"no group of ours":  {"grpc,most-pods", []string{"other"}, "3 dear", []string{"dear 3 pod-0 pod-1 pod-2; large 1 pod-0 pod-1; small 1 pod-2"}},
		"one is left":       {"most-pods,grpc", []string{"small"}, "3 dear", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := among(tc.chain, []member{small, large, dear}, 3, 3, 2)
			var asked []string
			for q := decide.Question(s, decide.Budget{}); q != nil; q = decide.Question(s, decide.Budget{}) {
				answer := expand.Answer{Question: q.Key()}
				var options []string
				for _, o := range q.Options {
					options = append(options, fmt.Sprint(o.Group, " ", o.Nodes, " ", strings.ReplaceAll(strings.Join(o.Helped, " "), "default/", "")))
					if len(answer.Groups) == 0 && slices.Contains(tc.keeps, o.Group) {
						answer.Groups = append(answer.Groups, o.Group)
					}
				}
				asked = append(asked, strings.Join(options, "; "))
				s.Answers = append(s.Answers, answer)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
			p := decide.Decide(s, decide.Budget{}).Plan
			if got := grown(p.Claims); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// New nodes are handed out among groups that are alike, the smallest first, where their pods may be as well, and as far as
// ceilings allow.
func TestLikeGroupsAreBalanced(t *testing.T) {
	t.Parallel()
	labels := func(key string, values ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range s.Pools {
				s.Pools[i].Labels = map[string]string{requirement.KeyArch: "amd64", key: values[i]}
				s.Pools[i].Requirements = requirement.FromLabels(s.Pools[i].Labels)
			}
		}
	}
	both := func(changes ...func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	desired := func(sizes ...int64) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range s.Pools {
				s.Pools[i].Group.Desired = sizes[i]
			}
		}
	}
	asks := func(key, value string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range s.Templates {
				s.Templates[i].Selector = requirement.FromLabels(map[string]string{key: value})
			}
		}
	}
	ignored := []string{"rack"}
	cases := map[string]struct {
		balance *snapshot.Balance
		change  func(*snapshot.Snapshot)
		want    string
	}{
		"not unless it is asked for": {nil, nil, "6 a"},
		"evenly":                     {&snapshot.Balance{}, nil, "2 a 2 b 2 c"},
		"the smallest first":         {&snapshot.Balance{}, desired(2, 0, 5), "2 a 4 b"},
		"up to the ceiling":          {&snapshot.Balance{}, func(s *snapshot.Snapshot) { s.Pools[1].Limits[0].Value = 2 }, "2 a 2 b 2 c"},
		"a group that is not alike":  {&snapshot.Balance{}, func(s *snapshot.Snapshot) { s.Catalogs[1].Types[0].Capacity.CPU += 500 }, "3 a 3 c"},
		"a little more memory":       {&snapshot.Balance{Memory: 15, Allocatable: 50, Free: 50}, func(s *snapshot.Snapshot) { s.Catalogs[1].Types[0].Capacity.Memory += 1 << 26 }, "2 a 2 b 2 c"},
		"other labels":               {&snapshot.Balance{}, labels("rack", "1", "2", "1"), "3 a 3 c"},
		"labels that are ignored":    {&snapshot.Balance{Ignored: ignored}, labels("rack", "1", "2", "3"), "2 a 2 b 2 c"},
		"by one label":               {&snapshot.Balance{Labels: []string{"team"}}, both(labels("team", "x", "x", "y"), func(s *snapshot.Snapshot) { s.Catalogs[1].Types[0].Capacity.CPU += 500 }), "3 a 3 b"},
		"pods that want one of them": {&snapshot.Balance{Ignored: ignored}, both(labels("rack", "1", "2", "1"), asks("rack", "1")), "3 a 3 c"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := among("", []member{{name: "a", cpu: 2, price: 10, ceiling: 9}, {name: "b", cpu: 2, price: 10, ceiling: 9}, {name: "c", cpu: 2, price: 10, ceiling: 9}}, 2, 2, 2, 2, 2, 2)
			desired(0, 0, 0)(s)
			s.Settings.Balance = tc.balance
			if tc.change != nil {
				tc.change(s)
			}
			p := decide.Decide(s, decide.Budget{}).Plan
			for _, v := range check.Plan(s, &p) {
				if !v.Rule.IsAdvice() {
					t.Error(v)
				}
			}
			if got := grown(p.Claims); got != tc.want || p.Cost.New != 60 {
				t.Errorf("%s for %s, want %s", got, p.Cost.New, tc.want)
			}
		})
	}
}

// The expander random takes each group for some pods, and the same for the same.
func TestRandomExpander(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i := range 40 {
		groups := []member{{name: "a", cpu: 2, price: 10, ceiling: 9}, {name: "b", cpu: 2, price: 20, ceiling: 9}, {name: "c", cpu: 2, price: 30, ceiling: 9}}
		s := among("random", groups, 1)
		s.Pods[0].UID = fmt.Sprint(i)
		first, again := decide.Decide(s, decide.Budget{}).Plan, decide.Decide(s, decide.Budget{}).Plan
		if len(first.Claims) != 1 || first.Claims[0].Group != again.Claims[0].Group {
			t.Fatalf("%+v and %+v for the same pod", first.Claims, again.Claims)
		}
		seen[first.Claims[0].Group]++
	}
	if len(seen) != 3 {
		t.Errorf("only these groups grow: %v", seen)
	}
}

// grown counts the claims of each group or pool, by name.
func grown(claims []plan.Claim) string {
	count := map[string]int{}
	for i := range claims {
		name, _ := snapshot.NodeGroup(claims[i].Pool)
		count[stdcmp.Or(name, claims[i].Pool)]++
	}
	var out []string
	for _, name := range order.Keys(count) {
		out = append(out, fmt.Sprint(count[name], " ", name))
	}
	return strings.Join(out, " ")
}
