package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// ServiceRange are the addresses of Services; the first one is the API server's own.
const ServiceRange = "10.96.0.0/16"

// ServiceAddress is the API server's address as Service kubernetes.default.
var ServiceAddress = net.IPv4(10, 96, 0, 1)

// APIServerFlags are the flags of the API server. The files are those of the lab's directory.
func APIServerFlags(port int, files Files) []string {
	return []string{
		"--etcd-servers=unix://" + EtcdSocket,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + files.PKI("serving.crt"),
		"--tls-private-key-file=" + files.PKI("serving.key"),
		"--client-ca-file=" + files.PKI("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + files.PKI("tokens.pub"),
		"--service-account-signing-key-file=" + files.PKI("tokens.key"),
		"--service-cluster-ip-range=" + ServiceRange,
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true",
		"--anonymous-auth=false",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--profiling=false",

		// One user on one machine: there is no other user to be protected from.
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",

		// Events are most of what a busy cluster writes, and those of an hour ago are not read.
		"--event-ttl=20m",
		"--etcd-compaction-interval=2m",
		"--etcd-count-metric-poll-period=0",
		"--etcd-db-metric-poll-interval=0",

		// Admission that says something about pods, nodes and volumes stays. What goes would watch
		// objects which a lab has no use for.
		"--disable-admission-plugins=PodSecurity,ClusterTrustBundleAttest,CertificateApproval,CertificateSigning," +
			"CertificateSubjectRestriction,DefaultIngressClass",
		"--runtime-config=flowcontrol.apiserver.k8s.io/v1=false,certificates.k8s.io/v1=false",
	}
}

// RunAPIServer runs kube-apiserver until the context ends.
func RunAPIServer(ctx context.Context, flags []string, listener net.Listener) error {
	server := options.NewServerRunOptions()
	server.SecureServing.Listener = listener
	if err := parse("kube-apiserver", server.Flags(), flags); err != nil {
		return err
	}
	if err := server.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("set feature gates: %w", err)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	if err := logsapi.ValidateAndApply(server.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return fmt.Errorf("set up logs: %w", err)
	}
	completed, err := server.Complete(ctx)
	if err != nil {
		return fmt.Errorf("complete options: %w", err)
	}
	if err := errors.Join(completed.Validate()...); err != nil {
		return fmt.Errorf("check options: %w", err)
	}
	return serve(ctx, completed)
}

func serve(ctx context.Context, completed options.CompletedOptions) error {
	config, err := apiserver.NewConfig(completed)
	if err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	nameRelease(config)
	ready, err := config.Complete()
	if err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	chain, err := apiserver.CreateServerChain(ready)
	if err != nil {
		return fmt.Errorf("make servers: %w", err)
	}
	server, err := chain.PrepareRun()
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	return server.Run(ctx)
}

// parse reads flags into the options that the flag sets belong to.
func parse(name string, sets cliflag.NamedFlagSets, flags []string) error {
	all := pflag.NewFlagSet(name, pflag.ContinueOnError)
	all.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(flags); err != nil {
		return fmt.Errorf("read flags of %s: %w", name, err)
	}
	return nil
}
