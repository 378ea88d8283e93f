package controlplane

import (
	"context"
	"fmt"
	"net"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	logsapi "k8s.io/component-base/logs/api/v1"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// SchedulerConfig is the scheduler's configuration file. Everything that decides where a pod goes,
// and when it is tried again, keeps its default: Tenon is to meet the scheduler that users run.
func SchedulerConfig(files Files) []byte {
	return fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: %q
  contentType: application/vnd.kubernetes.protobuf
  qps: 2000
  burst: 4000
leaderElection:
  leaderElect: false
enableProfiling: false
enableContentionProfiling: false
`, files.UserConfig("kube-scheduler"))
}

// SchedulerFlags are the flags of the scheduler; its configuration is in a file of its own.
func SchedulerFlags(files Files) []string {
	kubeconfig := files.UserConfig("kube-scheduler")
	return []string{
		"--config=" + files.PKI("kube-scheduler.yaml"),
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		// The lab's own authority identifies clients that ask for metrics; there is nothing to look up.
		"--authentication-skip-lookup=true",
		"--client-ca-file=" + files.PKI("ca.crt"),
		"--bind-address=127.0.0.1",
		"--tls-cert-file=" + files.PKI("serving.crt"),
		"--tls-private-key-file=" + files.PKI("serving.key"),
	}
}

// RunScheduler runs kube-scheduler until the context ends.
func RunScheduler(ctx context.Context, flags []string, listener net.Listener) error {
	server := options.NewOptions()
	if err := parse("kube-scheduler", *server.Flags, flags); err != nil {
		return err
	}
	server.SecureServing.Listener = listener
	if err := server.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("set feature gates: %w", err)
	}
	if err := logsapi.ValidateAndApply(server.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return fmt.Errorf("set up logs: %w", err)
	}
	completed, instance, err := scheduler.Setup(ctx, server)
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	err = scheduler.Run(ctx, completed, instance)
	if ctx.Err() != nil {
		return nil // the scheduler returns an error when its context ends
	}
	return err
}
