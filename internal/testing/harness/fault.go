package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Call is a call to the API server.
type Call struct {
	// Verb is get, list, create, patch, delete, patch status or create eviction.
	Verb string
	// Kind is NodeClaim, Node and so on; of a list, NodeClaimList.
	Kind string
	Name string
	// Uncached says that the call bypasses the cache.
	Uncached bool
}

// String returns the verb and the kind, by which tests tell calls apart.
func (c Call) String() string { return c.Verb + " " + c.Kind }

// IsWrite reports whether the call would change something.
func (c Call) IsWrite() bool { return c.Verb != "get" && c.Verb != "list" }

// ErrBroken is the error of an API server that cannot be reached.
var ErrBroken = errors.New("harness: the API server cannot be reached")

// Conflict is the error that another writer was faster.
func Conflict(c Call) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: c.Kind}, c.Name, errors.New("the object has been modified"))
}

// Fail decides which of the controller's calls fail, before they do anything; nil lets all succeed.
func (r *Harness) Fail(fail func(Call) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = fail
}

// Calls returns the controller's calls so far, failed ones included, and forgets them.
func (r *Harness) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// held names an object that a slow cache still shows in an older state.
type held struct{ kind, name string }

// Hold lets the controller's cache show an object as it is now, until Release.
func (r *Harness) Hold(object client.Object) {
	r.t.Helper()
	r.Must(r.API.Get(context.Background(), client.ObjectKeyFromObject(object), object))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[held{r.kind(object), object.GetName()}] = object
}

// Lag makes the controller's cache list no object of a kind ("NodeList"), until Release.
func (r *Harness) Lag(list string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lagging = append(r.lagging, list)
}

func (r *Harness) lags(list client.ObjectList, live bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !live && slices.Contains(r.lagging, r.kind(list))
}

// Release lets the cache catch up.
func (r *Harness) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.held)
	r.lagging = nil
}

func (r *Harness) kind(object any) string {
	switch o := object.(type) {
	case client.Object:
		return last(fmt.Sprintf("%T", o))
	case client.ObjectList:
		return last(fmt.Sprintf("%T", o))
	}
	return fmt.Sprintf("%T", object)
}

func last(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

func (r *Harness) check(verb string, object any, name string, live bool) error {
	c := Call{Verb: verb, Kind: r.kind(object), Name: name, Uncached: live}
	r.mu.Lock()
	r.calls = append(r.calls, c)
	fail := r.fail
	r.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(c)
}

// show copies the held state of an object into it, if there is one.
func (r *Harness) show(object client.Object, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, isHeld := r.held[held{r.kind(object), name}]
	if !isHeld {
		return false
	}
	switch into := object.(type) {
	case *karpenterv1.NodeClaim:
		old.(*karpenterv1.NodeClaim).DeepCopyInto(into)
	case *karpenterv1.NodePool:
		old.(*karpenterv1.NodePool).DeepCopyInto(into)
	case *corev1.Node:
		old.(*corev1.Node).DeepCopyInto(into)
	default:
		r.t.Errorf("%T cannot be held", object)
	}
	return true
}

func (r *Harness) faulty(base client.WithWatch, live bool) client.WithWatch {
	return interceptor.NewClient(base, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := r.check("get", o, key.Name, live); err != nil {
				return err
			}
			if strings.Contains(key.Name, "/") { // as client-go has it
				return fmt.Errorf("invalid resource name %q: [may not contain '/']", key.Name)
			}
			if !live && r.show(o, key.Name) {
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if err := r.check("list", l, "", live); err != nil {
				return err
			}
			if r.lags(l, live) {
				return nil
			}
			if err := c.List(ctx, l, opts...); err != nil || live {
				return err
			}
			return meta.EachListItem(l, func(o runtime.Object) error {
				r.show(o.(client.Object), o.(client.Object).GetName())
				return nil
			})
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := r.check("create", o, o.GetName(), live); err != nil {
				return err
			}
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := r.check("update", o, o.GetName(), live); err != nil {
				return err
			}
			return c.Update(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := r.check("delete", o, o.GetName(), live); err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := r.check("patch", o, o.GetName(), live); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o, what client.Object, opts ...client.SubResourceCreateOption) error {
			if err := r.check("create "+sub, o, o.GetName(), live); err != nil {
				return err
			}
			return c.SubResource(sub).Create(ctx, o, what, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := r.check("patch "+sub, o, o.GetName(), live); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}
