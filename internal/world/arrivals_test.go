package world_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// Ten seconds after the last pod of a command was evicted, pods are counted that landed where they were planned,
// and the claims are named whose nodes did not get them; each command is judged once, and not at all if it was
// taken back.
func TestArrived(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		landsOn   int // node of the evicted pod's successor
		after     time.Duration
		abandoned bool
		want      []string
		landed    int
		strayed   int
	}{
		{name: "the successor is where it was planned", landsOn: 1, after: 10 * time.Second, landed: 1},
		{name: "the successor is elsewhere", landsOn: 2, after: 10 * time.Second, want: []string{"claim-1"}, strayed: 1},
		{name: "the successor may still come", landsOn: 2, after: 9 * time.Second},
		{name: "the command was taken back", landsOn: 2, after: 10 * time.Second, abandoned: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			clock := testclock.NewFakePassiveClock(noon)
			w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
			for i := range 3 {
				w.Put(claim(i))
				n := node(i)
				if i == 0 {
					n.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
				}
				w.Put(n)
			}
			evicted, before := pod(1, "node-0"), pod(1+manySets, "node-1")
			w.Put(evicted)
			w.Put(before) // of the same template, on the receiver: it was there, and does not count
			w.Picture(world.Moment{Now: noon})
			ref := world.PodRef{UID: evicted.UID, Namespace: evicted.Namespace, Name: evicted.Name}
			begun := noon.Add(time.Minute)
			record := command.Record{ID: "x7k2p", Reason: plan.Underutilized, Begun: begun, Claims: []command.Member{{Claim: "claim-0"}}}
			d := w.Disruptions()
			d.Begin(world.Underway{Record: record, Places: []world.Place{{On: "node-1", Pods: []world.PodRef{ref}}}})
			if tc.abandoned {
				d.Abandon(record.ID)
			} else {
				d.End(record.ID)
			}
			clock.SetTime(begun.Add(time.Hour)) // evictions may take long
			if got := d.Arrived(); len(got) > 0 {
				t.Errorf("before the eviction: %v", got)
			}
			w.Remove(evicted)
			heir := pod(1+2*manySets, node(tc.landsOn).Name)
			heir.CreationTimestamp = metav1.NewTime(clock.Now())
			w.Put(heir)
			d.Arrived()
			clock.SetTime(clock.Now().Add(tc.after))
			var got []string
			landed, strayed := 0, 0
			for _, a := range d.Arrived() {
				if !a.Begun.Equal(begun) {
					t.Errorf("the command was begun at %s, it says %s", begun, a.Begun)
				}
				got = append(got, a.Astray...)
				landed, strayed = landed+a.Landed, strayed+a.Strayed
			}
			if landed != tc.landed || strayed != tc.strayed {
				t.Errorf("%d landed and %d strayed, want %d and %d", landed, strayed, tc.landed, tc.strayed)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("astray: %v, want %v", got, tc.want)
			}
			clock.SetTime(clock.Now().Add(time.Hour))
			if again := d.Arrived(); len(tc.want) > 0 && len(again) > 0 {
				t.Errorf("named again: %v", again)
			}
		})
	}
}
