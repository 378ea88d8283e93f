package world_test

import (
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// A node that a command takes is leaving in every picture, although no watch has reported it; for a
// minute the picture says that this is unseen. When the command ends, the node is as before.
func TestCommandsAreInThePicture(t *testing.T) {
	t.Parallel()
	clock := testclock.NewFakePassiveClock(noon)
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
	goes := claim(0)
	w.Put(goes)
	w.Put(node(1))
	reader := w.Reader()
	look := func(after time.Duration) (snapshot.Node, bool) {
		picture := reader.Picture(world.Moment{Now: noon.Add(after)})
		for _, n := range picture.Snapshot.Nodes {
			if n.Claim == goes.Name {
				return n, picture.Unseen
			}
		}
		t.Fatal("the node is not there")
		return snapshot.Node{}, false
	}
	record := command.Record{ID: "x7k2p", Reason: plan.Drifted, Claims: []command.Member{{Claim: goes.Name}}}
	w.Disruptions().Begin(world.Underway{Record: record})
	for _, tc := range []struct {
		after  time.Duration
		unseen bool
	}{{time.Second, true}, {2 * time.Minute, false}} {
		if n, unseen := look(tc.after); !n.Leaving || n.Life.Underway != "Drifted" || !n.Counts() || unseen != tc.unseen {
			t.Errorf("after %s: leaving %t for %q, counts for limits %t, unseen %t", tc.after, n.Leaving, n.Life.Underway, n.Counts(), unseen)
		}
	}
	w.Disruptions().End(record.ID)
	w.Disruptions().Restore(record) // a cache that is behind still shows it
	if n, unseen := look(3 * time.Minute); n.Leaving || unseen || w.Disruptions().Ended() != 1 {
		t.Errorf("over: leaving %t, unseen %t", n.Leaving, unseen)
	}
}

// While a command is written, the picture says that its replacements do not exist yet: what they will hold may seem to have no room.
func TestReplacementsToCome(t *testing.T) {
	t.Parallel()
	clock := testclock.NewFakePassiveClock(noon)
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
	w.Put(pool(0))
	w.Put(claim(0))
	reader := w.Reader()
	expect := func(when string, want time.Time) {
		t.Helper()
		if got := reader.Picture(world.Moment{Now: noon}).Snapshot.Waiting.Replacing; !got.Equal(want) {
			t.Errorf("%s: until %s, want %s", when, got, want)
		}
	}
	record := command.Record{ID: "x7k2p", Reason: plan.Underutilized, Claims: []command.Member{{Claim: claim(0).Name}}, Replacements: []command.Member{{Claim: claim(1).Name}}}
	expect("before", time.Time{})
	w.Disruptions().Begin(world.Underway{Record: record})
	expect("begun", noon.Add(10*time.Second))
	w.Assume(claim(1), model.Resources{}, nil)
	expect("made", time.Time{})
	w.Retract(claim(1).Name)
	expect("not made after all", noon.Add(10*time.Second))
	w.Disruptions().Begun(record.ID, time.Time{})
	expect("under way", time.Time{})
}

// The picture includes what past disruptions have taught about a pool.
func TestLessonsAreInThePicture(t *testing.T) {
	t.Parallel()
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, testclock.NewFakePassiveClock(noon))
	w.Put(pool(0))
	w.Put(claim(0))
	asked := 0
	lesson := func(_ *karpenterv1.NodePool, drifted bool) world.Lesson {
		if asked++; drifted {
			t.Error("none of its nodes has drifted")
		}
		return world.Lesson{Caution: 2000, Pace: &snapshot.Pace{More: 1}}
	}
	s := w.Picture(world.Moment{Now: noon, Lesson: lesson}).Snapshot
	if c := s.Pools[0].Consolidation; asked != 1 || c.Caution != 2000 || c.Pace.More != 1 {
		t.Errorf("asked %d times, got %+v", asked, c)
	}
}
