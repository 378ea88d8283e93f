package node

import (
	"testing"
	"time"
)

// TestGaugesOfLargeClustersAreOlder: never younger than those of a smaller one, and not older
// than they have to be.
func TestGaugesOfLargeClustersAreOlder(t *testing.T) {
	t.Parallel()
	for pods, want := range map[int]time.Duration{
		0: 5 * time.Second, 999: 5 * time.Second, 2_000: 15 * time.Second, 5_000: 30 * time.Second, 50_000: 30 * time.Second, 100_000: 55 * time.Second,
	} {
		if got := pause(pods); got != want {
			t.Errorf("%d pods: %s, want %s", pods, got, want)
		}
	}
}
