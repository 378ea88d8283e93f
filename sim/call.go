package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/aws/instanceevents"
	"tenon/cloud/memory"
	"tenon/sim/sqs"
)

// before is called before a call takes effect: other events may come first, the process may end, the call
// may fail.
func (p *process) before(what string, write bool) error {
	if p.mapping || !p.faulty {
		return nil
	}
	s := p.sim
	if s.happens(s.options.Faults.Interleaved, "others go first, before", what) {
		s.interleave()
	}
	switch {
	case p.dead:
		panic(crashed{p}) // it ended meanwhile
	case s.happens(s.options.Faults.Crashes, "crash before", what):
		p.crash("before " + what)
	case write && s.happens(s.options.Faults.Refused, "refused:", what):
		return apierrors.NewInternalError(fmt.Errorf("simulated: %s was not done", what))
	}
	return nil
}

// after is called after a call took effect: the answer may be lost, and the process may end.
func (p *process) after(what string, err error) error {
	if p.mapping || !p.faulty {
		return err
	}
	s := p.sim
	if s.happens(s.options.Faults.Crashes, "crash after", what) {
		p.crash("after " + what)
	}
	if err == nil && s.happens(s.options.Faults.Lost, "answer lost:", what) {
		return apierrors.NewTimeoutError("simulated: the answer to "+what+" was lost", 1)
	}
	return err
}

var errFaster = errors.New("simulated: the object has been modified")

// caller is a client with faults.
type caller struct {
	client.Client
	of *process
}

// write makes a call with all its possible faults.
func (c caller) write(verb string, object client.Object, locked func() bool, do func() error) error {
	what := fmt.Sprintf("%s %T %s", verb, object, client.ObjectKeyFromObject(object))
	if err := c.of.before(what, true); err != nil {
		return err
	}
	if c.of.faulty && c.of.sim.options.Faults.Conflicts > 0 && locked() && c.of.sim.happens(c.of.sim.options.Faults.Conflicts, "conflict:", what) {
		return apierrors.NewConflict(schema.GroupResource{Resource: fmt.Sprintf("%T", object)}, object.GetName(), errFaster)
	}
	c.of.sim.Writes++
	err := do()
	c.of.sim.Log.V(1).Info("call", "of", c.of.name, "what", what, "err", fmt.Sprint(err))
	return c.of.after(what, err)
}

func (c caller) Get(ctx context.Context, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
	if err := c.of.before("get "+key.String(), false); err != nil {
		return err
	}
	return c.Client.Get(ctx, key, object, o...)
}

// Only writes that name the version they are for may meet a conflict.
func always() bool { return true }
func never() bool  { return false }

func versioned(object client.Object, patch client.Patch) func() bool {
	return func() bool {
		data, err := patch.Data(object)
		return err == nil && bytes.Contains(data, []byte("resourceVersion"))
	}
}

// removing tells the watch about the present object. A request that the server will refuse, because it
// names another object or version, has no effect.
func (p *process) removing(object client.Object, evicts bool, conditions *metav1.Preconditions) {
	same := func(now client.Object) bool {
		return conditions == nil || (conditions.UID == nil || *conditions.UID == now.GetUID()) &&
			(conditions.ResourceVersion == nil || *conditions.ResourceVersion == now.GetResourceVersion())
	}
	key := client.ObjectKeyFromObject(object)
	switch object.(type) {
	case *corev1.Pod:
		var pod corev1.Pod
		if p.sim.Store.Get(context.Background(), key, &pod) == nil && same(&pod) {
			p.sim.watch.Removing(&pod, evicts)
		}
	case *karpenterv1.NodeClaim:
		var claim karpenterv1.NodeClaim
		if p.sim.Store.Get(context.Background(), key, &claim) == nil && same(&claim) {
			p.sim.watch.Deleting(&claim)
		}
	}
}

func (c caller) Create(ctx context.Context, object client.Object, o ...client.CreateOption) error {
	return c.write("create", object, never, func() error { return c.Client.Create(ctx, object, o...) })
}

func (c caller) Delete(ctx context.Context, object client.Object, o ...client.DeleteOption) error {
	return c.write("delete", object, never, func() error {
		c.of.removing(object, false, (&client.DeleteOptions{}).ApplyOptions(o).AsDeleteOptions().Preconditions)
		return c.Client.Delete(ctx, object, o...)
	})
}

func (c caller) Update(ctx context.Context, object client.Object, o ...client.UpdateOption) error {
	return c.write("update", object, always, func() error { return c.Client.Update(ctx, object, o...) })
}

func (c caller) Patch(ctx context.Context, object client.Object, patch client.Patch, o ...client.PatchOption) error {
	return c.write("patch", object, versioned(object, patch), func() error { return c.Client.Patch(ctx, object, patch, o...) })
}

func (c caller) DeleteAllOf(ctx context.Context, object client.Object, o ...client.DeleteAllOfOption) error {
	return c.write("delete all", object, never, func() error { return c.Client.DeleteAllOf(ctx, object, o...) })
}

func (c caller) Apply(ctx context.Context, object runtime.ApplyConfiguration, o ...client.ApplyOption) error {
	return c.Client.Apply(ctx, object, o...)
}

func (c caller) Status() client.SubResourceWriter { return c.SubResource("status") }

func (c caller) SubResource(name string) client.SubResourceClient {
	return subcaller{c.Client.SubResource(name), c, name}
}

type subcaller struct {
	client.SubResourceClient
	caller caller
	name   string
}

func (c subcaller) Create(ctx context.Context, object, body client.Object, o ...client.SubResourceCreateOption) error {
	return c.caller.write("create "+c.name+" of", object, never, func() error {
		if e, is := body.(*policyv1.Eviction); is {
			c.caller.of.removing(object, true, ptr.Deref(e.DeleteOptions, metav1.DeleteOptions{}).Preconditions)
		}
		err := c.SubResourceClient.Create(ctx, object, body, o...)
		if c.name == "eviction" && err == nil {
			c.caller.of.sim.Evictions++
		}
		return err
	})
}

func (c subcaller) Update(ctx context.Context, object client.Object, o ...client.SubResourceUpdateOption) error {
	return c.caller.write("update "+c.name+" of", object, always, func() error { return c.SubResourceClient.Update(ctx, object, o...) })
}

func (c subcaller) Patch(ctx context.Context, object client.Object, patch client.Patch, o ...client.SubResourcePatchOption) error {
	return c.caller.write("patch "+c.name+" of", object, versioned(object, patch), func() error { return c.SubResourceClient.Patch(ctx, object, patch, o...) })
}

// live reads from the server instead of the caches.
type live struct {
	client.Reader
	of *process
}

func (l live) Get(ctx context.Context, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
	if err := l.of.before("read "+key.String(), true); err != nil {
		return err
	}
	return l.Reader.Get(ctx, key, object, o...)
}

func (l live) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if err := l.of.before(fmt.Sprintf("read %T", list), true); err != nil {
		return err
	}
	return l.Reader.List(ctx, list, o...)
}

// cloudClient is a client of the cloud whose process may end before or after any call. The cloud itself
// makes all other faults.
type cloudClient struct {
	cloud.Provider
	of *process
}

func around[T any](p *process, what string, do func() (T, error)) (T, error) {
	p.pause("before " + what)
	answer, err := do()
	p.pause("after " + what)
	return answer, err
}

// pause is like before, without the errors of an API server.
func (p *process) pause(what string) {
	s := p.sim
	if p.mapping || !p.faulty {
		return
	}
	if s.happens(s.options.Faults.Interleaved, "others go first,", what) {
		s.interleave()
	}
	if p.dead {
		panic(crashed{p})
	}
	if s.happens(s.options.Faults.Crashes, "crash", what) {
		p.crash(what)
	}
}

// Create implements cloud.Instances.
func (f cloudClient) Create(ctx context.Context, claim cloud.Claim) (cloud.Instance, error) {
	return around(f.of, "the purchase for "+claim.Name, func() (cloud.Instance, error) { return f.Provider.Create(ctx, claim) })
}

// Delete implements cloud.Instances.
func (f cloudClient) Delete(ctx context.Context, id string) error {
	_, err := around(f.of, "the end of "+id, func() (struct{}, error) {
		f.of.sim.watch.Ending(id)
		return struct{}{}, f.Provider.Delete(ctx, id)
	})
	return err
}

// Get implements cloud.Reader.
func (f cloudClient) Get(ctx context.Context, id string) (cloud.Instance, error) {
	return around(f.of, "a look at "+id, func() (cloud.Instance, error) { return f.Provider.Get(ctx, id) })
}

// List implements cloud.Reader.
func (f cloudClient) List(ctx context.Context) ([]cloud.Instance, error) {
	return around(f.of, "a list of instances", func() ([]cloud.Instance, error) { return f.Provider.List(ctx) })
}

// noticeQueue is the queue of notices, as one process reads it.
type noticeQueue struct {
	queue *sqs.Queue
	of    *process
}

// Receive implements interruption.Queue.
func (l noticeQueue) Receive(ctx context.Context) ([]instanceevents.Message, error) {
	return around(l.of, "a look into the queue", func() ([]instanceevents.Message, error) { return l.queue.Receive(ctx) })
}

// Delete implements interruption.Queue. A message that was not deleted because of an error comes again.
func (l noticeQueue) Delete(ctx context.Context, m instanceevents.Message) error {
	_, err := around(l.of, "the end of a message", func() (struct{}, error) {
		if l.of.faulty && l.of.sim.happens(l.of.sim.options.Faults.Refused, "refused:", "the end of a message") {
			return struct{}{}, memory.ErrUnreachable
		}
		return struct{}{}, l.queue.Delete(ctx, m)
	})
	return err
}
