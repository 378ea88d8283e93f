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
