package execute_test

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/assembly"
	"tenon/internal/execute"
	"tenon/internal/testing/harness"
)

// obstacles are the texts of the pool's conditions in the API server that say why pods wait. The world
// sees the present pool.
func (s *setup) obstacles() []string {
	var pool karpenterv1.NodePool
	if !s.Get(s.pool.Name, &pool) {
		return []string{"gone"}
	}
	s.world.Put(&pool)
	out := []string{}
	for _, name := range []string{karpenterv1.ConditionLimitReached, karpenterv1.ConditionOutOfStock} {
		if c := meta.FindStatusCondition(pool.Status.Conditions, name); c != nil {
			out = append(out, name+" "+string(c.Status)+" "+c.Reason+": "+c.Message)
		}
	}
	return out
}

// writes counts the writes since the last count.
func (s *setup) writes(before int) int {
	n := 0
	for _, c := range s.Calls()[before:] {
		if c.IsWrite() {
			n++
		}
	}
	return n
}

// TestMarkPools: each decision sets the conditions of pools for which pods wait, removes them from all
// others, and writes nothing if nothing has changed.
func TestMarkPools(t *testing.T) {
	t.Parallel()
	const (
		limit = karpenterv1.ConditionLimitReached + " True PodsWaiting: "
		stock = karpenterv1.ConditionOutOfStock + " True PodsWaiting: "
	)
	web := func(text string) map[string]string { return map[string]string{"web": text, "other": "of another pool"} }
	s := newSetup(t, 1)
	s.obstacles()
	steps := []struct {
		name   string
		given  execute.Obstacles
		want   []string
		writes int
	}{
		{"no obstacle", execute.Obstacles{}, []string{}, 0},
		{"a limit", execute.Obstacles{Limits: web("raise cpu to 6")}, []string{limit + "raise cpu to 6"}, 1},
		{"the same limit with another amount", execute.Obstacles{Limits: web("raise cpu to 8")}, []string{limit + "raise cpu to 6"}, 0},
		{"nothing in stock besides", execute.Obstacles{Limits: web("raise cpu to 8"), Stock: web("large is out of stock")},
			[]string{limit + "raise cpu to 6", stock + "large is out of stock"}, 1},
		{"another type is out of stock", execute.Obstacles{Stock: web("small is out of stock")}, []string{stock + "small is out of stock"}, 1},
		{"pods have places again", execute.Obstacles{}, []string{}, 1},
	}
	for _, step := range steps {
		before := len(s.Calls())
		s.Must(s.executor.MarkPools(context.Background(), step.given))
		if n := s.writes(before); n != step.writes {
			t.Errorf("%s: %d writes, want %d", step.name, n, step.writes)
		}
		if got := s.obstacles(); !slices.Equal(got, step.want) {
			t.Errorf("%s: conditions %q, want %q", step.name, got, step.want)
		}
	}
}

// TestMarkPoolsFails: an error names the pool, and a conflict is left to the next decision.
func TestMarkPoolsFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer func(harness.Call) error
		want   string
	}{
		"a conflict":        {harness.Conflict, ""},
		"a broken API call": {func(harness.Call) error { return harness.ErrBroken }, "mark pool web: write *v1.NodePool web: " + harness.ErrBroken.Error()},
	} {
		s := newSetup(t, 1)
		s.obstacles()
		s.Fail(func(c harness.Call) error {
			if c.IsWrite() {
				return tc.answer(c)
			}
			return nil
		})
		got := ""
		if err := s.executor.MarkPools(context.Background(), execute.Obstacles{Limits: map[string]string{"web": "raise cpu"}}); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: error %q, want %q", name, got, tc.want)
		}
	}
}

// TestMarkRooms: the condition Provisioning of a buffer says how many of its virtual pods lack room, and why,
// and is not written again while it stays the same. A deleted buffer is no error.
func TestMarkRooms(t *testing.T) {
	t.Parallel()
	refused := &reason.Verdict{General: reason.Reason{Code: reason.NoPools}}
	cases := map[string]struct {
		room                  plan.Room
		status, because, says string
	}{
		"all have room":              {plan.Room{Existing: 3}, "True", "FitsExistingCapacity", "All 3 virtual pods fit on existing capacity"},
		"nodes are to come for some": {plan.Room{Existing: 1, Planned: 1, New: 2}, "False", "RequiresNewCapacity", "3/4 virtual pods required new capacity, 0 failed"},
		"some have no place": {plan.Room{Existing: 1, Lacking: 1, Verdict: refused}, "False", "RequiresNewCapacity",
			"0/2 virtual pods required new capacity, 1 failed: there is no pool that nodes may be bought from"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := client.ObjectKey{Namespace: "default", Name: "spare"}
			r := harness.New(t, memory.Options{}, &autoscalingv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Generation: 3}})
			w := assembly.World(r.Kit)
			s := &setup{Harness: r, world: w, executor: execute.New(r.Kit, w, 1)}
			given := &snapshot.Snapshot{Buffers: []snapshot.Buffer{{Namespace: "default", Name: "gone"}, {Namespace: key.Namespace, Name: key.Name}}}
			tc.room.Buffer = 1
			for _, writes := range []int{1, 0} {
				var buffer autoscalingv1beta1.CapacityBuffer
				s.Must(r.API.Get(context.Background(), key, &buffer))
				w.Put(&buffer)
				before := len(r.Calls())
				s.Must(s.executor.MarkRooms(context.Background(), given, []plan.Room{{Buffer: 0, Existing: 1}, tc.room}))
				if n := s.writes(before); n != writes {
					t.Errorf("%d writes, want %d", n, writes)
				}
			}
			var buffer autoscalingv1beta1.CapacityBuffer
			s.Must(r.API.Get(context.Background(), key, &buffer))
			c := meta.FindStatusCondition(buffer.Status.Conditions, autoscalingv1beta1.ConditionProvisioning)
			if c == nil || string(c.Status) != tc.status || c.Reason != tc.because || c.Message != tc.says || c.ObservedGeneration != 3 {
				t.Errorf("got %+v", c)
			}
		})
	}
}
