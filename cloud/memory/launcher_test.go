package memory_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/core/requirement"
)

// recorder writes down what it is told.
type recorder struct {
	mu   sync.Mutex
	told []string
	seen []memory.Machine
	also func(memory.Machine)
}

func (p *recorder) Launch(m memory.Machine) {
	p.mu.Lock()
	p.told = append(p.told, "launch "+m.Instance.ClaimUID)
	p.seen = append(p.seen, m)
	p.mu.Unlock()
	if p.also != nil {
		p.also(m)
	}
}

func (p *recorder) Terminate(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.seen, func(m memory.Machine) bool { return m.Instance.ProviderID == id })
	p.told = append(p.told, "terminate "+p.seen[i].Instance.ClaimUID)
}

func (p *recorder) check(t *testing.T, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if diff := cmp.Diff(want, p.told); diff != "" {
		t.Errorf("the launcher was told (-want +got):\n%s", diff)
	}
}

func TestLauncherPlaysMachines(t *testing.T) {
	t.Parallel()
	plays := &recorder{}
	lives := func(string) (time.Duration, bool) { return time.Hour, true }
	clock, far, near := world(memory.Options{Launcher: plays, Boot: time.Minute, Stop: time.Minute, Lifetime: lives})
	c := claim("a", onDemand()...)
	c.Labels = map[string]string{"team": "red"}
	c.Annotations = map[string]string{"note": "kept"}
	c.StartupTaints = []model.Taint{{Key: "agent", Effect: model.NoExecute}}
	i := mustCreate(t, near, c)
	mustCreate(t, near, c) // the same
	plays.check(t, "launch a")
	m := plays.seen[0]
	if m.Node == "" || m.Labels["team"] != "red" || m.Labels[requirement.KeyZone] != i.Offer.Zone || m.Annotations["note"] != "kept" {
		t.Errorf("the machine is %+v", m)
	}
	if want := c.BootTaints(); !slices.Equal(m.Taints, want) || m.Taints[0] != cloud.Unregistered() {
		t.Errorf("taints %v, want %v", m.Taints, want)
	}
	if !m.Boots.Equal(start.Add(time.Minute)) {
		t.Errorf("it boots at %s", m.Boots)
	}

	b := mustCreate(t, near, claim("b"))
	if err := near.Delete(t.Context(), b.ProviderID); err != nil {
		t.Fatal(err)
	}
	if !far.Kill(mustCreate(t, near, claim("c")).ProviderID) || far.Kill("memory:///nowhere/m-0") {
		t.Error("kill ends what is not there, or not what is")
	}
	plays.check(t, "launch a", "launch b", "terminate b", "launch c", "terminate c")

	next, any := far.Next()
	if want := start.Add(time.Minute); !any || !next.Equal(want) {
		t.Errorf("next is %s (%t), want %s: the end of b", next, any, want)
	}
	clock.Step(time.Minute)
	far.Settle()
	next, any = far.Next()
	if want := start.Add(time.Hour); !any || !next.Equal(want) {
		t.Errorf("next is %s (%t), want %s: the death of a", next, any, want)
	}
	clock.Step(time.Hour)
	far.Settle()
	plays.check(t, "launch a", "launch b", "terminate b", "launch c", "terminate c", "terminate a")
	if next, any = far.Next(); any {
		t.Errorf("next is %s, and nothing lives", next)
	}
	if left := far.Instances(); len(left) != 0 || far.Bought() != 3 {
		t.Errorf("%d bought, %d left", far.Bought(), len(left))
	}
}

// A launcher may call back: nothing is locked while it is told, and what happens
// meanwhile is told afterwards.
func TestLauncherMayCallTheCloud(t *testing.T) {
	t.Parallel()
	plays := &recorder{}
	_, far, near := world(memory.Options{Launcher: plays})
	plays.also = func(m memory.Machine) {
		if m.Instance.ClaimUID == "a" {
			mustCreate(t, near, claim("b"))
			far.Kill(m.Instance.ProviderID)
		}
	}
	mustCreate(t, near, claim("a"))
	plays.check(t, "launch a", "launch b", "terminate a")
}
