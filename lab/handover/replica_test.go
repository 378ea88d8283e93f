package handover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tenon/internal/manager"
	"tenon/internal/settings"
	"tenon/internal/version"
	"tenon/lab/labtest"
	"tenon/lab/memorycloud"
)

// replica is one controller, run inside the test's process.
type replica struct {
	name  string
	wire  *wire
	stop  context.CancelFunc
	ended chan error
}

// raise makes the cloud that both replicas buy from.
func raise(t *testing.T, lab *labtest.Lab) *memorycloud.Stage {
	t.Helper()
	log := funcr.New(func(_, line string) { t.Log("cloud ", line) }, funcr.Options{})
	s, err := memorycloud.New(context.Background(), memorycloud.Options{Machines: identity(t, lab, "kubelets"), Boot: time.Second}, log)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func identity(t *testing.T, lab *labtest.Lab, who string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", lab.Directory.UserConfig(who))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// start runs a replica with the product's own rights, which stands by until it holds the Lease.
func start(t *testing.T, lab *labtest.Lab, cloud *memorycloud.Stage, name string) *replica {
	t.Helper()
	s, _, err := settings.Parse([]string{
		"--leader-election-namespace=kube-system", "--metrics-port=0", "--health-probe-port=0",
	}, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{name: name, wire: &wire{}, ended: make(chan error, 1)}
	config := identity(t, lab, "tenon")
	config.Dial = r.wire.dial
	config.QPS, config.Burst = float32(s.KubeClientQPS), s.KubeClientBurst
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	process, err := manager.New(ctx, manager.Options{
		Settings: s, Connection: manager.Connection{Config: config}, Build: version.Get(),
		Log: funcr.New(func(string, string) {}, funcr.Options{}), Open: cloud.Open,
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- process.Start(ctx) }()
	t.Cleanup(func() {
		r.stop()
		r.wire.cut() // a replica that is already gone has nothing to say any more
	})
	return r
}

// wait waits until the replica has ended, and returns its error.
func (r *replica) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(labtest.Within):
		t.Fatalf("%s does not end", r.name)
		return nil
	}
}

// wire is a replica's connection to the API server, which a test can cut.
type wire struct {
	mu    sync.Mutex
	gone  bool
	lines []net.Conn
}

var errCut = errors.New("the wire is cut")

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if w.isCut() {
		return nil, errCut
	}
	line, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
	return line, nil
}

func (w *wire) isCut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
	for _, line := range w.lines {
		_ = line.Close() // it may have been closed already
	}
}
