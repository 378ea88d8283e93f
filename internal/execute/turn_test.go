package execute

import (
	"sync/atomic"
	"testing"

	"tenon/internal/parallel"
	"tenon/internal/reconcile"
)

// Work in turn is done one piece after the other; with one command at a time, work may come to further work in turn.
func TestWorkInTurn(t *testing.T) {
	t.Parallel()
	alone := New(reconcile.Kit{}, nil, 1)
	inner := false
	if err := alone.InTurn(func() error { return alone.InTurn(func() error { inner = true; return nil }) }); err != nil || !inner {
		t.Errorf("the inner work is done: %t, %v", inner, err)
	}
	const pieces = 50
	beside, sum := New(reconcile.Kit{}, nil, 4), 0
	var at atomic.Int64
	parallel.Run(4, pieces, func(int) {
		_ = beside.InTurn(func() error {
			if at.Add(1) != 1 {
				t.Error("two pieces are done at the same time")
			}
			sum++
			at.Add(-1)
			return nil
		})
	})
	if sum != pieces {
		t.Errorf("%d of %d pieces are done", sum, pieces)
	}
}
