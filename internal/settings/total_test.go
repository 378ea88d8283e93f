package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/model"
)

// Limits on all nodes become those of decisions in base units, and what cannot be meant is refused with a remedy.
func TestTotals(t *testing.T) {
	t.Parallel()
	s, _ := mustParse(t, []string{"--max-nodes-total=100", "--cores-total=8:400", "--memory-total=0:1600", "--gpu-total=nvidia.com/gpu:1:16", "--gpu-total=amd.com/gpu:0:2"}, nil)
	d := s.Decision()
	limits := []model.Amount{{Name: "nodes", Value: 100}, {Name: "cpu", Value: 400_000}, {Name: "memory", Value: 1600 << 30}, {Name: "nvidia.com/gpu", Value: 16}, {Name: "amd.com/gpu", Value: 2}}
	if diff := cmp.Diff(limits, d.Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]model.Amount{{Name: "cpu", Value: 8000}, {Name: "nvidia.com/gpu", Value: 1}}, d.Floors); diff != "" {
		t.Errorf("floors (-want +got):\n%s", diff)
	}
	for flag, want := range map[string]string{
		"--max-nodes-total=-1": "must not be negative", "--cores-total=400": "two whole numbers such as 0:320", "--cores-total=8:4": "the minimum is above the maximum",
		"--memory-total=0:9223372036854775807": "two whole numbers", "--gpu-total=nvidia-tesla-v100:0:4": "by their resource, such as nvidia.com/gpu:0:16", "--gpu-total=nvidia.com/gpu:x": "two whole numbers",
	} {
		if _, _, err := Parse([]string{flag}, environment(nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", flag, err, want)
		}
	}
}
