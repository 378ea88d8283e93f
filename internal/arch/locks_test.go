package arch

import (
	"testing"
	"testing/fstest"
)

func TestOwnersOfStateAskTheWorldWithoutTheirLock(t *testing.T) {
	t.Parallel()
	report(t, Locks(load(t, root)))
}

// A call of the world under a lock is found, whether the lock is released later in the function or at its end.
func TestCallsUnderALockAreFound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code string
		want int
	}{
		"until the end":        {`d.mu.Lock(); defer d.mu.Unlock(); d.world.Put()`, 1},
		"before the release":   {`d.mu.RLock(); x := d.world.Get(); d.mu.RUnlock(); _ = x`, 1},
		"after the release":    {`d.mu.Lock(); d.mu.Unlock(); d.world.Put()`, 0},
		"before the lock":      {`d.world.Put(); d.mu.Lock(); defer d.mu.Unlock()`, 0},
		"in a loop":            {`d.mu.Lock(); for range 3 { if d.world.Get() { continue } }; d.mu.Unlock()`, 1},
		"its clock":            {`d.mu.Lock(); defer d.mu.Unlock(); d.world.clock.Now()`, 0},
		"a function for later": {`d.mu.Lock(); defer d.mu.Unlock(); d.wake = func() { d.world.Put() }`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := Load(fstest.MapFS{"internal/world/d.go": {Data: []byte("package world\nfunc (d *Disruptions) f() {\n" + tc.code + "\n}\n")}})
			if err != nil {
				t.Fatal(err)
			}
			if found := Locks(tree); len(found) != tc.want {
				t.Errorf("%d violations, want %d: %v", len(found), tc.want, found)
			}
		})
	}
}
