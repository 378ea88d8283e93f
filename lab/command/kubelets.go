package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"tenon/lab/kubelet"
	"tenon/lab/process"
)

// runKubelets plays the kubelets of the lab's machines until the context ends.
func runKubelets(ctx context.Context, flags []string, in *process.Inherited) error {
	config := kubelet.Defaults()
	set := pflag.NewFlagSet("kubelets", pflag.ContinueOnError)
	kubeconfig := set.String("kubeconfig", "", "how to reach the API server")
	set.DurationVar(&config.BootDelay, "boot-delay", config.BootDelay, "from a machine's launch to its node")
	set.DurationVar(&config.HeartbeatInterval, "heartbeat", config.HeartbeatInterval, "how often leases are renewed")
	if err := set.Parse(flags); err != nil {
		return err
	}
	client, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.RESTConfig = client
	config.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))

	fleet, err := kubelet.New(config)
	if err != nil {
		return err
	}
	go func() {
		select {
		case <-fleet.Ready():
			in.ReportReady()
		case <-ctx.Done():
		}
	}()
	return fleet.Run(ctx)
}

// defaultHeartbeat is the kubelets' own.
func defaultHeartbeat() time.Duration { return kubelet.Defaults().HeartbeatInterval }
