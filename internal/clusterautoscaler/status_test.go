package clusterautoscaler_test

import (
	"strings"
	"testing"
	"time"

	"tenon/internal/clusterautoscaler"
)

// The status has the fields that tools read, and keeps the times of unchanged states.
func TestStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 20, 10, 11, 12, 123_000_000, time.UTC)
	web := clusterautoscaler.Facts{Name: "web", Min: 1, Max: 10, Desired: 3, Healthy: true}
	web.Counts.Registered.Total, web.Counts.Registered.Ready = 3, 3
	first := clusterautoscaler.NewStatus([]clusterautoscaler.Facts{web}, nil, now)
	text, err := first.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"time: 2026-08-20 10:11:12.123 +0000 UTC\n", "autoscalerStatus: Running\n", "clusterWide:\n", "nodeGroups:\n- health:\n    cloudProviderTarget: 3\n", "  name: web\n",
		"    status: NoActivity\n", "    status: NoCandidates\n", "    status: Healthy\n", "lastProbeTime: \"2026-08-20T10:11:12.123Z\"\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	for _, absent := range []string{"beingDeleted", "unready", "candidates:", "backoffInfo"} {
		if strings.Contains(text, absent) {
			t.Errorf("the text has %q, of which there are none", absent)
		}
	}
	before, err := clusterautoscaler.ReadStatus(text)
	if err != nil {
		t.Fatal(err)
	}
	web.Desired, web.Candidates, web.BackedOff, web.BackoffCode, web.BackedBy = 5, 1, true, "OutOfStock", strings.Repeat("x", 600)
	other := clusterautoscaler.Facts{Name: "zeta", Desired: 1}
	next := clusterautoscaler.NewStatus([]clusterautoscaler.Facts{web, other}, before, now.Add(time.Minute))
	group, then, later := next.NodeGroups[0], "2026-08-20T10:11:12.123Z", "2026-08-20T10:12:12.123Z"
	if h := group.Health; h.Status != "Healthy" || h.LastTransitionTime != then || h.LastProbeTime != later {
		t.Errorf("health %+v", h)
	}
	if up := group.ScaleUp; up.Status != "Backoff" || up.BackoffInfo.ErrorCode != "OutOfStock" || len(up.BackoffInfo.ErrorMessage) != 500 || up.LastTransitionTime != later {
		t.Errorf("scale-up %+v", up)
	}
	if down := group.ScaleDown; down.Status != "CandidatesPresent" || down.Candidates != 1 {
		t.Errorf("scale-down %+v", down)
	}
	if up := next.NodeGroups[1].ScaleUp; up.Status != "Unhealthy" {
		t.Errorf("scale-up of the other group: %+v", up)
	}
	if wide := next.ClusterWide; wide.Health.Status != "Unhealthy" || wide.ScaleDown.Candidates != 1 || wide.Health.NodeCounts.Registered.Ready != 3 {
		t.Errorf("the cluster: %+v", wide)
	}
}
