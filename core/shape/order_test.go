package shape

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tenon/core/snapshot"
)

// TestOldestFirst compares the order with the one that its definition gives.
func TestOldestFirst(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		dice := rand.New(rand.NewPCG(seed, 1))
		s := &snapshot.Snapshot{}
		var pods []int32
		for i := range 60 {
			made := time.Time{}
			if dice.IntN(9) > 0 {
				made = time.Unix(int64(dice.IntN(4)), int64(dice.IntN(3)))
			}
			s.Pods = append(s.Pods, snapshot.Pod{
				Created: made, Namespace: strconv.Itoa(dice.IntN(2)), Name: strconv.Itoa(dice.IntN(4)), UID: strconv.Itoa(dice.IntN(2)),
			})
			pods = append(pods, int32(i))
		}
		dice.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		want := slices.SortedFunc(slices.Values(pods), func(a, b int32) int {
			x, y := &s.Pods[a], &s.Pods[b]
			return cmp.Or(x.Created.Compare(y.Created), strings.Compare(x.Namespace, y.Namespace),
				strings.Compare(x.Name, y.Name), strings.Compare(x.UID, y.UID), cmp.Compare(a, b))
		})
		OldestFirst(s, pods)
		if !slices.Equal(pods, want) {
			t.Errorf("seed %d: %v, want %v", seed, pods, want)
		}
	}
}
