package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/core/order"
	"tenon/core/provision"
	"tenon/internal/assembly"
	"tenon/internal/aws/controller/interruption"
	"tenon/internal/aws/controller/nodeclaim/tagging"
	"tenon/internal/aws/metrics"
	"tenon/internal/controller/nodegroup"
	"tenon/internal/journal"
	"tenon/internal/reconcile"
	"tenon/internal/settings"
	"tenon/internal/telemetry"
	"tenon/sim/mirror"
)

// Product is what runs in a process of the product: its controllers, and the function that receives every
// event before they are woken.
type Product struct {
	Controllers []reconcile.Controller
	Told        func(mirror.Event)
}

// Build makes the product from a kit. Suffix makes the ends of names.
type Build func(kit reconcile.Kit, suffix func() string) Product

// Whole is the product as it ships, without the parts for one cloud.
func Whole(kit reconcile.Kit, suffix func() string) Product { return whole(kit, suffix, 0, 0, nil) }

// Hasty is Whole with a limit on the steps of each decision, which makes decisions no less right, but more
// expensive, and with a pause between evaluations of the fleet.
func Hasty(steps int64, pause time.Duration) Build { return Recorded(steps, pause, nil) }

// Recorded is Hasty with a journal.
func Recorded(steps int64, pause time.Duration, record *journal.Journal) Build {
	return func(kit reconcile.Kit, suffix func() string) Product { return whole(kit, suffix, steps, pause, record) }
}

// sweeps is how many times the effort of a decision an evaluation of the fleet gets.
const sweeps = disrupt.FullEffort / provision.FullEffort

func whole(kit reconcile.Kit, suffix func() string, steps int64, pause time.Duration, record *journal.Journal) Product {
	parts := assembly.New(kit)
	parts.Suffix, parts.Parallel, parts.Pause, parts.Journal = suffix, 1, pause, record
	parts.Effort = decide.Budget{Steps: steps, Sweep: disrupt.Budget{Steps: sweeps * steps}}
	w := parts.World
	return Product{
		Controllers: assembly.Controllers(parts), // none yields: writes take no time here
		Told: func(e mirror.Event) {
			if e.New != nil {
				w.Put(e.New)
			} else {
				w.Remove(e.Old)
			}
		},
	}
}

// start runs the product in a new process.
func (s *Sim) start() error {
	s.started++
	p := &process{sim: s, name: fmt.Sprintf("tenon-%d", s.started), faulty: true, log: s.Log}
	m, err := mirror.New(mirror.Options{
		Store: s.Store, Lag: s.options.Faults.Lag, Dice: s.dice, Now: s.Clock.Now, Later: p.later, Arrived: p.arrived, Mishap: s.mishap,
	})
	if err != nil {
		return err
	}
	p.mirror = m
	kit, err := s.kit(p)
	if err != nil {
		return err
	}
	product := s.options.Product(kit, s.suffix)
	p.told = product.Told
	if kit.Groups != nil {
		product.Controllers = append(product.Controllers, nodegroup.New(kit, kit.Groups))
	}
	product.Controllers = append(product.Controllers, s.interruptions(p, kit), tagging.New(kit, labels{p}))
	p.setControllers(slices.DeleteFunc(product.Controllers, func(c reconcile.Controller) bool {
		return gauges(c) && !s.options.Gauges || c.Name == "disruption" && s.options.Alone
	}))
	m.Open()
	s.processes = append(s.processes, p)
	s.Log.Info("start", "process", p.name)
	return nil
}

func (s *Sim) kit(p *process) (reconcile.Kit, error) {
	p.near = s.Cloud.Connect()
	provider := cloudClient{p.near, p}
	metrics, err := telemetry.NewMetrics(prometheus.NewRegistry(), telemetry.LabelsOf(provider.Describe()))
	if err != nil {
		return reconcile.Kit{}, fmt.Errorf("make metrics: %w", err)
	}
	configured, _, err := settings.Parse(s.options.Arguments, func(string) (string, bool) { return "", false })
	if err != nil {
		return reconcile.Kit{}, fmt.Errorf("read settings: %w", err)
	}
	var groups cloud.Groups
	if s.groups != nil {
		groups = groupClient{s.groups, p}
	}
	return reconcile.Kit{
		Groups:   groups,
		Client:   caller{p.mirror.Client(), p},
		Server:   live{s.Store, p},
		Cloud:    telemetry.Observe(provider, metrics, s.Clock),
		Clock:    s.Clock,
		Events:   eventPublisher{s.Events, p},
		Metrics:  metrics,
		Settings: configured,
	}, nil
}

// eventPublisher receives the events of a process before they are deduplicated.
type eventPublisher struct {
	telemetry.Recorder
	of *process
}

// nominated is the text of the event that names a pod's claim.
const nominated = "Pod should schedule on: nodeclaim/"

// Publish implements telemetry.Recorder.
func (e eventPublisher) Publish(events ...telemetry.Event) {
	for _, event := range events {
		if target, told := strings.CutPrefix(event.Message, nominated); told {
			claim, _, _ := strings.Cut(target, ", ")
			e.of.sim.watch.Promised(e.of.name, event.Object.GetUID(), claim)
		}
	}
	e.Recorder.Publish(events...)
}

// interruptions is the controller that reads the cloud's notices. A signal takes the place of a long poll.
func (s *Sim) interruptions(p *process, kit reconcile.Kit) reconcile.Controller {
	own, _, err := metrics.New(prometheus.NewRegistry())
	if err != nil {
		panic("the metrics of AWS contradict each other: " + err.Error())
	}
	c := interruption.At(kit, noticeQueue{s.Notices, p}, shortageMarket{p.near}, own, 1)
	read := c.Reconcile
	c.Subscribe = s.Notices.Subscribe
	c.Reconcile = func(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
		if s.Notices.Empty() {
			return reconcile.Never, nil
		}
		return read(ctx, key)
	}
	return c
}

// shortageMarket is what a notice tells a provider about stock.
type shortageMarket struct{ *memory.Provider }

// SpotShort implements interruption.Market.
func (p shortageMarket) SpotShort(instanceType, zone string) {
	p.Shun(cloud.Offer{InstanceType: instanceType, Zone: zone, CapacityType: catalog.Spot})
}

// ReservationShort implements interruption.Market. It does nothing, because the cloud here reports the
// capacity of a reservation.
func (p shortageMarket) ReservationShort(string) {}

// labels are the tags of instances, as one process puts them back.
type labels struct{ of *process }

// Label implements tagging.Labeller.
func (l labels) Label(ctx context.Context, providerID string, tags map[string]string) error {
	names := map[string]memory.Tag{awsv1.TagNodePool: memory.TagPool, awsv1.TagNodeClass: memory.TagClass, awsv1.TagNodeClaim: memory.TagClaim}
	var known []memory.Tag
	for _, key := range order.Keys(tags) {
		if tag, is := names[key]; is {
			known = append(known, tag)
		}
	}
	_, err := around(l.of, "the tags of "+providerID, func() (struct{}, error) { return struct{}{}, l.of.near.Label(ctx, providerID, known...) })
	return err
}

// Forget implements tagging.Labeller. The simulated cloud answers with what is.
func (labels) Forget(string) {}

// gauges reports whether a controller runs every few seconds and only measures. Such controllers would take
// most of the steps of a week, and change nothing.
func gauges(c reconcile.Controller) bool {
	return strings.HasPrefix(c.Name, "metrics.") || strings.HasPrefix(c.Name, "operatorpkg.")
}

// alphabet has the characters that the API server accepts in names.
const alphabet = "bcdfghjklmnpqrstvwxz2456789"

func (s *Sim) suffix() string {
	var text [5]byte
	for i := range text {
		text[i] = alphabet[s.dice.IntN(len(alphabet))]
	}
	return string(text[:])
}
