package kubelet

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// world is a fleet on an API server in memory, in fake time that passes only while all goroutines wait.
type world struct {
	t      *testing.T
	server *apiServer
	client kubernetes.Interface
	fleet  *Fleet
	log    *strings.Builder
	stop   func()
}

// live runs a test in a world, and fails it if a goroutine is left behind.
func live(t *testing.T, test func(w *world)) {
	t.Helper()
	liveWith(t, func(*Config) {}, test)
}

func liveWith(t *testing.T, change func(*Config), test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		w := &world{t: t, server: server, client: clientOf(t, server), log: &strings.Builder{}}
		w.run(change)
		defer func() { w.stop() }() // also when the test fails: the bubble waits for all goroutines
		test(w)
	})
}

func clientOf(t *testing.T, s *apiServer) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(clientConfig(s.config()))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// run starts a fleet, and keeps in the world how to stop it.
func (w *world) run(change func(*Config)) {
	w.t.Helper()
	c := Defaults()
	c.RESTConfig = w.server.config()
	c.Log = slog.New(slog.NewTextHandler(w.log, nil))
	change(&c)
	fleet, err := New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.fleet = fleet
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- fleet.Run(ctx) }()
	select {
	case <-fleet.Ready():
	case err := <-done:
		w.t.Fatalf("fleet ended: %v", err)
	}
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("fleet ended: %v", err)
		}
	}
}

// pass lets time pass, and waits until everything that was due is done.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (w *world) node(name string) *v1.Node {
	w.t.Helper()
	n, err := w.client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) pod(name string) *v1.Pod {
	w.t.Helper()
	p, err := w.client.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) createNode(n *v1.Node) {
	w.t.Helper()
	if _, err := w.client.CoreV1().Nodes().Create(context.Background(), n, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// readyNode makes a hand-made Node that has booted.
func (w *world) readyNode(name string) {
	w.t.Helper()
	w.createNode(HandMadeNode(name, nil))
	w.pass(w.fleet.config.BootDelay)
}

func (w *world) createPod(p *v1.Pod) {
	w.t.Helper()
	if _, err := w.client.CoreV1().Pods(p.Namespace).Create(context.Background(), p, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) deletePod(name string) {
	w.t.Helper()
	if err := w.client.CoreV1().Pods("default").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) annotateNode(name, patch string) {
	w.t.Helper()
	text := []byte(`{"metadata":{"annotations":` + patch + `}}`)
	if _, err := w.client.CoreV1().Nodes().Patch(context.Background(), name, types.MergePatchType, text, metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// written returns how many writes of a kind the server has seen.
func (w *world) written(what string) int {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	return w.server.writes[what]
}

// allWrites returns how many writes the server has seen.
func (w *world) allWrites() int {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	sum := 0
	for _, n := range w.server.writes {
		sum += n
	}
	return sum
}

// podOption changes a pod of a test.
type podOption func(*v1.Pod)

// boundPod is a server's pod on a node.
func boundPod(name, node string, options ...podOption) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: v1.PodSpec{
			NodeName:      node,
			RestartPolicy: v1.RestartPolicyAlways,
			Containers:    []v1.Container{{Name: "main", Image: "server:1"}},
		},
	}
	for _, option := range options {
		option(p)
	}
	return p
}

func annotated(name, value string) podOption {
	return func(p *v1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[name] = value
	}
}

func restarting(policy v1.RestartPolicy) podOption {
	return func(p *v1.Pod) { p.Spec.RestartPolicy = policy }
}

func image(name string) podOption {
	return func(p *v1.Pod) { p.Spec.Containers[0].Image = name }
}

func finalizer(name string) podOption {
	return func(p *v1.Pod) { p.Finalizers = append(p.Finalizers, name) }
}

// describePod prints a pod's status in a line, easy to read in a diff.
func describePod(p *v1.Pod) string {
	if p == nil {
		return "gone"
	}
	words := []string{string(p.Status.Phase)}
	for _, c := range p.Status.ContainerStatuses {
		words = append(words, describeContainer(c))
	}
	var yes []string
	for _, c := range p.Status.Conditions {
		if c.Status == v1.ConditionTrue {
			yes = append(yes, string(c.Type))
		}
	}
	if len(yes) > 0 {
		words = append(words, strings.Join(yes, ","))
	}
	return strings.Join(words, " ")
}

func describeContainer(c v1.ContainerStatus) string {
	switch {
	case c.State.Running != nil:
		return fmt.Sprintf("%s:running/%d", c.Name, c.RestartCount)
	case c.State.Terminated != nil:
		return fmt.Sprintf("%s:exit%d/%d", c.Name, c.State.Terminated.ExitCode, c.RestartCount)
	case c.State.Waiting != nil:
		return fmt.Sprintf("%s:%s/%d", c.Name, c.State.Waiting.Reason, c.RestartCount)
	default:
		return c.Name + ":?"
	}
}

func readyStatus(n *v1.Node) string {
	if n == nil {
		return "gone"
	}
	c := nodeCondition(n.Status.Conditions, v1.NodeReady)
	if c == nil {
		return "none"
	}
	return string(c.Status)
}

func taintKeys(n *v1.Node) []string {
	var keys []string
	for _, t := range n.Spec.Taints {
		keys = append(keys, t.Key)
	}
	slices.Sort(keys)
	return keys
}

func quantities(pairs ...string) v1.ResourceList {
	list := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}
