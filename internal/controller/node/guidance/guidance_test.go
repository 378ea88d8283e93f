package guidance_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/cloud/memory"
	"tenon/core/order"
	"tenon/internal/controller/node/guidance"
	"tenon/internal/ingest"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fixture is three nodes in a harness, and a world that wants marks.
type fixture struct {
	*harness.Harness
	t      *testing.T
	c      reconcile.Controller
	wants  []map[string]bool // for one call after the other; the last one stays
	marked []string          // what the controller said it has marked, by call
}

func (w *fixture) SubscribeGuidance(func()) {}

func (w *fixture) Guide(marked map[string]bool) (map[string]bool, bool) {
	w.marked = append(w.marked, fmt.Sprint(order.Keys(marked)))
	wants := w.wants[0]
	if len(w.wants) > 1 {
		w.wants = w.wants[1:]
	}
	return wants, len(wants) > 0
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{Harness: harness.New(t, memory.Options{}), t: t, wants: []map[string]bool{{}}}
	for _, name := range []string{"a", "b", "c"} {
		w.Settled(name, "general")
	}
	w.c = guidance.New(w.Kit, w, 1)
	return w
}

// step reconciles, and returns the nodes with a mark and when it looks again.
func (w *fixture) step(want ...map[string]bool) string {
	w.t.Helper()
	w.wants = want
	again, err := w.c.Reconcile(context.Background(), reconcile.Key{})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(w.nodesMarked(), " ", again.After)
}

func (w *fixture) nodesMarked() []string {
	var nodes corev1.NodeList
	w.Must(w.API.List(context.Background(), &nodes))
	marked := map[string]bool{}
	for i := range nodes.Items {
		if !ingest.Receives(&nodes.Items[i]) {
			marked[nodes.Items[i].Name] = true
		}
	}
	return order.Keys(marked)
}

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out["node-"+name] = true
	}
	return out
}

// The world is asked again once nodes have their marks, and marks are written and removed at the same time.
func TestMarks(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, c := range []struct {
		when  string
		wants []map[string]bool
		want  string
	}{
		{"nothing moves", []map[string]bool{{}}, "[] 1m0s"},
		{"pods move, and a opens once all have the mark", []map[string]bool{set("a", "b", "c"), set("b", "c")}, "[node-b node-c] 200ms"},
		{"a stays open", []map[string]bool{set("b", "c")}, "[node-b node-c] 200ms"},
		{"b opens while a gets the mark", []map[string]bool{set("a", "c")}, "[node-a node-c] 200ms"},
		{"all is over", []map[string]bool{{}}, "[] 1m0s"},
		{"and stays so", []map[string]bool{{}}, "[] 1m0s"},
	} {
		if got := w.step(c.wants...); got != c.want {
			t.Errorf("%s: %s, want %s", c.when, got, c.want)
		}
	}
	if got := fmt.Sprint(w.marked[1:3]); got != "[[] [node-a node-b node-c]]" {
		t.Errorf("the world was told of the marks %s", got)
	}
}

// A process removes the marks that it finds, also where a write fails at first or the cache is behind.
func TestMarksAreRemoved(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, prepare := range map[string]func(*fixture){
		"of an earlier process": func(w *fixture) {
			w.step(set("a", "b"))
			w.c = guidance.New(w.Kit, w, 1)
		},
		"that the cache did not show at the start": func(w *fixture) {
			w.step(set("a", "b"))
			w.c = guidance.New(w.Kit, w, 1)
			w.Lag("NodeList")
			if got := w.step(set()); got != "[node-a node-b] 1m0s" {
				w.t.Errorf("without nodes: %s", got)
			}
			w.Release()
			w.Clock.Step(time.Minute)
		},
		"although a node is gone": func(w *fixture) {
			w.step(set("a", "b"))
			var node corev1.Node
			w.Get("node-a", &node)
			node.Finalizers = nil
			w.Put(&node)
			w.Delete(&node)
		},
		"although writes fail": func(w *fixture) {
			w.step(set("a", "b"))
			w.Fail(func(c harness.Call) error {
				if c.IsWrite() {
					return broken
				}
				return nil
			})
			if got := w.step(set()); got == "[] 200ms" {
				w.t.Error("no error")
			}
			w.Fail(nil)
		},
		"although others write": func(w *fixture) {
			w.step(set("a", "b"))
			w.Fail(func(c harness.Call) error {
				if c.IsWrite() {
					return harness.Conflict(c)
				}
				return nil
			})
			if got := w.step(set()); got != "[node-a node-b] 200ms" {
				w.t.Errorf("after conflicts: %s", got)
			}
			w.Fail(nil)
		},
		"although the cache does not show them": func(w *fixture) {
			var node corev1.Node
			w.Get("node-a", &node)
			w.Hold(&node)
			w.step(set("a", "b"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			prepare(w)
			w.step(set())
			w.Release()
			if got := w.nodesMarked(); len(got) > 0 {
				t.Errorf("%v have a mark", got)
			}
		})
	}
}
