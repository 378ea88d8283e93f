package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

func claim(uid string, requirements ...requirement.Requirement) cloud.Claim {
	return cloud.Claim{
		UID: uid, Name: "claim-" + uid, Pool: "default",
		Class:        cloud.ClassRef{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"},
		Requirements: requirement.NewSet(requirements...),
		Requests:     model.Resources{CPU: 500},
	}
}

func is(key string, values ...string) requirement.Requirement {
	return requirement.New(key, requirement.In, values...)
}

func onDemand(zones ...string) []requirement.Requirement {
	r := []requirement.Requirement{is(requirement.KeyCapacityType, catalog.OnDemand)}
	if len(zones) > 0 {
		r = append(r, is(requirement.KeyZone, zones...))
	}
	return r
}

// world is a cloud on a clock that the test moves.
func world(o memory.Options) (*clocktesting.FakeClock, *memory.Cloud, *memory.Provider) {
	clock := clocktesting.NewFakeClock(start)
	o.Clock = clock
	far := memory.New(o)
	return clock, far, far.Connect()
}

func mustCreate(t *testing.T, p cloud.Provider, c cloud.Claim) cloud.Instance {
	t.Helper()
	i, err := p.Create(t.Context(), c)
	if err != nil {
		t.Fatalf("create %s: %v", c.UID, err)
	}
	return i
}

func TestStatesFollowTheClock(t *testing.T) {
	t.Parallel()
	clock, _, near := world(memory.Options{Boot: time.Minute, Stop: 30 * time.Second, Lag: 5 * time.Second})
	i := mustCreate(t, near, claim("a"))
	look := func(want cloud.State) {
		t.Helper()
		got, err := near.Get(t.Context(), i.ProviderID)
		if got.State != want || cloud.IsNotFound(err) != (want == "") {
			t.Errorf("at %s it is %q (%v), want %q", clock.Since(start), got.State, err, want)
		}
	}
	step := func(d time.Duration, want cloud.State) {
		t.Helper()
		clock.Step(d)
		look(want)
	}
	if i.State != cloud.Pending {
		t.Errorf("a new instance is %s", i.State)
	}
	look("") // reads are behind
	step(5*time.Second, cloud.Pending)
	step(55*time.Second, cloud.Pending) // it runs, and nobody can see it
	step(5*time.Second, cloud.Running)
	if err := near.Delete(t.Context(), i.ProviderID); err != nil {
		t.Fatal(err)
	}
	look(cloud.Running)
	step(5*time.Second, cloud.Terminating)
	step(25*time.Second, cloud.Terminating)
	if err := near.Delete(t.Context(), i.ProviderID); !cloud.IsNotFound(err) {
		t.Errorf("delete is not behind: %v", err)
	}
	step(5*time.Second, "")
}

func TestStockIsFiniteAndComesBack(t *testing.T) {
	t.Parallel()
	offer := cloud.Offer{InstanceType: "compute-1", Zone: "memory-1a", CapacityType: catalog.OnDemand}
	clock, _, near := world(memory.Options{Stop: time.Minute, Stock: map[cloud.Offer]int{offer: 1}, ShortageMemory: time.Second})
	asks := append(onDemand(offer.Zone), is(requirement.KeyInstanceType, offer.InstanceType))
	first := mustCreate(t, near, claim("a", asks...))
	short := func(when string) {
		t.Helper()
		_, err := near.Create(t.Context(), claim("b", asks...))
		if none, is := errors.AsType[*cloud.NoCapacity](err); !is || !slices.Equal(none.Offers, []cloud.Offer{offer}) {
			t.Errorf("%s: %v, want NoCapacity for %s", when, err, offer)
		}
		clock.Step(time.Second) // the shortage is forgotten, and asked for again
	}
	short("while the only one runs")
	if err := near.Delete(t.Context(), first.ProviderID); err != nil {
		t.Fatal(err)
	}
	short("while the only one ends")
	clock.Step(time.Minute)
	if again := mustCreate(t, near, claim("b", asks...)); again.Offer != offer {
		t.Errorf("%s was bought, want %s", again.Offer, offer)
	}
}

func TestShortagesAreForgottenInTime(t *testing.T) {
	t.Parallel()
	offer := cloud.Offer{InstanceType: "compute-1", Zone: "memory-1a", CapacityType: catalog.OnDemand}
	clock, far, near := world(memory.Options{Stock: map[cloud.Offer]int{offer: 0}})
	asks := append(onDemand(offer.Zone), is(requirement.KeyInstanceType, offer.InstanceType))
	available := func(p cloud.Provider) bool {
		t.Helper()
		c, err := p.Catalog(t.Context(), claim("").Class)
		if err != nil {
			t.Fatal(err)
		}
		ask := claim("", asks...)
		return len(cloud.Candidates(&ask, c)) > 0
	}
	if !available(near) {
		t.Error("nobody tried, and it is known to be short")
	}
	if _, err := near.Create(t.Context(), claim("a", asks...)); cloud.MetricLabel(err) != "InsufficientCapacityError" {
		t.Errorf("error %v, want a shortage", err)
	}
	if available(near) {
		t.Error("it was short a moment ago, and is shown as available")
	}
	if !available(far.Connect()) {
		t.Error("a process that has just started knows of the shortage")
	}
	far.SetStock(offer, memory.Unlimited)
	clock.Step(3*time.Minute - 1)
	if available(near) {
		t.Error("the shortage was forgotten too early")
	}
	clock.Step(1)
	if !available(near) {
		t.Error("the shortage was not forgotten")
	}
	mustCreate(t, near, claim("a", asks...))
}

// player writes down what it is told.
type player struct {
	mu   sync.Mutex
	told []string
	seen []memory.Machine
	also func(memory.Machine)
}

func (p *player) Launch(m memory.Machine) {
	p.mu.Lock()
	p.told = append(p.told, "launch "+m.Instance.ClaimUID)
	p.seen = append(p.seen, m)
	p.mu.Unlock()
	if p.also != nil {
		p.also(m)
	}
}

func (p *player) Terminate(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.seen, func(m memory.Machine) bool { return m.Instance.ProviderID == id })
	p.told = append(p.told, "terminate "+p.seen[i].Instance.ClaimUID)
}

func (p *player) check(t *testing.T, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if diff := cmp.Diff(want, p.told); diff != "" {
		t.Errorf("the launcher was told (-want +got):\n%s", diff)
	}
}

func TestLauncherPlaysMachines(t *testing.T) {
	t.Parallel()
	plays := &player{}
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
	plays := &player{}
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

func TestFaultsComeBeforeOrAfterTheEffect(t *testing.T) {
	t.Parallel()
	var calls []memory.Call
	faults := map[int]memory.Fault{1: {Before: memory.ErrUnreachable}, 2: {After: memory.ErrLost}}
	_, far, near := world(memory.Options{Trouble: func(c memory.Call) memory.Fault {
		calls = append(calls, c)
		return faults[c.Attempt]
	}})
	for attempt, want := range []struct {
		err  error
		sold int
	}{{memory.ErrUnreachable, 0}, {memory.ErrLost, 1}, {nil, 1}} {
		if _, err := near.Create(t.Context(), claim("a")); !errors.Is(err, want.err) {
			t.Errorf("attempt %d: %v, want %v", attempt+1, err, want.err)
		}
		if far.Bought() != want.sold {
			t.Errorf("after attempt %d %d were sold, want %d", attempt+1, far.Bought(), want.sold)
		}
	}
	want := []memory.Call{
		{Method: memory.Create, Subject: "a", Attempt: 1}, {Method: memory.Create, Subject: "a", Attempt: 2},
		{Method: memory.Create, Subject: "a", Attempt: 3},
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A bubble has its own time, which the system's clock follows.
func TestSlowCallsWaitOrGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := memory.New(memory.Options{Trouble: func(memory.Call) memory.Fault { return memory.Fault{Delay: time.Minute} }})
		near := far.Connect()
		began := time.Now()
		i := mustCreate(t, near, claim("a"))
		if took := time.Since(began); took != time.Minute || !i.Launched.Equal(began.Add(time.Minute)) {
			t.Errorf("create took %s, and launched at %s", took, i.Launched)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := near.Create(short, claim("b")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the end of the context", err)
		}
		if far.Bought() != 1 {
			t.Errorf("%d were sold, want 1: the second call had not arrived", far.Bought())
		}
	})
}

func TestChanceIsDeterministic(t *testing.T) {
	t.Parallel()
	rates := memory.Rates{Unreachable: 100, Lost: 100, Throttled: 100, Slow: 300, SlowUpTo: time.Second, Deaths: 200, LifeUpTo: time.Hour}
	one, same, other := memory.Chance{Seed: 1, Rates: rates}, memory.Chance{Seed: 1, Rates: rates}, memory.Chance{Seed: 2, Rates: rates}
	counts := map[string]int{}
	differ := false
	const calls = 10_000
	for n := range calls {
		call := memory.Call{Method: memory.Create, Subject: fmt.Sprint(n / 4), Attempt: n % 4}
		f := one.Trouble(call)
		if g := same.Trouble(call); fmt.Sprint(f) != fmt.Sprint(g) {
			t.Fatalf("%+v: the same seed gives %+v and %+v", call, f, g)
		}
		differ = differ || fmt.Sprint(f) != fmt.Sprint(other.Trouble(call))
		life, dies := one.Lifetime(fmt.Sprint(n))
		count(counts, "slow", f.Delay > 0)
		count(counts, "unreachable", errors.Is(f.Before, memory.ErrUnreachable))
		throttled, is := errors.AsType[*cloud.Throttled](f.Before)
		count(counts, "throttled", is && throttled.RetryAfter > 0)
		count(counts, "lost", errors.Is(f.After, memory.ErrLost))
		count(counts, "dies", dies)
		if f.Delay > rates.SlowUpTo || life > rates.LifeUpTo || dies != (life > 0) {
			t.Fatalf("delay %s, life %s", f.Delay, life)
		}
	}
	if !differ {
		t.Error("another seed gives the same")
	}
	// Each share is within a fifth of what was asked for; one call has one error at most.
	for what, want := range map[string]int{"slow": 3000, "throttled": 1000, "unreachable": 900, "lost": 810, "dies": 2000} {
		if got := counts[what]; got < want*4/5 || got > want*6/5 {
			t.Errorf("%d of %d calls are %s, want about %d", got, calls, what, want)
		}
	}
	quiet := memory.Chance{Seed: 1}
	if f := quiet.Trouble(memory.Call{}); f != (memory.Fault{}) {
		t.Errorf("no rates, and %+v", f)
	}
	if _, dies := quiet.Lifetime("x"); dies {
		t.Error("no rates, and somebody dies")
	}
}

func count(counts map[string]int, what string, is bool) {
	if is {
		counts[what]++
	}
}

// However calls go wrong and interleave, every claim gets one instance, and two runs end
// in the same books.
func TestNothingIsBoughtTwiceWhateverHappens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		chance := memory.Chance{Seed: seed, Rates: memory.Rates{Unreachable: 200, Lost: 300, Throttled: 200}}
		run := func() memory.State {
			_, far, near := world(memory.Options{Seed: seed, Trouble: chance.Trouble})
			const claims, workers = 20, 4
			var done sync.WaitGroup
			for worker := range workers {
				done.Go(func() {
					for n := range claims {
						ask := claim(fmt.Sprint((n + worker*5) % claims))
						ask.Requests.CPU = int64(500 * (1 + n%3))
						for _, err := near.Create(t.Context(), ask); err != nil; _, err = near.Create(t.Context(), ask) {
						}
					}
				})
			}
			done.Wait()
			if far.Bought() != claims {
				t.Errorf("seed %d: %d claims bought %d instances", seed, claims, far.Bought())
			}
			return far.State()
		}
		first, second := run(), run()
		if a, b := ids(first), ids(second); !slices.Equal(a, b) {
			t.Errorf("seed %d: two runs bought %v and %v", seed, a, b)
		}
	}
}

// ids are the names of the machines. Which of several sizes that a claim asked for came
// first depends on who was first; who they are does not.
func ids(s memory.State) []string {
	var out []string
	for _, r := range s.Records {
		out = append(out, r.Machine.Node)
	}
	slices.Sort(out)
	return out
}

func TestStateGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	offer := cloud.Offer{InstanceType: "compute-1", Zone: "memory-1a", CapacityType: catalog.OnDemand}
	options := memory.Options{Stop: time.Minute, Stock: map[cloud.Offer]int{offer: 2}}
	asks := append(onDemand(offer.Zone), is(requirement.KeyInstanceType, offer.InstanceType))
	_, before, near := world(options)
	lives := mustCreate(t, near, claim("lives", asks...))
	ends := mustCreate(t, near, claim("ends", asks...))
	if err := near.Delete(t.Context(), ends.ProviderID); err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(before.State())
	if err != nil {
		t.Fatal(err)
	}
	plays := &player{}
	options.Launcher = plays
	if err := json.Unmarshal(file, &options.State); err != nil {
		t.Fatal(err)
	}
	clock, after, near := world(options)
	again, err := json.Marshal(after.State())
	if err != nil || string(again) != string(file) {
		t.Errorf("the state changed on its way (%v):\n%s\n%s", err, file, again)
	}
	plays.check(t, "launch lives")
	if i := mustCreate(t, near, claim("lives", asks...)); i.ProviderID != lives.ProviderID {
		t.Errorf("%s was bought again as %s", lives.ProviderID, i.ProviderID)
	}
	if _, err := near.Create(t.Context(), claim("ends", asks...)); !cloud.IsNotFound(err) {
		t.Errorf("a token that is spent: %v, want NotFound", err)
	}
	if _, err := near.Create(t.Context(), claim("new", asks...)); cloud.MetricLabel(err) != "InsufficientCapacityError" {
		t.Errorf("both are taken: %v, want a shortage", err)
	}
	clock.Step(3 * time.Minute)
	mustCreate(t, near, claim("new", asks...))
}

func TestClasses(t *testing.T) {
	t.Parallel()
	_, far, near := world(memory.Options{})
	mustCreate(t, near, claim("a")) // any name will do
	foreign := claim("b")
	foreign.Class.Group = "other.dev"
	if _, err := near.Create(t.Context(), foreign); cloud.MetricLabel(err) != "NodeClassNotReadyError" {
		t.Errorf("a class of another group: %v", err)
	}
	small := &catalog.Catalog{Types: memory.Sample().Types[:1]}
	far.SetClass("default", memory.Class{Image: "image-7", Catalog: small})
	if i := mustCreate(t, near, claim("c")); i.ImageID != "image-7" || i.Offer.InstanceType != small.Types[0].Name {
		t.Errorf("%s from %s", i.Offer, i.ImageID)
	}
	other := claim("d")
	other.Class.Name = "other"
	if _, err := near.Create(t.Context(), other); cloud.MetricLabel(err) != "NodeClassNotReadyError" {
		t.Errorf("a class that nobody set: %v", err)
	}
	far.SetClass("default", memory.Class{NotReady: "no subnets"})
	if _, err := near.Create(t.Context(), claim("e")); cloud.MetricLabel(err) != "NodeClassNotReadyError" {
		t.Errorf("a class that is not ready: %v", err)
	}
	if i := mustCreate(t, near, claim("c")); i.ImageID != "image-7" {
		t.Errorf("what is paid for is hidden by its class: %+v", i)
	}
}

// Fakes must not be too kind: a machine's labels are those of what was bought.
func TestSampleSells(t *testing.T) {
	t.Parallel()
	_, _, near := world(memory.Options{})
	cases := map[string]struct {
		claim cloud.Claim
		want  string
	}{
		"the reservation first, since it is paid for": {claim("a"), "general-4/memory-1a/reserved/" + memory.ReservationID},
		"the cheapest zone":                           {claim("b", onDemand()...), "general-arm-1/memory-1a/on-demand"},
		"spot if allowed": {
			claim("c", is(requirement.KeyCapacityType, catalog.OnDemand, catalog.Spot)), "general-arm-1/memory-1a/spot"},
		"an architecture": {claim("d", append(onDemand(), is(requirement.KeyArch, "amd64"))...), "compute-1/memory-1a/on-demand"},
		"a zone":          {claim("e", onDemand("memory-1c")...), "general-arm-1/memory-1c/on-demand"},
		"a family":        {claim("f", append(onDemand(), is(memory.LabelFamily, "memory"))...), "memory-1/memory-1a/on-demand"},
		"more cores than a number": {
			claim("g", append(onDemand(), requirement.New(memory.LabelCPU, requirement.Gt, "8"))...), "general-arm-16/memory-1a/on-demand"},
	}
	gpu := claim("h", onDemand()...)
	gpu.Requests = model.NewResources(model.Amount{Name: memory.GPU, Value: 2})
	cases["accelerators"] = struct {
		claim cloud.Claim
		want  string
	}{gpu, "gpu-16/memory-1a/on-demand"}
	for name, tc := range cases {
		if got := mustCreate(t, near, tc.claim).Offer.String(); got != tc.want {
			t.Errorf("%s: %s was bought, want %s", name, got, tc.want)
		}
	}
}
