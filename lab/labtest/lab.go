package labtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/lab/state"
)

// Lab is a running lab.
type Lab struct {
	Directory state.Directory
	Config    *rest.Config         // administrator, without a rate limit
	Clients   kubernetes.Interface // for Kubernetes' own kinds
	Client    client.Client        // for all kinds, unstructured ones as well

	supervisor *exec.Cmd
	stdin      io.Closer // the lab ends when it is closed, hence also when the test program is killed
	output     *syncBuffer
	ended      chan struct{}
}

// wanted are the options of Main, set before any test runs.
var wanted Options

// shared is the lab of the package.
var shared struct {
	sync.RWMutex // held for reading by tests that share the lab, for writing by one that has it alone

	once sync.Once
	lab  *Lab
	err  error
}

// Start gives a test exclusive use of the lab, and cleans the lab when the test ends.
func Start(t testing.TB) *Lab {
	t.Helper()
	shared.Lock()
	t.Cleanup(shared.Unlock)
	lab := existing(t)
	t.Cleanup(func() {
		lab.dumpIfFailed(t)
		lab.clean(t)
	})
	return lab
}

// Share gives a test the lab together with other tests. The test must use unique names for objects outside
// its namespaces, and remove them.
func Share(t testing.TB) *Lab {
	t.Helper()
	shared.RLock()
	t.Cleanup(shared.RUnlock)
	lab := existing(t)
	t.Cleanup(func() { lab.dumpIfFailed(t) })
	return lab
}

// Own starts a separate lab for one test, and ends it with the test.
func Own(t testing.TB, options Options) *Lab {
	t.Helper()
	lab, err := launch(options)
	if err != nil {
		t.Fatalf("start a lab: %v", err)
	}
	t.Cleanup(func() {
		lab.dumpIfFailed(t)
		if err := lab.stop(); err != nil {
			t.Error(err)
		}
	})
	return lab
}

func existing(t testing.TB) *Lab {
	t.Helper()
	shared.once.Do(func() { shared.lab, shared.err = launch(wanted) })
	if shared.err != nil {
		t.Fatalf("start a lab: %v", shared.err)
	}
	return shared.lab
}

// exit is os.Exit.
var exit = os.Exit

// stopAfter runs the tests and ends the lab, if there is one.
func stopAfter(run func() int) int {
	status := run()
	if shared.lab == nil {
		return status
	}
	if err := shared.lab.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(status, 1)
	}
	return status
}

// readyWithin is how long a lab may take to start, on a machine that is busy with other tests.
const readyWithin = 3 * time.Minute

// launch starts a lab in a new directory and waits until it is ready.
func launch(options Options) (*Lab, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	if options.Controller == "tenon" {
		if _, err := Product(); err != nil {
			return nil, err
		}
	}
	path, err := os.MkdirTemp("", "tenon-labtest-")
	if err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	lab := &Lab{Directory: state.Directory(path), output: &syncBuffer{}, ended: make(chan struct{})}
	if err := lab.run(program, options); err != nil {
		return nil, err
	}
	if err := lab.awaitReady(); err != nil {
		return nil, errors.Join(err, lab.stop())
	}
	return lab, lab.connect()
}

func (l *Lab) run(program string, options Options) error {
	args := append([]string{"up", "--until-eof", "--dir", string(l.Directory)}, options.flags()...)
	if options.Faults != "" {
		// The file is not in the lab's directory, because a starting lab cleans it.
		file := string(l.Directory) + ".faults.json"
		if err := os.WriteFile(file, []byte(options.Faults), 0o600); err != nil {
			return fmt.Errorf("write faults: %w", err)
		}
		go func() {
			<-l.ended
			_ = os.Remove(file) // it is in the folder for temporary files
		}()
		args = append(args, "--faults="+file)
	}
	l.supervisor = exec.Command(program, args...)
	l.supervisor.Stdout, l.supervisor.Stderr = l.output, l.output
	stdin, err := l.supervisor.StdinPipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	l.stdin = stdin
	if err := l.supervisor.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		defer close(l.ended)
		// The output, which every message here contains, says how the supervisor ended.
		_ = l.supervisor.Wait()
	}()
	return nil
}

func (l *Lab) awaitReady() error {
	limit := time.After(readyWithin)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-l.ended:
			return fmt.Errorf("the lab ended before it was ready:\n%s", l.output)
		case <-limit:
			return fmt.Errorf("the lab was not ready within %s:\n%s", readyWithin, l.output)
		case <-ticker.C:
			if record, found, err := l.Directory.Load(); err == nil && found && record.Ready {
				return nil
			}
		}
	}
}

func (l *Lab) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", l.Directory.Kubeconfig())
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	l.Config = patiently(config)
	if l.Clients, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("make clients: %w", err)
	}
	scheme, err := allKinds()
	if err != nil {
		return err
	}
	if l.Client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	return nil
}

// allKinds returns the kinds of Kubernetes and those of the product.
func allKinds() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, karpenterv1.AddToScheme, karpenterv1alpha1.AddToScheme,
		awsv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv1beta1.AddToScheme, tenonv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return scheme, nil
}

// stopWithin is how long a lab may take to end.
const stopWithin = time.Minute

func (l *Lab) stop() error {
	_ = l.stdin.Close() // it is closed already if the lab has ended
	select {
	case <-l.ended:
		return nil
	case <-time.After(stopWithin):
		_ = l.supervisor.Process.Kill()
		return fmt.Errorf("the lab did not end within %s:\n%s", stopWithin, l.output)
	}
}

// dumpIfFailed shows the end of every log of the lab.
func (l *Lab) dumpIfFailed(t testing.TB) {
	if !t.Failed() {
		return
	}
	record, _, err := l.Directory.Load()
	if err != nil {
		t.Log(err)
	}
	for _, component := range record.Components {
		tail, err := state.Tail(component.Log, 15)
		if err != nil {
			t.Log(err)
		}
		t.Logf("%s (%s), the end of its log:\n%s", component.Name, component.State, tail)
	}
}

// syncBuffer is a buffer that is written while it is read.
type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(text)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
