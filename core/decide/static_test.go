package decide_test

import (
	"testing"

	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// A drifted node of a static pool goes once its replacement is there, whether or not pods run on it.
func TestStaticReplacementsComeFirst(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pods   string
		change func(*snapshot.Snapshot)
	}{
		"without pods": {},
		"with pods":    {pods: "pods web x2 cpu=500m on=a\n"},
		"full of pods": {pods: "pods web x4 cpu=450m on=a\npods api x4 cpu=450m on=b\n"},
		"below the limit of nodes": {pods: "pods web x2 cpu=500m on=a\n", change: func(s *snapshot.Snapshot) {
			s.Pools[0].Limits = []model.Amount{{Name: model.Nodes, Value: 3}}
		}},
	} {
		s := parseScenario(t, "consolidate\ntype small cpu=2 mem=8Gi price=0.1\npool default allow=2\nnode a type=small drifted=1h\nnode b type=small\n"+tc.pods)
		replicas := int64(2)
		s.Settings.StaticCapacity, s.Pools[0].Replicas = true, &replicas
		if tc.change != nil {
			tc.change(s)
		}
		p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
		if len(p.Disruptions) != 1 || p.Disruptions[0].Reason != plan.Drifted || len(p.Disruptions[0].Replacements) != 1 || !p.Disruptions[0].Replacements[0].Replica {
			t.Errorf("%s: %+v", name, p.Disruptions)
		}
		for _, v := range check.Plan(s, &p) {
			t.Errorf("%s: %s", name, v)
		}
	}
}

// The limit of a static pool counts nodes until they are gone: meanwhile no drifted node goes.
func TestStaticPoolsCountLeavingNodes(t *testing.T) {
	t.Parallel()
	for atLimit, want := range map[string]reason.Code{"DeleteFirst": reason.NoRoomBeside, "Wait": reason.RoomComes} {
		s := parseScenario(t, "consolidate\ntype small cpu=2 mem=8Gi price=0.1\npool default allow=2 limit.nodes=3 atLimit="+atLimit+
			"\nnode a type=small drifted=1h\nnode b type=small\nnode c type=small leaving=yes\n")
		replicas := int64(2)
		s.Settings.StaticCapacity, s.Pools[0].Replicas = true, &replicas
		p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
		if len(p.Disruptions) > 0 {
			t.Errorf("%s: %+v", atLimit, p.Disruptions)
		}
		if o := &p.Prospects[0]; o.Kind != plan.Waiting || o.Cause.Code != want {
			t.Errorf("%s: %s for %s, want Waiting for %s", atLimit, o.Kind, o.Cause.Code, want)
		}
		for _, v := range check.Plan(s, &p) {
			t.Errorf("%s: %s", atLimit, v)
		}
	}
}

// A static pool that has as many nodes as it may have lets a drifted node go first, one at a time,
// unless it says that it waits.
func TestStaticPoolsAtTheirLimit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		atLimit string
		want    int
	}{"deletes first": {"DeleteFirst", 1}, "waits": {"Wait", 0}} {
		s := parseScenario(t, "consolidate\ntype small cpu=2 mem=8Gi price=0.1\npool default allow=2 limit.nodes=2 atLimit="+tc.atLimit+
			"\nnode a type=small drifted=1h\nnode b type=small drifted=2h\npods web x2 cpu=500m on=a\n")
		replicas := int64(2)
		s.Settings.StaticCapacity, s.Pools[0].Replicas = true, &replicas
		p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
		if len(p.Disruptions) != tc.want || tc.want == 1 && (!p.Disruptions[0].DeleteFirst || len(p.Disruptions[0].Nodes) != 1) {
			t.Errorf("%s: %+v", name, p.Disruptions)
		}
		for _, v := range check.Plan(s, &p) {
			t.Errorf("%s: %s", name, v)
		}
	}
}
