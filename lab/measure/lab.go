package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tenon/lab/process"
	"tenon/lab/state"
)

// Lab is a lab in a new directory, which is started and stopped with the program tenon-lab.
type Lab struct {
	Program   string
	Directory state.Directory
	Env       []string // added to the environment of the lab
}

// NewLab makes the directory. The caller removes it when the lab has stopped.
func NewLab(program string) (Lab, error) {
	path, err := os.MkdirTemp("", "tenon-lab-measure-")
	if err != nil {
		return Lab{}, fmt.Errorf("make directory: %w", err)
	}
	return Lab{Program: program, Directory: state.Directory(path)}, nil
}

// Up starts the lab.
func (l Lab) Up(ctx context.Context, args ...string) error {
	return l.run(ctx, append([]string{"up", "--detach", "--boot-delay", "1s"}, args...)...)
}

// Down stops the lab, even if the measurement was interrupted.
func (l Lab) Down(ctx context.Context) error {
	return l.run(context.WithoutCancel(ctx), "down")
}

func (l Lab) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, l.Program, append(args, "--dir", string(l.Directory))...)
	cmd.Env = append(os.Environ(), l.Env...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tenon-lab %s: %w\n%s", args[0], err, output)
	}
	return nil
}

// Config is that of an administrator, without a limit on the rate of requests.
func (l Lab) Config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", l.Directory.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	return config, nil
}

// Supervisor is the name of the process that started the components.
const Supervisor = "supervisor"

// Share is what one process of the lab uses.
type Share struct {
	ResidentBytes int64   `json:"residentBytes"`
	Cores         float64 `json:"cores"`
}

// Shares measures every process of the lab over a time.
func (l Lab) Shares(ctx context.Context, over time.Duration) (map[string]Share, error) {
	before, err := l.Usage()
	if err != nil {
		return nil, err
	}
	if err := Pause(ctx, over); err != nil {
		return nil, err
	}
	after, err := l.Usage()
	if err != nil {
		return nil, err
	}
	shares := map[string]Share{}
	for name, usage := range after {
		shares[name] = Share{ResidentBytes: usage.ResidentBytes, Cores: (usage.CPU - before[name].CPU).Seconds() / over.Seconds()}
	}
	return shares, nil
}

// Usage is what every process of the lab has used so far.
func (l Lab) Usage() (map[string]process.Usage, error) {
	record, found, err := l.Directory.Load()
	if err != nil || !found {
		return nil, fmt.Errorf("read record of the lab (found %v): %w", found, err)
	}
	pids := map[string]int{Supervisor: record.Pid}
	for _, component := range record.Components {
		pids[component.Name] = component.Pid
	}
	usage := map[string]process.Usage{}
	for name, pid := range pids {
		if usage[name], err = process.Measure(pid); err != nil {
			return nil, fmt.Errorf("measure %s: %w", name, err)
		}
	}
	return usage, nil
}

// Pause waits, unless the context ends before. A lab runs in real time.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
