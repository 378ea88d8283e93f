package command

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"tenon/internal/cli"
	"tenon/lab/memorycloud"
	"tenon/lab/process"
)

// runOnMemory is the product's command line with a cloud in memory. The supervisor reads from its
// probes whether it is ready.
func runOnMemory(ctx context.Context, args []string, _ *process.Inherited) error {
	machines, err := clientcmd.BuildConfigFromFlags("", os.Getenv("LAB_MACHINES_KUBECONFIG"))
	if err != nil {
		return fmt.Errorf("read kubeconfig of machines: %w", err)
	}
	boot, err := time.ParseDuration(os.Getenv("LAB_BOOT_DELAY"))
	if err != nil {
		return fmt.Errorf("read LAB_BOOT_DELAY: %w", err)
	}
	world := cli.Process()
	world.Cloud.Open = memorycloud.Open(memorycloud.Options{Machines: machines, Boot: boot, State: os.Getenv("LAB_CLOUD_STATE")})
	if status := cli.Run(ctx, args, world); status != 0 {
		return fmt.Errorf("it ended with status %d", status)
	}
	return nil
}
