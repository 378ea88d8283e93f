// Package controlplane is the Kubernetes control plane of a lab: etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler, built from their Go modules. For each it has the flags
// that make it small and quick, and the function that runs it in a process of its own.
//
// Each component is one process, since their packages share state within a process: feature gates,
// logging and metrics can be set up once only, some paths end the process, and one component's
// fault would end all. As processes of one program they share its pages, and each can be
// named when it dies.
package controlplane

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// EtcdSocket is where etcd serves, relative to its directory, which is the working directory of
// etcd and of the API server. A socket in a private directory needs neither a port nor
// certificates; a relative name avoids the limit of about 100 characters for a socket's path. The
// name has the form of host and port, which etcd asks of every address.
const EtcdSocket = "client.sock:1"

// etcdQuota bounds the data. A cluster of 2,000 nodes and 60,000 pods takes about a tenth of it.
const etcdQuota = 8 << 30

// ManyCalls is the environment in which etcd and the API server answer any number of calls at once. gRPC stops reading from a connection while
// a number of control frames wait to be written, 100 by default. When both ends wait like that, and the buffers of the socket between them are
// full, nothing moves until the calls time out after a minute. Scaling a workload down by thousands of pods is enough for that.
func ManyCalls() []string {
	return []string{"GRPC_GO_EXPERIMENTAL_CONTROL_BUFFER_THROTTLE_LIMIT=10000"} // the most that gRPC accepts
}

// RunEtcd runs etcd in the working directory until the context ends.
func RunEtcd(ctx context.Context, ready func()) error {
	server, err := embed.StartEtcd(etcdConfig())
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
		ready()
	case err := <-server.Err():
		return fmt.Errorf("start: %w", err)
	case <-ctx.Done():
	}
	select {
	case err := <-server.Err():
		return fmt.Errorf("run: %w", err)
	case <-ctx.Done():
		// A graceful close hands leadership over and waits for clients; no other member would benefit.
		server.Server.HardStop()
		return nil
	}
}

func etcdConfig() *embed.Config {
	config := embed.NewConfig()
	config.Name = "lab"
	config.Dir = "data"
	config.LogLevel = "warn"
	// The log warns of requests that are slower than this. Without a limit it warns of every request.
	config.WarningUnaryRequestDuration, config.WarningApplyDuration = time.Second, time.Second
	config.LogOutputs = []string{"stderr"}

	client := url.URL{Scheme: "unix", Host: EtcdSocket}
	peer := url.URL{Scheme: "unix", Host: "peer.sock:1"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	// The data is thrown away with the lab: durability would cost time without any benefit.
	config.UnsafeNoFsync = true
	config.QuotaBackendBytes = etcdQuota
	config.BackendBatchInterval = 50 * time.Millisecond
	config.SnapshotCount = 20_000
	// A cluster of one elects itself, after a few ticks without a leader.
	config.TickMs, config.ElectionMs = 100, 500
	return config
}
