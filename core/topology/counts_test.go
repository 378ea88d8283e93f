package topology

import "testing"

// TestCounts adds pods to a domain and takes them away again.
func TestCounts(t *testing.T) {
	t.Parallel()
	c := NewCounts(2)
	c.Add(1, "a", Count{Sure: 3, Leaving: 3})
	c.Add(1, "a", Count{Maybe: 2})
	if got := c.At(1, "a"); got.Total() != 5 || got.Lasting() != 0 {
		t.Errorf("3 leaving pods and 2 that may count: total %d, lasting %d", got.Total(), got.Lasting())
	}
	if !c.Any(1) || c.Anywhere(1) || c.Any(0) {
		t.Error("leaving pods are in the way, and are no partners")
	}
	c.Add(1, "b", Count{Sure: 1})
	if !c.Anywhere(1) || c.Lasting(1) != 1 {
		t.Errorf("one lasting pod, not %d", c.Lasting(1))
	}
	c.Add(1, "b", Count{Sure: -1})
	if c.Anywhere(1) || c.At(1, "b").Total() != 0 {
		t.Error("a pod that was taken away still counts")
	}
}

// TestCountsKeepTheTightestCap asks for room under several caps.
func TestCountsKeepTheTightestCap(t *testing.T) {
	t.Parallel()
	c := NewCounts(1)
	if c.Capped(0) || !c.At(0, "a").admitsOneMore() {
		t.Error("there is a cap before any pod has one")
	}
	for _, most := range []int32{3, 1, 2} {
		c.Cap(0, "a", most)
	}
	if !c.At(0, "a").admitsOneMore() {
		t.Error("a cap of one keeps the first pod away")
	}
	c.Add(0, "a", Count{Sure: 1})
	if c.At(0, "a").admitsOneMore() || !c.At(0, "b").admitsOneMore() {
		t.Error("a cap of one holds in its own domain, for the second pod")
	}
}
