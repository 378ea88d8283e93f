package offering_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/offering"
)

// The least memory that was seen counts, for the images that it was seen with.
func TestTheLeastCounts(t *testing.T) {
	t.Parallel()
	m := offering.NewMemory(clocktesting.NewFakePassiveClock(start))
	for _, step := range []struct {
		bytes int64
		news  bool
		want  int64
	}{{8000, true, 8000}, {8100, false, 8000}, {8000, false, 8000}, {7900, true, 7900}} {
		before := m.View("x")
		if news := m.Seen("x", "m5.large", step.bytes); news != step.news {
			t.Errorf("%d is news: %t, want %t", step.bytes, news, step.news)
		}
		after := m.View("x")
		if got := after.Bytes["m5.large"]; got != step.want {
			t.Errorf("after %d the memory is %d, want %d", step.bytes, got, step.want)
		}
		if (before.Revision != after.Revision) != step.news {
			t.Errorf("after %d the revision went from %d to %d", step.bytes, before.Revision, after.Revision)
		}
	}
}

// A figure seen with other images is better than an estimate, until a node with these images replaces it.
func TestOtherImages(t *testing.T) {
	t.Parallel()
	m := offering.NewMemory(clocktesting.NewFakePassiveClock(start))
	m.Seen("old", "m5.large", 8000)
	m.Seen("older", "m5.large", 7900)
	if got := m.View("new").Bytes["m5.large"]; got != 7900 {
		t.Errorf("memory %d with images that were not seen yet, want 7900", got)
	}
	m.Seen("new", "m5.large", 8100)
	if got := m.View("new").Bytes["m5.large"]; got != 8100 {
		t.Errorf("memory %d, want what was seen with these images", got)
	}
}

// What was seen survives a restart, and is forgotten after sixty days without a node.
func TestRestart(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(start)
	m := offering.NewMemory(clock)
	m.Seen("x", "m5.large", 8000)
	m.Seen("x", "m5.xlarge", 16000)
	text := m.Encode()
	text["x"] += "rubbish\n\nc5.large -1 2026-10-01T00:00:00Z\n"
	again := offering.NewMemory(clock)
	again.Seen("x", "m5.large", 7000) // seen meanwhile, and less
	again.Restore(text)
	want := map[string]int64{"m5.large": 7000, "m5.xlarge": 16000}
	if diff := cmp.Diff(want, again.View("x").Bytes); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
	clock.SetTime(start.Add(61 * 24 * time.Hour))
	late := offering.NewMemory(clock)
	late.Restore(text)
	if got := late.View("x").Bytes; len(got) != 0 {
		t.Errorf("still %v after sixty days", got)
	}
}

// The order of images does not matter, their set does.
func TestImagesOf(t *testing.T) {
	t.Parallel()
	a, b := awsv1.AMI{ID: "ami-1"}, awsv1.AMI{ID: "ami-2"}
	if offering.ImagesOf([]awsv1.AMI{a, b}) != offering.ImagesOf([]awsv1.AMI{b, a, a}) {
		t.Error("the order matters")
	}
	if offering.ImagesOf([]awsv1.AMI{a}) == offering.ImagesOf([]awsv1.AMI{b}) {
		t.Error("other images have the same name")
	}
}
