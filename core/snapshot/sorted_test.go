package snapshot

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPodsComeOldestFirst compares the order with the one that its definition gives.
func TestPodsComeOldestFirst(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		dice := rand.New(rand.NewPCG(seed, 1))
		s := &Snapshot{}
		var want []PodIndex
		for i := range 60 {
			made := time.Time{}
			if dice.IntN(9) > 0 {
				made = time.Unix(int64(dice.IntN(4)), int64(dice.IntN(3)))
			}
			s.Pods = append(s.Pods, Pod{
				Created: made, Namespace: strconv.Itoa(dice.IntN(2)), Name: strconv.Itoa(dice.IntN(4)), UID: strconv.Itoa(dice.IntN(2)),
			})
			want = append(want, PodIndex(i))
		}
		slices.SortFunc(want, func(a, b PodIndex) int {
			x, y := &s.Pods[a], &s.Pods[b]
			return cmp.Or(x.Created.Compare(y.Created), strings.Compare(x.Namespace, y.Namespace),
				strings.Compare(x.Name, y.Name), strings.Compare(x.UID, y.UID), cmp.Compare(a, b))
		})
		sorted := Sort(s, nil)
		for i := range sorted.Pods {
			if got := sorted.Given(PodIndex(i)); got != want[i] || sorted.Pods[i].Name != s.Pods[want[i]].Name {
				t.Errorf("seed %d: pod %d was given as %d, want %d", seed, i, got, want[i])
			}
		}
	}
}

// TestMorePodsComeLast adds pods to a snapshot that is in order: the numbers of the others stay.
func TestMorePodsComeLast(t *testing.T) {
	t.Parallel()
	s := &Snapshot{Pods: []Pod{{Name: "b"}, {Name: "a"}}, Nodes: []Node{{Name: "n"}}}
	sorted := Sort(s, nil)
	more := sorted.With([]Pod{{Name: "0"}})
	more.Nodes[0].Name = "other"
	if more.Pods[0].Name != "a" || more.Pods[2].Name != "0" || more.Given(0) != 1 || more.Given(2) != 2 {
		t.Errorf("%+v, given as %v", more.Pods, more.given)
	}
	if len(sorted.Pods) != 2 || sorted.Nodes[0].Name != "n" {
		t.Error("the snapshot itself was changed")
	}
}
