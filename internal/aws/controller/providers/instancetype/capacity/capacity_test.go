package capacity_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/offering"
	"tenon/cloud/memory"
	"tenon/internal/aws/controller/providers/instancetype/capacity"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// notes are what was seen.
type notes struct {
	err   error // what the next look is answered with
	seen  []string
	texts map[string]string
}

func (n *notes) LearnMemory(class *awsv1.EC2NodeClass, instanceType, imageID string, bytes int64) (bool, error) {
	if err := n.err; err != nil {
		n.err = nil
		return false, err
	}
	n.seen = append(n.seen, strings.Join([]string{class.Name, instanceType, imageID, resource.NewQuantity(bytes, resource.BinarySI).String()}, " "))
	return true, nil
}
func (n *notes) Encode() map[string]string       { return maps.Clone(n.texts) }
func (n *notes) Restore(texts map[string]string) { n.texts = maps.Clone(texts) }

func class() *awsv1.EC2NodeClass {
	return &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
}

// A node that claims more memory than a number holds tells of the largest amount, and not of none.
func TestAbsurdMemoryIsTheLargestAmount(t *testing.T) {
	t.Parallel()
	r, n := harness.New(t, memory.Options{}, class()), &notes{}
	r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}
		c.Status.ProviderID = "aws:///a/i-1"
	})
	r.Must(r.API.Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"},
		Status: corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1e19")}},
	}))
	r.Run(capacity.New(r.Kit, n, "default")[0], "node-1")
	if len(n.seen) != 1 || !strings.HasSuffix(n.seen[0], " 4Pi") {
		t.Errorf("seen %q", n.seen)
	}
}

// A node that has joined tells its memory, with the type and image of its claim.
func TestNodesTellTheirMemory(t *testing.T) {
	t.Parallel()
	r, n := harness.New(t, memory.Options{}, class()), &notes{}
	r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}
		c.Labels[corev1.LabelInstanceTypeStable] = "m5.large"
		c.Status.ProviderID, c.Status.ImageID = "aws:///a/i-1", "ami-1"
	})
	r.Must(r.API.Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"},
		Status: corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("7Gi")}},
	}))
	r.Must(r.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "stranger"}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-2"}}))
	look := capacity.New(r.Kit, n, "default")[0]
	n.err = fmt.Errorf("just after the start: %w", offering.ErrNoTypes)
	if result, err := look.Reconcile(t.Context(), reconcile.Key{Name: "node-1"}); err != nil || result == reconcile.Never {
		t.Errorf("without instance types: %v and %v, want another look and no error", result, err)
	}
	for _, name := range []string{"node-1", "stranger", "gone"} {
		r.Run(look, name)
	}
	if len(n.seen) != 1 || n.seen[0] != "default m5.large ami-1 7Gi" {
		t.Errorf("seen %q", n.seen)
	}
}

// Only a node that joins is looked at, not every heartbeat.
func TestWhichChangesMatter(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	watch := capacity.New(r.Kit, &notes{}, "default")[0].Watches[0]
	plain, joined := &corev1.Node{}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{karpenterv1.LabelRegistered: "true"}}}
	for name, tc := range map[string]struct {
		old, changed client.Object
		want         bool
	}{
		"new": {nil, joined, true}, "joins": {plain, joined, true}, "beats": {joined, joined, false},
		"not yet": {nil, plain, false}, "goes": {joined, nil, false},
	} {
		if got := watch.Wakes(tc.old, tc.changed); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// What was learned outlives the process, and the map is written only when there is news.
func TestMemoryOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	n := &notes{}
	keep := capacity.New(r.Kit, n, "default")[1]
	r.Run(keep, "")
	n.texts = map[string]string{"images": "m5.large 1 x\n"}
	r.Run(keep, "")
	r.Calls()
	r.Run(keep, "")
	for _, call := range r.Calls() {
		if call.IsWrite() {
			t.Errorf("nothing is new, and it writes: %s", call)
		}
	}
	again := &notes{}
	r.Run(capacity.New(r.Restart(), again, "default")[1], "")
	if !maps.Equal(again.texts, n.texts) {
		t.Errorf("remembers %v, want %v", again.texts, n.texts)
	}
}

// News of a first node are written at once; of a crowd, once a minute.
func TestNewsAreKeptSoon(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, class())
	n := &notes{}
	both := capacity.New(r.Kit, n, "default")
	woken := 0
	both[1].Subscribe(func() { woken++ })
	r.Run(both[1], "")
	r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}
		c.Status.ProviderID = "aws:///a/i-1"
	})
	r.Must(r.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"}}))
	r.Run(both[0], "node-1")
	if woken != 1 {
		t.Errorf("woken %d times by news", woken)
	}
	kept := func(text string) bool {
		n.texts = map[string]string{"images": text}
		r.Run(both[1], "")
		var stored corev1.ConfigMap
		r.Must(r.API.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: capacity.Map}, &stored))
		return stored.Data["images"] == text
	}
	if first, second := kept("one"), kept("two"); !first || second {
		t.Errorf("the first is kept: %t; the second, in the same minute: %t", first, second)
	}
	r.Clock.Step(time.Minute)
	if !kept("three") {
		t.Error("after a minute nothing is kept")
	}
}

// A map that cannot be read is not overwritten.
func TestUnreadableMap(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	n := &notes{texts: map[string]string{"images": "new"}}
	r.Fail(func(c harness.Call) error {
		if c.Verb == "get" {
			return errors.New("boom")
		}
		return nil
	})
	if _, err := capacity.New(r.Kit, n, "default")[1].Reconcile(t.Context(), client.ObjectKey{}); err == nil {
		t.Error("no error")
	}
	r.Fail(nil)
	var stored corev1.ConfigMap
	if err := r.API.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: capacity.Map}, &stored); err == nil {
		t.Errorf("wrote %v", stored.Data)
	}
}
