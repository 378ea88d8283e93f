// Package stopwatch measures Tenon in a lab, from outside as a user would see it: the time from a pod to
// its claim, the time until a burst of pods has its nodes, and the controller's use of the machine.
package stopwatch

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/measure"
)

// Plan says what to measure.
type Plan struct {
	Program string // tenon-lab
	Singles int    // pods that come one by one
	Bursts  []int  // pods that come at once
	Nodes   int    // of the steady state, with ten pods each
	Steady  time.Duration
	// Settings are Tenon's, as NAME=VALUE.
	Settings []string
	Say      func(format string, args ...any)
}

// Result is what was measured.
type Result struct {
	Singles  Singles `json:"singles"`
	Bursts   []Burst `json:"bursts"`
	Steady   Steady  `json:"steady"`
	IdleCPU  float64 `json:"idleCores"`
	IdleRSS  int64   `json:"idleResidentBytes"`
	StartSec float64 `json:"startSeconds"`
}

// Singles is the result for pods that each needed a node, one after the other in a quiet cluster.
type Singles struct {
	Pods int `json:"pods"`
	// From the request that made the pod until the watch showed its claim, and until the call that bought
	// the machine arrived at AWS.
	ClaimMedian, ClaimWorst time.Duration
	FleetMedian, FleetWorst time.Duration
}

// Burst is the result for many pods of one Deployment.
type Burst struct {
	Pods int `json:"pods"`
	// Made is when the last pod was seen, Claimed when the last claim was, Bound when the last pod was
	// bound, all since the request.
	Made, Claimed, Bound time.Duration
	Claims               int
	PodsPerClaim         float64
	ResidentBytes        int64 // of the controller, with the pods on their nodes
}

// Steady is the controller's use of the machine while nothing happens.
type Steady struct {
	Nodes, Pods   int
	Cores         float64
	ResidentBytes int64
}

// run is one measurement.
type run struct {
	measure.Lab
	plan   Plan
	client client.Client
	config *rest.Config
	kinds  *runtime.Scheme
	result *Result
}

// Run starts a lab in a new directory, measures Tenon in it, and removes it.
func Run(ctx context.Context, plan Plan) (result Result, err error) {
	begun := time.Now()
	err = inLab(ctx, plan, func(r run) error {
		result.StartSec = time.Since(begun).Seconds()
		r.result = &result
		return r.measure(ctx)
	})
	return result, err
}

// inLab starts a lab in a new directory, calls work, and removes the lab.
func inLab(ctx context.Context, plan Plan, work func(run) error) error {
	lab, err := measure.NewLab(plan.Program)
	if err != nil {
		return err
	}
	defer os.RemoveAll(string(lab.Directory))
	lab.Env = []string{"GOGC=100"} // Go's default, as in clusters: what is measured is Tenon, not how little memory a lab takes
	r := run{Lab: lab, plan: plan}
	plan.Say("starting a lab with Tenon")
	up := []string{"--controller", "tenon"}
	for _, setting := range plan.Settings {
		up = append(up, "--set", setting)
	}
	if err := r.Up(ctx, up...); err != nil {
		return err
	}
	defer func() { _ = r.Down(ctx) }()
	if err := r.connect(); err != nil {
		return err
	}
	return work(r)
}

func (r run) measure(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	idle, err := r.usage(ctx, r.plan.Steady)
	if err != nil {
		return err
	}
	r.result.IdleCPU, r.result.IdleRSS = idle.Cores, idle.ResidentBytes
	if err := r.singles(ctx); err != nil {
		return err
	}
	for _, pods := range r.plan.Bursts {
		if err := r.burst(ctx, pods); err != nil {
			return err
		}
	}
	return r.steady(ctx)
}

func (r *run) connect() error {
	config, err := r.Config()
	if err != nil {
		return err
	}
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, karpenterv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(kinds); err != nil {
			return err
		}
	}
	r.config, r.kinds = config, kinds
	r.client, err = client.New(config, client.Options{Scheme: kinds})
	return err
}

// usage returns what the controller uses over a time.
func (r run) usage(ctx context.Context, over time.Duration) (Steady, error) {
	shares, err := r.Shares(ctx, over)
	if err != nil {
		return Steady{}, err
	}
	tenon, found := shares["tenon"]
	if !found {
		return Steady{}, fmt.Errorf("tenon does not run")
	}
	return Steady{Cores: tenon.Cores, ResidentBytes: tenon.ResidentBytes}, nil
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
