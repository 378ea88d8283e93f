package command

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"k8s.io/component-base/logs"

	"tenon/lab/controlplane"
	"tenon/lab/process"
)

// components are the parts that this program runs when the supervisor starts it again. The flags
// are those of the component itself, so that a process list shows what each process runs.
var components = map[string]func(context.Context, []string, *process.Inherited) error{
	"etcd": func(ctx context.Context, _ []string, in *process.Inherited) error {
		return controlplane.RunEtcd(ctx, in.ReportReady)
	},
	"kube-apiserver": func(ctx context.Context, flags []string, in *process.Inherited) error {
		return controlplane.RunAPIServer(ctx, flags, in.Listener())
	},
	"kube-controller-manager": func(ctx context.Context, flags []string, in *process.Inherited) error {
		return controlplane.RunControllerManager(ctx, flags, in.Listener())
	},
	"kube-scheduler": func(ctx context.Context, flags []string, in *process.Inherited) error {
		return controlplane.RunScheduler(ctx, flags, in.Listener())
	},
	"aws":             runAWS,
	"tenon-on-memory": runOnMemory,
}

// runComponent is `tenon-lab component NAME FLAGS...`.
func runComponent(args []string, faults io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(faults, "tenon-lab: component: name one")
		return 2
	}
	run, known := components[args[0]]
	if !known {
		fmt.Fprintf(faults, "tenon-lab: component %s is not known\n", args[0])
		return 2
	}
	inherited, err := process.Inherit()
	if err != nil {
		fmt.Fprintf(faults, "tenon-lab: component %s: %v\n", args[0], err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	defer logs.FlushLogs()
	if err := run(ctx, args[1:], inherited); err != nil && ctx.Err() == nil {
		fmt.Fprintf(faults, "%s: %v\n", args[0], err)
		return 1
	}
	return 0
}
