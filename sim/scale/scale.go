// Package scale runs a workload in the simulation, scales it down, and tells what its fleet costs beside
// the lower bound that "tenon plan" proves for the same pods.
//
// It is the measurement of "tenon-lab live" under virtual time: the scheduler's scores and the
// product's controllers are the same, calls and decisions take no time, and a run repeats byte for byte.
package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
	"tenon/core/model"
	"tenon/internal/aws"
	"tenon/internal/cli/planning"
	"tenon/internal/settings"
	"tenon/internal/testing/workload"
	"tenon/sim"
	"tenon/sim/store"
	"tenon/sim/traffic"
)

// Options say what to run.
type Options struct {
	sim.Options
	Workload string
	Scale    float64       // of the number of pods
	Share    float64       // of the pods, to which the workload is scaled down at last
	Quiet    time.Duration // without a change makes rest
	Longest  time.Duration // for each of the two phases
	Nodes    bool          // says what each node holds at the end of each phase, and why it stays
	Say      func(format string, args ...any)
}

// Result is what the fleet became, and which rules of the simulation were broken.
type Result struct {
	Up, Down   Phase
	Violations []string
}

// Phase is what became of the workload after its pods were made, or after it was scaled down. Times
// count from the request on, money is an hour's.
type Phase struct {
	Pods         int
	Bound        float64 // of "tenon plan" on the pods alone
	First, Price float64 // when all pods were bound for the first time, and at rest
	Peak         float64
	Nodes        int
	Claims       int // that were made
	LastClaim    time.Duration
	LastBound    time.Duration
	Rest         time.Duration
	Moved        int // pods that were deleted beyond those that the scaling takes
	AtRest       bool
}

// Run plays both phases.
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
	t := &tally{Sim: s, options: o, deployments: deployments, pods: map[string]bool{}, prices: map[string]model.Money{}, nodes: map[string]bool{}}
	users := &traffic.Users{Client: s.Store, Now: s.Clock.Now}
	for _, object := range workload.Fleet() {
		if err := s.Store.Create(ctx, object); err != nil {
			return result, fmt.Errorf("make %T: %w", object, err)
		}
	}
	if err := users.Judge(ctx); err != nil {
		return result, err
	}
	defer s.Store.Listen(t.hear)()
	s.Run(time.Minute)
	if result.Up, err = t.phase(ctx, 1); err == nil && o.Share < 1 {
		result.Down, err = t.phase(ctx, o.Share)
	}
	result.Violations = s.Report().Violations
	return result, err
}

// region is where prices are looked up.
const region = "us-west-2"

// tally follows pods and claims through both phases.
type tally struct {
	*sim.Sim
	options     Options
	deployments []*appsv1.Deployment

	pods    map[string]bool // by name: whether it is bound
	bound   int
	prices  map[string]model.Money // of claims that have a machine
	price   model.Money
	nodes   map[string]bool
	now     Phase
	begun   time.Time
	changed time.Time
	deleted int
	claimed time.Duration // when the last claim was made
}

// phase has so much of the workload run, waits for rest, and looks at the fleet.
func (t *tally) phase(ctx context.Context, share float64) (Phase, error) {
	before := len(t.pods)
	t.now, t.deleted, t.claimed, t.begun = Phase{}, 0, 0, t.Clock.Now()
	t.changed = t.begun
	var wanted []client.Object
	for _, d := range t.deployments {
		replicas := workload.Scaled(d, share)
		t.now.Pods += int(replicas)
		d := d.DeepCopy()
		d.Spec.Replicas = &replicas
		wanted = append(wanted, d)
	}
	for _, d := range wanted {
		err := t.Store.Create(ctx, d.DeepCopyObject().(client.Object))
		if client.IgnoreAlreadyExists(err) == nil && err != nil {
			err = t.Store.Patch(ctx, d, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, *d.(*appsv1.Deployment).Spec.Replicas)))
		}
		if err != nil {
			return t.now, fmt.Errorf("scale %s: %w", d.GetName(), err)
		}
	}
	t.await()
	if t.options.Nodes {
		t.tellNodes()
	}
	t.now.Rest = t.changed.Sub(t.begun)
	t.now.Moved = t.deleted - max(0, before-t.now.Pods)
	t.now.Price, t.now.Nodes = t.price.Float(), len(t.nodes)
	var err error
	t.now.Bound, err = bound(ctx, append(workload.Fleet(), wanted...))
	return t.now, err
}

// await runs until everything has stayed as it is for a while.
func (t *tally) await() {
	for next := t.begun; t.Clock.Since(t.begun) < t.options.Longest; {
		t.Run(time.Second)
		if now := t.Clock.Now(); !now.Before(next) {
			next = now.Add(progress)
			t.options.Say("%4ds: %d of %d pods bound, %d claims for %.2f $/h, %d made, %d pods deleted", int(now.Sub(t.begun).Seconds()),
				t.bound, t.now.Pods, len(t.prices), t.price.Float(), t.now.Claims, t.deleted)
		}
		if t.now.AtRest = t.settled() && t.Clock.Since(t.changed) > t.options.Quiet; t.now.AtRest {
			return
		}
	}
}

// progress is how often it is told how far the fleet has come.
const progress = 10 * time.Second

func (t *tally) settled() bool { return len(t.pods) == t.now.Pods && t.bound == t.now.Pods }

// hear notes a change of the cluster.
func (t *tally) hear(c store.Change) {
	changed := false
	switch o := c.Object().(type) {
	case *corev1.Pod:
		changed = t.notePod(o, c.New == nil)
	case *karpenterv1.NodeClaim:
		changed = t.noteClaim(o, c.New == nil)
	case *corev1.Node:
		if changed = t.nodes[o.Name] != (c.New != nil); c.New == nil {
			delete(t.nodes, o.Name)
		} else {
			t.nodes[o.Name] = true
		}
	}
	if changed {
		t.changed = t.Clock.Now()
	}
	if t.now.LastBound == 0 && t.settled() {
		t.now.LastClaim, t.now.LastBound, t.now.First = t.claimed, t.Clock.Since(t.begun), t.price.Float()
	}
}

func (t *tally) notePod(pod *corev1.Pod, gone bool) bool {
	was, known := t.pods[pod.Name]
	if was {
		t.bound--
	}
	if gone {
		delete(t.pods, pod.Name)
		t.deleted++
		return true
	}
	bound := pod.Spec.NodeName != ""
	if t.pods[pod.Name] = bound; bound {
		t.bound++
	}
	return !known || bound != was
}

func (t *tally) noteClaim(claim *karpenterv1.NodeClaim, gone bool) bool {
	old, known := t.prices[claim.Name]
	t.price -= old
	if gone {
		delete(t.prices, claim.Name)
		return true
	}
	if !known {
		t.now.Claims++
		t.claimed = t.Clock.Since(t.begun)
	}
	var price model.Money
	if claim.Status.ProviderID != "" {
		price = facts.PricesFor(region).Hourly[claim.Labels[corev1.LabelInstanceTypeStable]]
	}
	t.prices[claim.Name] = price
	t.price += price
	t.now.Peak = max(t.now.Peak, t.price.Float())
	return !known || price != old
}

// bound asks "tenon plan" what the pods must cost on a fleet of their own.
func bound(ctx context.Context, objects []client.Object) (float64, error) {
	folder, err := os.MkdirTemp("", "tenon-scale-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	var text, output bytes.Buffer
	for _, o := range workload.Typed(objects) {
		if err := json.NewEncoder(&text).Encode(o); err != nil {
			return 0, fmt.Errorf("write %s: %w", o.GetName(), err)
		}
	}
	file := filepath.Join(folder, "workload.json")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return 0, err
	}
	cloud := aws.Cloud()
	configured, _, err := settings.Parse(nil, func(string) (string, bool) { return "", false }, cloud.Settings...)
	if err != nil {
		return 0, err
	}
	_, err = planning.Run(ctx, planning.Options{
		Files: []string{file}, Region: region, Output: planning.JSON, Settings: configured, Given: func(string) bool { return false },
	}, planning.World{Out: &output, Err: io.Discard, Progress: io.Discard, Lookup: func(string) (string, bool) { return "", false }, Clock: time.Now, Cloud: cloud})
	if err != nil {
		return 0, fmt.Errorf("plan: %w", err)
	}
	var planned struct {
		Cost struct{ LowerBoundPerHour float64 }
	}
	err = json.Unmarshal(output.Bytes(), &planned)
	return planned.Cost.LowerBoundPerHour, err
}

// tellNodes says what each node costs and holds, and why it stays.
func (t *tally) tellNodes() {
	pods, requests := map[string]int{}, map[string]model.Resources{}
	for _, pod := range store.All[*corev1.Pod](t.Store) {
		asks := pod.Spec.Containers[0].Resources.Requests
		pods[pod.Spec.NodeName]++
		requests[pod.Spec.NodeName] = requests[pod.Spec.NodeName].Add(model.Resources{CPU: asks.Cpu().MilliValue(), Memory: asks.Memory().Value()})
	}
	for _, c := range store.All[*karpenterv1.NodeClaim](t.Store) {
		verdict := ""
		if says := meta.FindStatusCondition(c.Status.Conditions, karpenterv1.ConditionDisruptable); says != nil {
			verdict = says.Message
		}
		has, node := c.Status.Allocatable, c.Status.NodeName
		t.options.Say("%-14s %-12s %6.3f $/h %3d pods %3d %% of CPU %3d %% of memory  %s", c.Name, c.Labels[corev1.LabelInstanceTypeStable], t.prices[c.Name].Float(), pods[node],
			requests[node].CPU*100/max(1, has.Cpu().MilliValue()), requests[node].Memory*100/max(1, has.Memory().Value()), verdict)
	}
}
