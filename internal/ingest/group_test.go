package ingest_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// The weight of a group's pool follows from its priority in mode cas: groups with a priority come before
// those without.
func TestPriorityIsAWeight(t *testing.T) {
	t.Parallel()
	number := func(n int64) *int64 { return &n }
	for name, tc := range map[string]struct {
		priority  *int64
		mode      tenonv1alpha1.Mode
		expanders []string
		want      int32
	}{
		"none":           {mode: tenonv1alpha1.ModeCAS},
		"zero":           {priority: number(0), mode: tenonv1alpha1.ModeCAS, want: 1},
		"a large one":    {priority: number(1 << 40), mode: tenonv1alpha1.ModeCAS, want: 1<<31 - 1},
		"in mode native": {priority: number(9), mode: tenonv1alpha1.ModeNative},
		"the first rule": {priority: number(9), mode: tenonv1alpha1.ModeCAS, expanders: []string{"priority", "least-waste"}, want: 10},
		"a later rule":   {priority: number(9), mode: tenonv1alpha1.ModeCAS, expanders: []string{"least-waste", "priority"}},
	} {
		g := &tenonv1alpha1.NodeGroup{Spec: tenonv1alpha1.NodeGroupSpec{Mode: tc.mode}, Status: tenonv1alpha1.NodeGroupStatus{Priority: tc.priority}}
		options := ingest.Options{Settings: snapshot.Settings{Expanders: tc.expanders}}
		if pool, _ := ingest.NewTranslator(ingest.NewIndex(), options).Group(g); pool.Weight != tc.want {
			t.Errorf("%s: weight %d, want %d", name, pool.Weight, tc.want)
		}
	}
}

// A group's tags override the flags, and unreadable tags are ignored; delays are those of all groups in mode cas unless they are
// local.
func TestScaleDownOfAGroup(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	flags := snapshot.ScaleDown{UtilizationThreshold: 500, UnneededTime: time.Minute, DelayAfterAdd: 10 * time.Minute, DelayAfterDelete: 2 * time.Minute, DelayAfterFailure: 3 * time.Minute}
	group := func(options map[string]string, scaled *tenonv1alpha1.NodeGroupScaled) *tenonv1alpha1.NodeGroup {
		return &tenonv1alpha1.NodeGroup{Spec: tenonv1alpha1.NodeGroupSpec{Mode: tenonv1alpha1.ModeCAS}, Status: tenonv1alpha1.NodeGroupStatus{Options: options, Scaled: scaled}}
	}
	tagged := group(map[string]string{
		"scaledownutilizationthreshold": "0.705", "scaledowngpuutilizationthreshold": "2", "scaledownunneededtime": "5m", "scaledownunreadytime": "soon", "ignoredaemonsetsutilization": "true",
	}, nil)
	want := flags
	want.UtilizationThreshold, want.UnneededTime, want.IgnoreDaemonSetsUtilization = 705, 5*time.Minute, true
	global := ingest.NewTranslator(ingest.NewIndex(), ingest.Options{ScaleDown: &flags})
	if got := global.ScaleDown(tagged); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	own := flags
	own.DelayTypeLocal = true
	local := ingest.NewTranslator(ingest.NewIndex(), ingest.Options{ScaleDown: &own})
	grown, failed := group(nil, &tenonv1alpha1.NodeGroupScaled{Up: metav1.NewTime(noon)}), group(nil, &tenonv1alpha1.NodeGroupScaled{Failed: metav1.NewTime(noon.Add(8 * time.Minute))})
	shrunk := group(nil, &tenonv1alpha1.NodeGroupScaled{Down: metav1.NewTime(noon.Add(5 * time.Minute))})
	observed := group(nil, &tenonv1alpha1.NodeGroupScaled{Up: metav1.NewTime(noon.Add(time.Hour))})
	observed.Spec.Mode = tenonv1alpha1.ModeObserve
	all := []*tenonv1alpha1.NodeGroup{tagged, grown, failed, shrunk, observed}
	for name, tc := range map[string]struct {
		t    *ingest.Translator
		of   *tenonv1alpha1.NodeGroup
		want time.Time
	}{
		"the last of all":  {global, tagged, noon.Add(11 * time.Minute)},
		"local, untouched": {local, tagged, time.Time{}},
		"local, grown":     {local, grown, noon.Add(10 * time.Minute)},
		"local, shrunk":    {local, shrunk, noon.Add(7 * time.Minute)},
		"local, failed":    {local, failed, noon.Add(11 * time.Minute)},
		"not in mode cas":  {global, observed, time.Time{}},
	} {
		if got := tc.t.Rests(tc.of, all); !got.Equal(tc.want) {
			t.Errorf("%s: until %s, want %s", name, got, tc.want)
		}
	}
}

// Nodes of a group have its annotation only while the group may be changed. Until a change from mode observe has been read, nodes without it are
// not taken for instances that are still to come: pods would wait for these.
func TestMissingInstances(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		mode       tenonv1alpha1.Mode
		generation int64 // of the object; its status was written for the first one
		members    int
		want       int64
	}{
		"a group that is only shown":          {mode: tenonv1alpha1.ModeObserve, generation: 1, want: 1},
		"one that may be changed from now on": {mode: tenonv1alpha1.ModeCAS, generation: 2, want: 1},
		"its nodes have the annotation":       {mode: tenonv1alpha1.ModeCAS, generation: 1, members: 3, want: 1},
		"so has a node that has just joined":  {mode: tenonv1alpha1.ModeCAS, generation: 2, members: 4},
		"the nodes are gone":                  {mode: tenonv1alpha1.ModeCAS, generation: 1, want: 4},
	}
	for name, tc := range cases {
		g := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Generation: tc.generation}, Spec: tenonv1alpha1.NodeGroupSpec{Mode: tc.mode}}
		g.Status.Size, g.Status.Instances = &tenonv1alpha1.NodeGroupSize{Desired: 4}, &tenonv1alpha1.NodeGroupInstances{Total: 4, Ready: 2, Unready: 1}
		g.Status.Conditions = []metav1.Condition{{Type: tenonv1alpha1.ConditionGroupFound, Status: metav1.ConditionTrue, ObservedGeneration: 1}}
		if got := ingest.NewTranslator(ingest.NewIndex(), ingest.Options{}).Missing(g, tc.members, nil); got != tc.want {
			t.Errorf("%s: %d are missing, want %d", name, got, tc.want)
		}
	}
}

// A mistyped size in a manifest does not exhaust the memory.
func TestMissingInstancesAreLimited(t *testing.T) {
	t.Parallel()
	g := &tenonv1alpha1.NodeGroup{Status: tenonv1alpha1.NodeGroupStatus{
		Size: &tenonv1alpha1.NodeGroupSize{Desired: 1 << 60}, Instances: &tenonv1alpha1.NodeGroupInstances{},
	}}
	if got := ingest.NewTranslator(ingest.NewIndex(), ingest.Options{}).Missing(g, 0, nil); got > 1_000_000 {
		t.Errorf("%d are missing", got)
	}
}
