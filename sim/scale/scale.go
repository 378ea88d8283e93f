// Package scale runs a workload in the simulation, scales it down, and returns the cost of its fleet beside
// the lower bound that "tenon plan" proves for the same pods.
//
// It is the measurement of "tenon-lab live" under virtual time: the scheduler's scores and the
// product's controllers are the same, calls and decisions take no time, and a run repeats byte for byte.
package scale

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/model"
	"tenon/internal/testing/workload"
	"tenon/sim"
	"tenon/sim/measure"
	"tenon/sim/store"
	"tenon/sim/traffic"
)

// Options say what to run.
type Options struct {
	sim.Options
	Workload string
	Scale    float64       // of the number of pods
	Share    float64       // of the pods, which remain after scaling down
	Quiet    time.Duration // how long nothing must change until the cluster counts as settled
	Longest  time.Duration // for each of the two phases
	Nodes    bool          // says what each node holds at the end of each phase, and why it stays
	Say      func(format string, args ...any)
}

// Result is the measured fleet, and the violated rules of the simulation.
type Result struct {
	Up, Down   Phase
	Violations []string
}

// Phase is the result after the pods of the workload were made, or after it was scaled down.
type Phase struct {
	measure.Phase
	AtRest bool
}

// Run runs both phases.
func Run(ctx context.Context, o Options) (result Result, err error) {
	deployments, err := workload.Deployments(o.Workload, o.Seed, o.Scale)
	if err != nil {
		return result, err
	}
	offers := instancetype.Build(instancetype.Defaults(region))
	o.Catalog, o.Words = &offers.Catalog, instancetype.Words()
	o.Boot, o.Stop = time.Second, time.Second
	s, err := sim.New(o.Options)
	if err != nil {
		return result, err
	}
	prices := measure.Prices{Prices: instancetype.BuiltIn(region, instancetype.DefaultSpotPercent)}
	m := &measurement{Sim: s, Fleet: measure.NewFleet(prices), options: o, prices: prices, fleet: workload.Fleet(o.Workload), deployments: deployments}
	users := &traffic.Users{Client: s.Store, Now: s.Clock.Now}
	for _, object := range m.fleet {
		if err := s.Store.Create(ctx, object.DeepCopyObject().(client.Object)); err != nil {
			return result, fmt.Errorf("make %T: %w", object, err)
		}
	}
	if err := users.Judge(ctx); err != nil {
		return result, err
	}
	defer s.Store.Listen(m.hear)()
	s.Run(time.Minute)
	if result.Up, err = m.phase(ctx, 1); err == nil && o.Share < 1 {
		result.Down, err = m.phase(ctx, o.Share)
	}
	result.Violations = s.Report().Violations
	return result, err
}

// region is the region of the prices.
const region = "us-west-2"

// measurement follows the workload's fleet through both phases.
type measurement struct {
	*sim.Sim
	*measure.Fleet
	options     Options
	prices      measure.Prices
	fleet       []client.Object
	deployments []*appsv1.Deployment
	begun       time.Time
}

// phase runs this share of the workload, waits until it has settled, and measures the fleet.
func (m *measurement) phase(ctx context.Context, share float64) (p Phase, err error) {
	var wanted []client.Object
	pods := 0
	for _, d := range m.deployments {
		replicas := workload.Scaled(d, share)
		pods += int(replicas)
		d := d.DeepCopy()
		d.Spec.Replicas = &replicas
		wanted = append(wanted, d)
	}
	m.begun = m.Clock.Now()
	m.Begin(pods)
	for _, d := range wanted {
		err := m.Store.Create(ctx, d.DeepCopyObject().(client.Object))
		if client.IgnoreAlreadyExists(err) == nil && err != nil {
			err = m.Store.Patch(ctx, d, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, *d.(*appsv1.Deployment).Spec.Replicas)))
		}
		if err != nil {
			return p, fmt.Errorf("scale %s: %w", d.GetName(), err)
		}
	}
	p.AtRest = m.await()
	if m.options.Nodes {
		m.tellNodes()
	}
	planned, err := measure.Plan(ctx, region, m.prices, append(slices.Clone(m.fleet), wanted...))
	p.Phase = m.End(planned)
	return p, err
}

// await runs until nothing has changed for a while, and reports whether that happened.
func (m *measurement) await() bool {
	for next := m.begun; m.Clock.Since(m.begun) < m.options.Longest; {
		m.Run(time.Second)
		since := m.Clock.Since(m.begun)
		if now := m.Clock.Now(); !now.Before(next) {
			next = now.Add(progress)
			m.Say(since, m.options.Say)
		}
		if m.Settled() && m.Quiet(since) > m.options.Quiet {
			return true
		}
	}
	return false
}

// progress is the interval between reports on the fleet.
const progress = 10 * time.Second

// hear records a change of the cluster.
func (m *measurement) hear(c store.Change) { m.Note(c.Object(), c.New == nil, m.Clock.Since(m.begun)) }

// tellNodes says what each node costs and holds, and why it stays.
func (m *measurement) tellNodes() {
	pods, requests := map[string]int{}, map[string]model.Resources{}
	for _, pod := range store.All[*corev1.Pod](m.Store) {
		asks := pod.Spec.Containers[0].Resources.Requests
		pods[pod.Spec.NodeName]++
		requests[pod.Spec.NodeName] = requests[pod.Spec.NodeName].Add(model.Resources{CPU: asks.Cpu().MilliValue(), Memory: asks.Memory().Value()})
	}
	for _, c := range store.All[*karpenterv1.NodeClaim](m.Store) {
		verdict := ""
		if says := meta.FindStatusCondition(c.Status.Conditions, karpenterv1.ConditionDisruptable); says != nil {
			verdict = says.Message
		}
		has, node := c.Status.Allocatable, c.Status.NodeName
		m.options.Say("%-14s %-12s %6.3f $/h %3d pods %3d %% of CPU %3d %% of memory  %s", c.Name, c.Labels[corev1.LabelInstanceTypeStable], m.PriceOf(c.Name).Float(), pods[node],
			requests[node].CPU*100/max(1, has.Cpu().MilliValue()), requests[node].Memory*100/max(1, has.Memory().Value()), verdict)
	}
}
