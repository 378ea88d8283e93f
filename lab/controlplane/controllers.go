package controlplane

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// controllers lists those that an autoscaler's cluster needs: controllers that make pods, take them off
// bad nodes, count disruption budgets and quotas, bind volumes and claims, and clean up. Endpoints,
// certificates, cloud routes and autoscaling of pods stay out.
var controllers = []string{
	names.DeploymentController,
	names.ReplicaSetController,
	names.ReplicationControllerController,
	names.StatefulSetController,
	names.DaemonSetController,
	names.JobController,
	names.CronJobController,
	names.DisruptionController,

	names.NodeLifecycleController,
	names.TaintEvictionController,
	names.PodGarbageCollectorController,
	names.TTLAfterFinishedController,
	names.GarbageCollectorController,
	names.NamespaceController,
	names.ResourceQuotaController,

	names.ServiceAccountController,
	names.RootCACertificatePublisherController,
	names.ClusterRoleAggregationController,

	names.PersistentVolumeBinderController,
	names.PersistentVolumeAttachDetachController,
	names.PersistentVolumeProtectionController,
	names.PersistentVolumeClaimProtectionController,
	names.EphemeralVolumeController,
	names.ResourceClaimController,
}

// ControllerManagerFlags are the flags of the controller manager. A node is given up when it has
// been silent for the given time, which must be three heartbeats of the simulated kubelets.
func ControllerManagerFlags(files Files, nodeGrace time.Duration) []string {
	kubeconfig := files.UserConfig("kube-controller-manager")
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		// The lab's own authority identifies clients that ask for metrics; there is nothing to look up.
		"--authentication-skip-lookup=true",
		"--client-ca-file=" + files.PKI("ca.crt"),
		"--bind-address=127.0.0.1",
		"--tls-cert-file=" + files.PKI("serving.crt"),
		"--tls-private-key-file=" + files.PKI("serving.key"),
		"--root-ca-file=" + files.PKI("ca.crt"),
		"--leader-elect=false",
		"--profiling=false",
		"--controllers=" + strings.Join(controllers, ","),
		"--kube-api-content-type=application/vnd.kubernetes.protobuf",
		"--kube-api-qps=2000",
		"--kube-api-burst=4000",
		"--controller-start-interval=0s",

		"--concurrent-deployment-syncs=10",
		"--concurrent-replicaset-syncs=10",
		"--concurrent-gc-syncs=10",
		"--concurrent-namespace-syncs=10",
		"--attach-detach-reconcile-sync-period=5m",
		"--node-monitor-grace-period=" + nodeGrace.String(),
	}
}

// RunControllerManager runs kube-controller-manager until the context ends.
func RunControllerManager(ctx context.Context, flags []string, listener net.Listener) error {
	manager, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		return fmt.Errorf("make options: %w", err)
	}
	known, disabled, aliases := controllermanager.KnownControllers(), controllermanager.ControllersDisabledByDefault(), controllermanager.ControllerAliases()
	sets := manager.Flags(known, disabled, aliases)
	manager.ParsedFlags = &sets
	if err := parse("kube-controller-manager", sets, flags); err != nil {
		return err
	}
	manager.SecureServing.Listener = listener
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	if err := manager.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("set feature gates: %w", err)
	}
	if err := logsapi.ValidateAndApply(manager.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return fmt.Errorf("set up logs: %w", err)
	}
	config, err := manager.Config(ctx, known, disabled, aliases)
	if err != nil {
		return fmt.Errorf("complete options: %w", err)
	}
	return controllermanager.Run(ctx, config.Complete())
}
