// Package sim runs the product against a simulated cluster and cloud, one step at a time:
// the same controllers as in production, under virtual time, with faults from a seed.
//
// Nothing runs in parallel, and no code reads the real clock: the same options give the same run, byte for
// byte. The README beside this file says what is modelled, and what is not.
package sim

import (
	"cmp"
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/settings"
	"tenon/internal/telemetry"
	"tenon/sim/cluster"
	"tenon/sim/invariant"
	"tenon/sim/mirror"
	"tenon/sim/sqs"
	"tenon/sim/store"
	"tenon/sim/traffic"
)

// Options are everything that a run depends on.
type Options struct {
	Seed   uint64
	Faults Faults
	// Product is what runs; nil is Whole, with Effort and Pause.
	Product Build
	// Effort is how many steps the product spends on a decision; zero means no limit.
	Effort int64
	// Pause is the minimum time between two evaluations of the fleet; zero means the product's own.
	// Because the clock stands still while code runs, evaluations would be more frequent than on a
	// machine with other work.
	Pause time.Duration
	// Arguments are the product's flags.
	Arguments []string
	// Totals are flags of limits on all nodes, such as "max-nodes-total=6,cores-total=4:40".
	Totals string
	// Gauges also runs the controllers that only measure.
	Gauges bool
	// Pods is roughly how many pods run by day; with zero the caller fills the cluster.
	Pods int
	// Limit is the limit of the users' pool in cores; zero means enough. OnDemand makes it buy no spot
	// machines, so that more can be saved.
	Limit    int
	OnDemand bool
	// Alone makes the product decide no disruption. Empties makes it disrupt only empty nodes.
	Alone, Empties bool
	// Buffers makes users create capacity buffers, and opens the product's feature gate.
	Buffers bool
	// Groups gives the cloud groups of instances beside its machines, and opens the product's feature gate.
	Groups bool
	// Catalog is the cloud's catalogue, nil means memory.Sample; Words are the words that its labels
	// need.
	Catalog *catalog.Catalog
	Words   requirement.Words
	// Boot and Stop are how long a machine takes to start and to end; zero means half a minute and
	// twenty seconds.
	Boot, Stop time.Duration
	// Only are the numbers of the mishaps that happen; nil means all.
	Only Numbers
	// Passed is the shared cache of validation; nil means none. It saves time, and changes no run.
	Passed *store.Passed
	// Log receives each line of the run's log; nil means no log.
	Log func(line string)
	// Detail also logs every step and every call.
	Detail bool
}

// Sim is a run.
type Sim struct {
	Clock   *Clock
	Store   *store.Store
	Cloud   *memory.Cloud
	Notices *sqs.Queue
	Events  *telemetry.Memory
	Users   *traffic.Users
	Log     logr.Logger

	// Spoil makes machines that are bought never join; Away makes every call to the cloud fail.
	Spoil, Away bool

	// What has happened so far.
	Steps, Reconciles, Writes, Evictions, Crashed int
	Violations                                    []invariant.Violation
	// Script is what went wrong so far.
	Script []Mishap

	options   Options
	dice      *rand.Rand
	agenda    agenda
	numbered  uint64
	numbers   int // of mishaps
	depth     int
	started   int
	processes []*process
	watch     *invariant.Watch
	trace     hash.Hash64
	settling  time.Time
	sweeping  bool
	calm      bool
	begun     time.Time
	meter     meter
	minute    time.Time // the beginning of the minute in which steps are counted
	inMinute  int
	restless  bool
	catalog   *catalog.Catalog
	baseline  *baseline
	alone     model.Money     // the cost of the baseline
	announced int             // messages of the cloud
	meddled   map[string]bool // claims and nodes without the finalizers that they had
	undos     []func()        // what users take back in the end
	groups    *groups         // nil without groups
}

// birthday is the beginning of every run: a Monday at midnight.
var birthday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// New makes a run at its beginning.
func New(o Options) (*Sim, error) {
	if o.Product == nil {
		o.Product = Hasty(o.Effort, o.Pause)
	}
	var gates []string
	if o.Buffers {
		gates = append(gates, "CapacityBuffer=true")
	}
	if o.Groups {
		gates = append(gates, "NodeGroups=true")
	}
	if len(gates) > 0 {
		o.Arguments = append(slices.Clone(o.Arguments), "--feature-gates="+strings.Join(gates, ","))
	}
	if o.Totals != "" {
		for flag := range strings.SplitSeq(o.Totals, ",") {
			o.Arguments = append(slices.Clone(o.Arguments), "--"+flag)
		}
	}
	s := &Sim{
		Clock: &Clock{now: birthday}, options: o, dice: rand.New(rand.NewPCG(o.Seed, 1)),
		trace: fnv.New64a(), begun: birthday,
	}
	s.Log = logr.Discard()
	if o.Log != nil {
		level := 0
		if o.Detail {
			level = 1
		}
		s.Log = logr.New(runLog{now: s.Clock.Now, write: o.Log, name: "sim", most: level})
	}
	s.Events = telemetry.NewMemory(s.Clock)
	return s, s.build()
}

// build makes the world around the product, then the product.
func (s *Sim) build() error {
	var err error
	if s.Store, err = store.New(s.Clock, s.options.Seed, s.options.Passed); err != nil {
		return err
	}
	kube := &process{sim: s, name: "kube", log: logr.Discard()}
	kube.mirror, err = mirror.New(mirror.Options{
		Store: s.Store, Now: s.Clock.Now, Arrived: kube.arrived, Indexes: cluster.Indexes(),
	})
	if err != nil {
		return err
	}
	parts := &cluster.Cluster{
		Client: kube.mirror.Client(), Clock: s.Clock, Dice: rand.New(rand.NewPCG(s.options.Seed, 2)), Later: s.outside,
		Dud: func(id string) bool {
			return s.Spoil || !s.calm && s.happens(s.options.Faults.Duds, "never joins:", id)
		},
		Sick: func(id string) (time.Duration, bool) {
			return s.upTo(6 * time.Hour), !s.calm && s.happens(s.options.Faults.Sick, "falls ill:", id)
		},
		Calm: func() bool { return s.calm },
	}
	chance := memory.Chance{Seed: s.options.Seed, Rates: s.options.Faults.Cloud}
	if s.catalog = s.options.Catalog; s.catalog == nil {
		s.catalog = memory.Sample()
	}
	s.meter = meter{sim: s, next: parts, prices: pricesOf(s.catalog), lifetime: chance.Lifetime}
	s.Notices = &sqs.Queue{Now: s.Clock.Now, Later: s.outside}
	s.Cloud = memory.New(memory.Options{
		Clock: s.Clock, Seed: s.options.Seed, Boot: cmp.Or(s.options.Boot, 30*time.Second), Words: s.options.Words, Stop: cmp.Or(s.options.Stop, 20*time.Second),
		Kinds: []cloud.ClassKind{{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}},
		Trouble: func(c memory.Call) memory.Fault {
			switch {
			case s.Away:
				return memory.Fault{Before: memory.ErrUnreachable}
			case s.calm:
				return memory.Fault{}
			}
			fault := chance.Trouble(c)
			if fault != (memory.Fault{}) && !s.mishap("cloud:", fmt.Sprintf("%s %s, %+v", c.Method, c.Subject, fault)) {
				return memory.Fault{}
			}
			return fault
		},
		Lifetime: chance.Lifetime, Launcher: &s.meter, Catalog: s.catalog, Lag: s.options.Faults.CloudLag,
		ProviderID: func(zone, name string) string { return "aws:///" + zone + "/i-" + strings.TrimPrefix(name, "m-") },
	})
	s.meddled = map[string]bool{}
	s.watch = &invariant.Watch{Meddled: func(name string) bool { return s.meddled[name] },
		Store: s.Store, Cloud: s.Cloud, Now: s.Clock.Now, Report: s.violated,
		Several: func() bool { return len(s.processes) > 1 },
		Price:   func(o cloud.Offer) model.Money { return s.meter.prices[o] },
	}
	if s.watch.Totals, err = s.totals(); err != nil {
		return err
	}
	s.watch.Begin()
	s.Store.Listen(s.meter.hear)
	kube.setControllers(parts.Controllers())
	kube.told = func(e mirror.Event) { parts.Told(e.Old, e.New) }
	kube.mirror.Open()
	if s.options.Groups {
		s.groups = newGroups(s, parts)
	}
	if err := s.start(); err != nil {
		return err
	}
	s.schedule()
	if s.options.Pods == 0 {
		return nil
	}
	s.Users = &traffic.Users{
		Client: s.Store, Dice: rand.New(rand.NewPCG(s.options.Seed, 3)), Now: s.Clock.Now, Later: s.outside, Size: s.options.Pods,
		Limit: s.options.Limit, OnDemand: s.options.OnDemand, Empties: s.options.Empties,
	}
	if s.options.Buffers {
		s.Users.Buffers = rand.New(rand.NewPCG(s.options.Seed, 5))
	}
	return s.Users.Begin(context.Background())
}

// totals are what the product's flags say about all nodes together.
func (s *Sim) totals() (invariant.Totals, error) {
	configured, _, err := settings.Parse(s.options.Arguments, func(string) (string, bool) { return "", false })
	if err != nil {
		return invariant.Totals{}, fmt.Errorf("read settings: %w", err)
	}
	t := invariant.Totals{Limits: configured.Totals.Limits(), Floors: configured.Totals.Floors()}
	if s.options.Groups {
		t.Groups = func() []cloud.Group { return s.groups.List() }
	}
	return t, nil
}

// outside adds an entry that belongs to no process.
func (s *Sim) outside(at time.Time, what string, do func()) { s.later(at, what, nil, do) }

func (s *Sim) violated(v invariant.Violation) {
	s.Violations = append(s.Violations, v)
	s.Log.Info("violation", "rule", v.Rule, "what", v.What)
}

// Step performs the next entry before a time, and reports whether there was one.
func (s *Sim) Step(until time.Time) bool {
	e, found := s.next(until)
	if !found {
		s.meter.advance(until)
		s.Clock.forward(until)
		return false
	}
	s.perform(e)
	return true
}

// Run runs for a duration.
func (s *Sim) Run(d time.Duration) {
	for until := s.Clock.Now().Add(d); !s.stuck() && s.Step(until); {
	}
}

// The most steps of a minute, in all and for each pod. With more, controllers wake each other, at once or a
// millisecond later.
const (
	busiest       = 50_000
	busiestPerPod = 20
)

// stuck reports once that time hardly advances.
func (s *Sim) stuck() bool {
	if !s.restless && s.inMinute >= max(busiest, busiestPerPod*s.options.Pods) {
		s.restless = true
		s.violated(invariant.Violation{At: s.Clock.Now(), Rule: "time goes on", What: "the controllers wake each other without end"})
	}
	return s.restless
}

// perform runs one entry. A process that ends in it starts again later.
func (s *Sim) perform(e *entry) {
	if s.inMinute++; e.at.Sub(s.minute) >= time.Minute {
		s.minute, s.inMinute = e.at, 0
	}
	s.meter.advance(e.at)
	s.Clock.forward(e.at)
	s.Steps++
	fmt.Fprintf(s.trace, "%d %s\n", e.at.UnixNano(), e.what)
	s.Log.V(1).Info("step", "what", e.what)
	s.depth++
	s.survive(e)
	s.depth--
	s.follow()
}

// survive recovers from the end of the process that the entry belongs to, and of no other.
func (s *Sim) survive(e *entry) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case crashed:
			if e.of != fault.process {
				panic(fault) // frames further out are of that process
			}
		default:
			panic(fault)
		}
	}()
	e.do()
}

// memorable is the largest number of steps for which events are kept: a week has millions.
const memorable = 10_000

// follow handles what every step may leave behind.
func (s *Sim) follow() {
	if at, due := s.Cloud.Next(); due && (s.settling.IsZero() || at.Before(s.settling)) {
		s.settling = at
		s.outside(at, "the cloud settles", func() {
			s.settling = time.Time{}
			s.Cloud.Settle()
		})
	}
	if s.Store.NeedsCollect() && !s.sweeping {
		s.sweeping = true
		s.outside(s.Clock.Now().Add(time.Second), "garbage", func() {
			s.sweeping = false
			s.Store.Collect()
		})
	}
	if s.Steps%1000 == 0 && !s.calm && len(s.Events.Events()) > memorable {
		s.Events.Forget()
	}
	if s.depth == 0 {
		s.watch.Step()
		s.revive()
	}
}

// revive starts a process when none is left.
func (s *Sim) revive() {
	alive := s.processes[:0]
	for _, p := range s.processes {
		if !p.dead {
			alive = append(alive, p)
		}
	}
	s.processes = alive
	if len(alive) > 0 || s.meter.reviving {
		return
	}
	s.meter.reviving = true
	s.outside(s.Clock.Now().Add(time.Second+s.upTo(s.options.Faults.Restart)), "restart", func() {
		s.meter.reviving = false
		if len(s.processes) == 0 { // a hand-over may have come first
			s.must(s.start())
		}
	})
}

// must is for calls that cannot fail.
func (s *Sim) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("sim: %v", err))
	}
}

// interleave lets other entries happen during a call.
func (s *Sim) interleave() {
	const deepest, most, longest = 2, 4, 2 * time.Second
	if s.depth > deepest {
		return
	}
	until := s.Clock.Now().Add(s.upTo(longest))
	for range 1 + s.dice.IntN(most) {
		e, found := s.next(until)
		if !found {
			return
		}
		s.perform(e)
	}
}

// later adds an entry that ends with the process.
func (p *process) later(at time.Time, do func()) { p.sim.later(at, p.name+" hears", p, do) }

// Rest stops users and faults, waits until everything should have settled, and checks the final state.
func (s *Sim) Rest(d time.Duration) {
	if s.Users != nil {
		s.must(s.Users.Stop(context.Background()))
	}
	s.calm = true
	s.options.Faults = Faults{Lag: s.options.Faults.Lag, Restart: s.options.Faults.Restart}
	s.Restock()
	s.undoAll()
	if s.groups != nil {
		s.groups.Plenty()
	}
	s.Run(d / 2)
	before, said := s.watch.Late(), len(s.Events.Events())
	s.Run(d - d/2)
	s.watch.Settled(before)
	s.watch.Recent = func() []telemetry.Event { return s.Events.Events()[said:] }
	s.watch.AtRest()
}

// Trace is a number that distinguishes two runs.
func (s *Sim) Trace() uint64 { return s.trace.Sum64() }
