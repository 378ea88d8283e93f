package settings

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestReferencePageNamesEveryOption(t *testing.T) {
	t.Parallel()
	for _, o := range Options() {
		if o.Usage == "" || !strings.Contains(Reference(Options()), "| `--"+o.Flag+"` | `"+o.Env+"` |") {
			t.Errorf("--%s has no row or no meaning", o.Flag)
		}
	}
}

// "Concurrency scales linearly from min at ≤1 core to max at 60 cores."
func TestWorkersGrowWithTheProcessor(t *testing.T) {
	t.Parallel()
	for milli, want := range map[int]int{1: 10, 1000: 10, 1001: 26, 30000: 496, 60000: 1000, 64000: 1000} {
		if got := (Settings{CPURequestsMilli: milli}).Workers(10, 1000); got != want {
			t.Errorf("Workers(10, 1000) at %dm = %d, want %d", milli, got, want)
		}
	}
	for _, args := range [][]string{{"--cpu-requests=0"}, {"--cpu-requests=-5"}} {
		if s, _ := mustParse(t, args, nil); s.CPURequestsMilli != 1000 {
			t.Errorf("%v gives %dm, want 1000m", args, s.CPURequestsMilli)
		}
	}
}

func TestSoftMemoryLimitIsNineTenths(t *testing.T) {
	t.Parallel()
	if limit, ok := (Settings{MemoryLimitBytes: 1000}).SoftMemoryLimit(); !ok || limit != 900 {
		t.Errorf("limit of 1000 = %d, %t", limit, ok)
	}
	for _, none := range []int64{-1, 0} {
		if limit, ok := (Settings{MemoryLimitBytes: none}).SoftMemoryLimit(); ok {
			t.Errorf("limit of %d = %d, want none", none, limit)
		}
	}
}

func TestFeatureGatesKeepTheirDefaultsUnlessNamed(t *testing.T) {
	t.Parallel()
	s, warnings := mustParse(t, []string{"--feature-gates=SpotToSpotConsolidation=true,Drift=true"}, nil)
	want := FeatureGates{ReservedCapacity: true, SpotToSpotConsolidation: true}
	if s.FeatureGates != want {
		t.Errorf("gates = %+v, want %+v", s.FeatureGates, want)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].Text, `"Drift" is unknown`) {
		t.Errorf("warnings = %v, want one about Drift", warnings)
	}
}

// zoneSpread is a valid scheduler configuration with one constraint.
func zoneSpread(maxSkew int32) SchedulerConfig {
	return SchedulerConfig{PodTopologySpread: PodTopologySpread{DefaultConstraints: []corev1.TopologySpreadConstraint{
		{MaxSkew: maxSkew, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: corev1.ScheduleAnyway},
	}}}
}

func TestSchedulerConfigIsCheckedFieldByField(t *testing.T) {
	t.Parallel()
	const at0 = "validating scheduler config, podTopologySpread.defaultConstraints[0]"
	cases := map[string]struct{ constraints, want string }{
		"a constraint in YAML":     {"[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]", ""},
		"the same key both ways":   {"[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]", ""},
		"no skew":                  {"[{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]", at0 + ".maxSkew must be greater than 0"},
		"no key":                   {"[{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]", at0 + ".topologyKey must be set"},
		"a key that is no label":   {"[{maxSkew: 1, topologyKey: a b, whenUnsatisfiable: DoNotSchedule}]", at0 + `.topologyKey "a b" is not a label key`},
		"no action":                {"[{maxSkew: 1, topologyKey: zone}]", at0 + `.whenUnsatisfiable is ""`},
		"a selector":               {"[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]", at0 + ".labelSelector must not be set, as selectors are deduced for each pod"},
		"label keys to match":      {"[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}]", at0 + ".matchLabelKeys must not be set"},
		"a repetition":             {"[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]", "defaultConstraints[1] repeats topologyKey"},
		"a field that is unknown":  {"[{maxSkw: 1}]", `unknown field "maxSkw"`},
		"constraints that are one": {"{}", "parsing scheduler config"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "podTopologySpread: {defaultConstraints: " + tc.constraints + "}"
			s, _, err := Parse(nil, environment(map[string]string{"SCHEDULER_CONFIG": text}))
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tc.want == "" && s.SchedulerConfig.Empty():
				t.Error("accepted, but nothing was read")
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v lacks %q", err, tc.want)
			}
		})
	}
}
