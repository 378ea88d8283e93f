// Package measure measures a lab: how long it takes to start, how much of the machine it uses when idle,
// and how quickly it binds many pods. It drives tenon-lab from outside, as a user would.
package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"tenon/lab/machine"
	"tenon/lab/process"
	"tenon/lab/state"
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

// Share is one component's part of the idle lab.
type Share struct {
	ResidentBytes int64   `json:"residentBytes"`
	Cores         float64 `json:"cores"`
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
	path, err := os.MkdirTemp("", "tenon-lab-measure-")
	if err != nil {
		return result, fmt.Errorf("make directory: %w", err)
	}
	defer os.RemoveAll(path)
	directory := state.Directory(path)
	r := run{plan: plan, directory: directory, result: &result}

	plan.Say("starting a lab")
	result.StartSeconds, err = seconds(func() error {
		return r.tenonLab(ctx, "up", "--detach", "--controller", "none", "--boot-delay", "1s")
	})
	if err != nil {
		return result, err
	}
	err = r.measure(ctx)
	plan.Say("stopping it")
	// Run stops the lab even if the measurement was interrupted.
	stop, errStop := seconds(func() error { return r.tenonLab(context.WithoutCancel(ctx), "down") })
	result.StopSeconds = stop
	if err != nil {
		return result, err
	}
	return result, errStop
}

// run is one measurement.
type run struct {
	plan      Plan
	directory state.Directory
	client    kubernetes.Interface
	result    *Result
}

func (r run) measure(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", r.directory.Kubeconfig())
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
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
	record, found, err := r.directory.Load()
	if err != nil || !found {
		return nil, fmt.Errorf("read record of the lab (found %v): %w", found, err)
	}
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	pids := map[string]int{"supervisor": record.Pid}
	for _, component := range record.Components {
		pids[component.Name] = component.Pid
	}
	before := map[string]time.Duration{}
	for name, pid := range pids {
		usage, err := process.Measure(pid)
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", name, err)
		}
		before[name] = usage.CPU
	}
	if err := pause(ctx, r.plan.Idle); err != nil {
		return nil, err
	}
	shares := map[string]Share{}
	for name, pid := range pids {
		usage, err := process.Measure(pid)
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", name, err)
		}
		shares[name] = Share{
			ResidentBytes: usage.ResidentBytes,
			Cores:         (usage.CPU - before[name]).Seconds() / r.plan.Idle.Seconds(),
		}
	}
	return shares, nil
}

func (r run) tenonLab(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, r.plan.Program, append(args, "--dir", string(r.directory))...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tenon-lab %s: %w\n%s", args[0], err, output)
	}
	return nil
}

func seconds(do func() error) (float64, error) {
	began := time.Now()
	err := do()
	return time.Since(began).Seconds(), err
}

// pause waits, because a measurement takes real time.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
