// Package measure measures a lab: how long it takes to start, how much of the machine it uses when idle,
// and how quickly it binds many pods. It drives tenon-lab from outside, as a user would. Lab is what other
// measurements start and look at, too.
package measure

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"

	"tenon/lab/machine"
)

// Plan says what to measure.
type Plan struct {
	Program string        // tenon-lab
	Idle    time.Duration // how long to measure the idle lab
	Nodes   int
	Pods    int
	Say     func(format string, args ...any) // prints what is being done
}

// Result is what was measured.
type Result struct {
	StartSeconds        float64 `json:"startSeconds"`
	IdleResidentBytes   int64   `json:"idleResidentBytes"`
	IdleCores           float64 `json:"idleCores"` // of one core, 0.15 is 15 %
	NodesReadySeconds   float64 `json:"nodesReadySeconds"`
	PodsBoundSeconds    float64 `json:"podsBoundSeconds"`
	PodsRunningSeconds  float64 `json:"podsRunningSeconds"`
	LoadedResidentBytes int64   `json:"loadedResidentBytes"`
	LoadedCores         float64 `json:"loadedCores"` // once the load is done
	StopSeconds         float64 `json:"stopSeconds"`

	ByComponent map[string]Share `json:"byComponent"` // of the idle lab
}

// How long the steps of a measurement may take.
const (
	nodesWithin = 5 * time.Minute
	podsWithin  = 10 * time.Minute
	// settle is how long a lab runs before it counts as idle: caches fill, leases are made.
	settle = 15 * time.Second
)

// Run starts a lab in a new directory, measures it, and removes it.
func Run(ctx context.Context, plan Plan) (result Result, err error) {
	lab, err := NewLab(plan.Program)
	if err != nil {
		return result, err
	}
	defer os.RemoveAll(string(lab.Directory))
	r := run{Lab: lab, plan: plan, result: &result}

	plan.Say("starting a lab")
	result.StartSeconds, err = seconds(func() error { return r.Up(ctx, "--controller", "none") })
	if err != nil {
		return result, err
	}
	err = r.measure(ctx)
	plan.Say("stopping it")
	stop, errStop := seconds(func() error { return r.Down(ctx) })
	result.StopSeconds = stop
	if err != nil {
		return result, err
	}
	return result, errStop
}

// run is one measurement.
type run struct {
	Lab
	plan   Plan
	client kubernetes.Interface
	result *Result
}

func (r run) measure(ctx context.Context) error {
	config, err := r.Config()
	if err != nil {
		return err
	}
	if r.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if err := r.idle(ctx); err != nil {
		return err
	}
	return r.load(ctx)
}

// idle measures an idle lab.
func (r run) idle(ctx context.Context) error {
	r.plan.Say("looking at the idle lab for %s", r.plan.Idle)
	shares, err := r.look(ctx)
	if err != nil {
		return err
	}
	r.result.ByComponent = shares
	for _, share := range shares {
		r.result.IdleResidentBytes += share.ResidentBytes
		r.result.IdleCores += share.Cores
	}
	return nil
}

// load adds machines and pods, and measures again when all pods run.
func (r run) load(ctx context.Context) error {
	r.plan.Say("adding %d nodes", r.plan.Nodes)
	names, err := machine.FreeNames(ctx, r.client, "node", r.plan.Nodes)
	if err != nil {
		return err
	}
	r.result.NodesReadySeconds, err = seconds(func() error {
		if err := machine.Add(ctx, r.client, names, machine.Form{CPU: "16", Memory: "64Gi", Pods: "110"}); err != nil {
			return err
		}
		return machine.AwaitReady(ctx, r.client, names, nodesWithin)
	})
	if err != nil {
		return err
	}
	r.plan.Say("running %d pods", r.plan.Pods)
	if err := r.pods(ctx); err != nil {
		return err
	}
	r.plan.Say("looking at the loaded lab for %s", r.plan.Idle)
	shares, err := r.look(ctx)
	if err != nil {
		return err
	}
	for _, share := range shares {
		r.result.LoadedResidentBytes += share.ResidentBytes
		r.result.LoadedCores += share.Cores
	}
	return nil
}

// look measures every process of the lab over the idle time, after a pause.
func (r run) look(ctx context.Context) (map[string]Share, error) {
	if err := Pause(ctx, settle); err != nil {
		return nil, err
	}
	return r.Shares(ctx, r.plan.Idle)
}

func seconds(do func() error) (float64, error) {
	began := time.Now()
	err := do()
	return time.Since(began).Seconds(), err
}
