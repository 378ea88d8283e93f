package versionguard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/versionguard"
)

// server is a client before a fake API server that counts what reaches it.
type server struct {
	*testing.T
	client.Client
	clock *clocktesting.FakeClock
	sent  int
}

func open(t *testing.T) *server {
	t.Helper()
	d := &server{T: t, clock: clocktesting.NewFakeClock(time.Unix(1e9, 0))}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid-a", Finalizers: []string{"holds.example/it"}}}
	server := fake.NewClientBuilder().WithObjects(node).WithStatusSubresource(node).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			d.sent++
			return c.Patch(ctx, o, p, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			d.sent++
			return c.SubResource(sub).Patch(ctx, o, p, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			d.sent++
			return d.remove(ctx, c, o, options...)
		},
	}).Build()
	d.Client = versionguard.Client(server, d.clock)
	return d
}

func (d *server) node() *corev1.Node {
	d.Helper()
	node := &corev1.Node{}
	if err := d.Get(d.Context(), client.ObjectKey{Name: "a"}, node); err != nil {
		d.Fatal(err)
	}
	return node
}

// label writes a label on the node as it was seen, or else its status.
func (d *server) label(seen *corev1.Node, value string, locked bool) error {
	changed := seen.DeepCopy()
	changed.Labels = map[string]string{"label": value}
	if locked {
		return d.Patch(d.Context(), changed, client.MergeFromWithOptions(seen, client.MergeFromWithOptimisticLock{}))
	}
	return d.Patch(d.Context(), changed, client.MergeFrom(seen))
}

func (d *server) phase(seen *corev1.Node, phase corev1.NodePhase) error {
	changed := seen.DeepCopy()
	changed.Status.Phase = phase
	return patch.StatusIfUnchanged(d.Context(), reconcile.Kit{Client: d}, seen, changed)
}

// remove deletes like an API server: the fake one does not look at the version.
func (d *server) remove(ctx context.Context, c client.Client, o client.Object, options ...client.DeleteOption) error {
	var all client.DeleteOptions
	all.ApplyOptions(options)
	if p := all.Preconditions; p != nil && p.ResourceVersion != nil && *p.ResourceVersion != d.node().ResourceVersion {
		return apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, o.GetName(), errors.New("changed"))
	}
	return c.Delete(ctx, o, options...)
}

// delete asks for the end of the node as it was seen.
func (d *server) delete(seen *corev1.Node, locked bool) error {
	if !locked {
		return d.Delete(d.Context(), seen)
	}
	return d.Delete(d.Context(), seen, client.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion})
}

// expect checks how a write ended and how many have reached the server.
func (d *server) expect(err error, conflict bool, sent int) {
	d.Helper()
	if apierrors.IsConflict(err) != conflict || !conflict && err != nil || d.sent != sent {
		d.Errorf("error %v, %d writes sent; want conflict %t, %d sent", err, d.sent, conflict, sent)
	}
}

// What we have replaced ourselves is not written on again, whether it is the status or not;
// what is written on as it is now, or without a version, goes through.
func TestOwnWritesOvertake(t *testing.T) {
	t.Parallel()
	d := open(t)
	old := d.node()
	d.expect(d.label(old, "one", true), false, 1)
	d.expect(d.label(old, "two", true), true, 1)
	d.expect(d.phase(old, corev1.NodeRunning), true, 1)
	d.expect(d.label(old, "three", false), false, 2)
	d.expect(d.phase(d.node(), corev1.NodeRunning), false, 3)
	d.expect(d.phase(old, corev1.NodePending), true, 3)
	if node := d.node(); node.Labels["label"] != "three" || node.Status.Phase != corev1.NodeRunning {
		t.Errorf("the node has %v, %s", node.Labels, node.Status.Phase)
	}
}

// A version that the server has refused once is not tried again, unless so long ago that
// the refusal has been forgotten.
func TestRefusalsAreRemembered(t *testing.T) {
	t.Parallel()
	d := open(t)
	old := d.node()
	other := d.node()
	other.Labels = map[string]string{"other": "was here"}
	if err := d.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	d.expect(d.label(old, "one", true), true, 1)
	d.expect(d.label(old, "one", true), true, 1)
	d.expect(d.label(d.node(), "one", true), false, 2)
	d.clock.Step(time.Minute)
	d.expect(d.label(old, "two", true), true, 3)
}

// An object of the same name that came after it is another one.
func TestSuccessorsAreOthers(t *testing.T) {
	t.Parallel()
	d := open(t)
	old := d.node()
	d.expect(d.label(old, "one", true), false, 1)
	old.UID = "uid-b"
	d.expect(d.label(old, "two", true), true, 2)
}

// Nothing is deleted as it was before our own write, or before a refusal; and what a deletion has
// marked is not written on, or deleted, as it was before.
func TestDeletionsAreWritesToo(t *testing.T) {
	t.Parallel()
	d := open(t)
	old := d.node()
	d.expect(d.label(old, "one", true), false, 1)
	d.expect(d.delete(old, true), true, 1)

	before := d.node()
	other := d.node()
	other.Labels = map[string]string{"other": "was here"}
	if err := d.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	d.expect(d.delete(before, true), true, 2)
	d.expect(d.delete(before, true), true, 2)
	d.expect(d.label(before, "two", true), true, 2)

	last := d.node()
	d.expect(d.delete(last, true), false, 3)
	d.expect(d.delete(last, true), true, 3)
	d.expect(d.label(last, "three", true), true, 3)
	d.expect(d.label(d.node(), "four", true), false, 4)
}

// A deletion without a version, or of what is being deleted already, holds nothing back.
func TestOtherDeletionsGoThrough(t *testing.T) {
	t.Parallel()
	d := open(t)
	old := d.node()
	d.expect(d.label(old, "one", true), false, 1)
	d.expect(d.delete(old, false), false, 2)
	going := d.node()
	d.expect(d.delete(going, true), false, 3)
	d.expect(d.label(going, "two", true), true, 4) // sent: it is the fake server that makes a new version
}
