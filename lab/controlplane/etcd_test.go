package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"tenon/lab/controlplane"
)

// inChild says that the test runs in a process of its own.
const inChild = "CONTROLPLANE_TEST_CHILD"

// etcd answers far more calls at once than the buffers of its socket hold. The environment counts when a process starts.
func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	if os.Getenv(inChild) != "" {
		callEtcd(t)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run=^TestManyCallsAtOnce$", "-test.timeout=1m")
	child.Dir, child.Env = t.TempDir(), append(append(os.Environ(), controlplane.ManyCalls()...), inChild+"=yes")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v: %.2000s", err, out)
	}
}

// callEtcd has 1,500 objects of 3 KB written and read back again and again, all at once.
func callEtcd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- controlplane.RunEtcd(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + controlplane.EtcdSocket}})
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for i := range 1500 {
		calls.Go(func() {
			key := fmt.Sprintf("/registry/pods/%d", i)
			for range 20 {
				isNew := clientv3.Compare(clientv3.ModRevision(key), "=", 0)
				if _, err := client.Txn(ctx).If(isNew).Then(clientv3.OpPut(key, strings.Repeat("x", 3000))).Else(clientv3.OpGet(key)).Commit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	calls.Wait()
}
