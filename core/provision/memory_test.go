package provision

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// TestWhatIsRememberedIsWhatWouldBeFound: a plan with the memory of the last one gives the same
// verdicts as a plan without, after any change of the cluster between the two.
func TestWhatIsRememberedIsWhatWouldBeFound(t *testing.T) {
	t.Parallel()
	recalled := 0
	for seed := range uint64(60) {
		dice := rand.New(rand.NewPCG(seed, 1))
		m := NewMemory()
		s := hopeless(dice)
		for turn := range 12 {
			got, want := solved(s, Options{Effort: 100_000, Memory: m}), solved(s, Options{Effort: 100_000})
			if diff := cmp.Diff(verdicts(want), verdicts(got)); diff != "" {
				t.Fatalf("seed %d, turn %d: (-anew +remembered):\n%s", seed, turn, diff)
			}
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("seed %d, turn %d: other claims or placements", seed, turn)
			}
			recalled += m.remedies.Recalled
			s = changed(dice, s)
		}
	}
	if recalled < 300 {
		t.Errorf("only %d simulations were remembered", recalled)
	}
}

func verdicts(p plan.Plan) []string {
	var out []string
	for _, u := range p.Unplaced {
		v := *u.Verdict
		v.Remedy = nil
		out = append(out, fmt.Sprintf("%d %+v %+v", u.Pod, v, u.Verdict.Remedy))
	}
	return out
}

// hopeless is a market with pods that nothing can hold, each for a reason of its own.
func hopeless(dice *rand.Rand) *snapshot.Snapshot {
	s := market()
	s.Pools = append(s.Pools, poolOf("tainted"))
	s.Pools[1].Taints = []model.Taint{{Key: "team", Value: "a", Effect: model.NoSchedule}}
	s.Templates = append(s.Templates, s.Templates[0], s.Templates[0], s.Templates[0])
	s.Templates[1].Requests.CPU = 64_000
	s.Templates[2].Selector = requirement.FromLabels(map[string]string{"rack": "7"})
	s.Templates[3].Selector = requirement.FromLabels(map[string]string{requirement.KeyArch: "s390x"})
	for i := range 4 + dice.IntN(8) {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("web-%d", i), Template: snapshot.TemplateIndex(dice.IntN(4)), Pending: true})
	}
	return s
}

// changed is the cluster a moment later: mostly as it was, and otherwise a little different.
func changed(dice *rand.Rand, old *snapshot.Snapshot) *snapshot.Snapshot {
	s := *old
	s.Pods, s.Pools, s.Templates = append([]snapshot.Pod{}, old.Pods...), append([]snapshot.Pool{}, old.Pools...), append([]snapshot.Template{}, old.Templates...)
	pool, template := &s.Pools[dice.IntN(2)], &s.Templates[dice.IntN(4)]
	switch dice.IntN(14) {
	case 0:
		pool.Limits = []model.Amount{{Name: model.CPU, Value: int64(dice.IntN(5)) * 1000}}
	case 1:
		pool.Limits = nil
	case 2:
		template.Requests.CPU = 500 * int64(1+dice.IntN(200))
	case 3:
		template.Tolerations = append(template.Tolerations[:0:0], model.Toleration{Key: "team", Operator: "Exists"})
	case 4:
		pool.Labels = map[string]string{requirement.KeyNodePool: pool.Name, "rack": fmt.Sprint(6 + dice.IntN(2))}
		pool.Requirements = requirement.FromLabels(pool.Labels)
	case 5:
		s.Pods = s.Pods[:1+dice.IntN(len(s.Pods))]
	case 6:
		s.Settings.BestEffortMinimum = !s.Settings.BestEffortMinimum
	case 7:
		s.Catalogs = market().Catalogs
		offers := s.Catalogs[0].Types[dice.IntN(6)].Offerings
		offers[dice.IntN(len(offers))].Price += 7
	case 9:
		template.Requests.Storage = int64(dice.IntN(2)) << 30
	case 10:
		s.Catalogs = slices.Clone(s.Catalogs)
		s.Catalogs[0].Types = slices.Clone(s.Catalogs[0].Types)
		slices.Reverse(s.Catalogs[0].Types)
	case 8:
		s.Templates = append(s.Templates, snapshot.Template{Namespace: "kube-system", Daemon: true, Requests: model.Resources{CPU: int64(100 * dice.IntN(3)), Pods: 1}})
		s.Daemons = []snapshot.Daemon{{Namespace: "kube-system", Name: "agent", Template: snapshot.TemplateIndex(len(s.Templates) - 1)}}
	}
	return &s
}
