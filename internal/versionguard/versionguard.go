// Package versionguard does not send writes that the API server would certainly refuse.
//
// Caches lag behind what was just written, and an event that wakes a controller meanwhile has it decide
// once more on the old version of an object, and write the same once more. The API server refuses such a
// write, because it carries an old version; but it costs as much as a successful one, and a busier API
// server makes caches lag more, which causes more such writes. So this package refuses a write, with the
// same error, if the answer to an earlier write of ours showed a newer version.
//
// The package must not hold back any other write, and decides nothing.
package versionguard

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client is a client that does not send patches and deletions which carry an overtaken version.
func Client(c client.Client, clock clock.PassiveClock) client.Client {
	return writer{c, &lowest{clock: clock, current: map[types.UID]mark{}}}
}

type writer struct {
	client.Client
	memory *lowest
}

// Patch implements client.Writer.
func (w writer) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return w.try(object, patch, func() error { return w.Client.Patch(ctx, object, plain(patch), options...) })
}

// Delete implements client.Writer.
func (w writer) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	uid, seen := object.GetUID(), required(object, options)
	if seen == 0 {
		return w.Client.Delete(ctx, object, options...)
	}
	if w.memory.overtaken(uid, seen) {
		return w.refusal(object)
	}
	// What is being deleted already may stay as it is; what was not, has changed or is gone.
	marked := object.GetDeletionTimestamp() == nil
	err := w.Client.Delete(ctx, object, options...)
	if err == nil && marked || apierrors.IsConflict(err) {
		w.memory.note(uid, seen+1)
	}
	return err
}

// required is the version that a deletion is for, if it is for that of the object only; else zero.
func required(object client.Object, options []client.DeleteOption) uint64 {
	var all client.DeleteOptions
	all.ApplyOptions(options)
	switch p := all.Preconditions; {
	case p == nil || p.ResourceVersion == nil || len(all.DryRun) > 0,
		p.UID != nil && *p.UID != object.GetUID(), *p.ResourceVersion != object.GetResourceVersion():
		return 0
	}
	return number(object.GetResourceVersion())
}

// Status implements client.StatusClient.
func (w writer) Status() client.SubResourceWriter { return status{w.Client.Status(), w} }

type status struct {
	client.SubResourceWriter
	writer writer
}

// Patch implements client.SubResourceWriter.
func (s status) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return s.writer.try(object, patch, func() error { return s.SubResourceWriter.Patch(ctx, object, plain(patch), options...) })
}

// try sends a patch unless it carries a version that is known to be overtaken, and remembers
// what the answer says of versions.
func (w writer) try(object client.Object, patch client.Patch, send func() error) error {
	uid, seen := object.GetUID(), number(object.GetResourceVersion())
	if w.memory.overtaken(uid, seen) && locked(object, patch, seen) {
		return w.refusal(object)
	}
	err := send()
	switch {
	case err == nil:
		w.memory.note(uid, number(object.GetResourceVersion()))
	case apierrors.IsConflict(err) && locked(object, patch, seen):
		w.memory.note(uid, seen+1)
	}
	return err
}

// locked reports whether a patch is for one version of the object only. Most patches can tell;
// of others the text has to be made.
func locked(object client.Object, patch client.Patch, seen uint64) bool {
	if p, tells := patch.(versioned); tells {
		return seen != 0 && number(p.ForVersion()) == seen
	}
	data, err := patch.Data(object)
	if err != nil {
		return false // sending it will say so
	}
	var carried struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	return json.Unmarshal(data, &carried) == nil && seen != 0 && number(carried.Metadata.ResourceVersion) == seen
}

// versioned is a patch that is for one version of its object, and says for which.
type versioned interface {
	ForVersion() string
	// Plain is the same patch as the client library makes it.
	Plain() client.Patch
}

// plain is what is sent: some clients know the library's own patches.
func plain(patch client.Patch) client.Patch {
	if p, tells := patch.(versioned); tells {
		return p.Plain()
	}
	return patch
}

var errOvertaken = errors.New("the object has been modified since it was read; what was read is known to be out of date")

// refusal is the error that the API server would answer with.
func (w writer) refusal(object client.Object) error {
	kind, err := w.GroupVersionKindFor(object)
	if err != nil {
		kind = object.GetObjectKind().GroupVersionKind() // the text suffers, and nothing else
	}
	return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, object.GetName(), errOvertaken)
}

// number is a version as the number that it is (Kubernetes: "Comparable resource versions"),
// or zero if it is none; of such a version nothing is known.
func number(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// forgotten is how long an answer counts. After that, caches have caught up, or are so broken that only a
// write shows the state.
const forgotten = time.Minute

// lowest is the lowest version of an object that may be its current one.
type lowest struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	current map[types.UID]mark
	swept   time.Time
}

type mark struct {
	lowest uint64
	noted  time.Time
}

func (m *lowest) overtaken(uid types.UID, version uint64) bool {
	now := m.clock.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	known, found := m.current[uid]
	return found && version != 0 && version < known.lowest && now.Sub(known.noted) < forgotten
}

func (m *lowest) note(uid types.UID, lowest uint64) {
	now := m.clock.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.swept) >= forgotten {
		m.swept = now
		for other, known := range m.current {
			if now.Sub(known.noted) >= forgotten {
				delete(m.current, other)
			}
		}
	}
	if known := m.current[uid]; uid != "" && lowest > known.lowest {
		m.current[uid] = mark{lowest, now}
	}
}
