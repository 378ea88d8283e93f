package settings

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// SchedulerConfig is the part of the scheduler's configuration that decisions must know: what the
// cluster's kube-scheduler adds to pods that say nothing themselves.
type SchedulerConfig struct {
	PodTopologySpread PodTopologySpread `json:"podTopologySpread,omitempty"`
}

// PodTopologySpread holds the cluster's default constraints.
type PodTopologySpread struct {
	DefaultConstraints []corev1.TopologySpreadConstraint `json:"defaultConstraints,omitempty"`
}

// Empty reports whether nothing was configured.
func (c SchedulerConfig) Empty() bool { return len(c.PodTopologySpread.DefaultConstraints) == 0 }

// document reads the configuration strictly: with a misspelled field, pods would silently be placed by
// other rules than the scheduler's.
func document(field *SchedulerConfig) Value {
	return plain("document", field, func(_ origin, text string) (SchedulerConfig, error) {
		var config SchedulerConfig
		if err := yaml.UnmarshalStrict([]byte(text), &config); err != nil {
			return SchedulerConfig{}, fmt.Errorf("parsing scheduler config, %w", err)
		}
		if err := config.validate(); err != nil {
			return SchedulerConfig{}, fmt.Errorf("validating scheduler config, %w", err)
		}
		return config, nil
	})
}

func (c SchedulerConfig) validate() error {
	type identity struct {
		key    string
		action corev1.UnsatisfiableConstraintAction
	}
	first := map[identity]int{}
	for i, constraint := range c.PodTopologySpread.DefaultConstraints {
		path := fmt.Sprintf("podTopologySpread.defaultConstraints[%d]", i)
		if problem := spreadProblem(constraint); problem != "" {
			return fmt.Errorf("%s%s", path, problem)
		}
		id := identity{constraint.TopologyKey, constraint.WhenUnsatisfiable}
		if at, repeated := first[id]; repeated {
			return fmt.Errorf("%s repeats topologyKey %q with whenUnsatisfiable %s of [%d]", path, id.key, id.action, at)
		}
		first[id] = i
	}
	return nil
}

// spreadProblem names the first field that a default constraint may not have so, or nothing.
func spreadProblem(c corev1.TopologySpreadConstraint) string {
	switch {
	case c.MaxSkew <= 0:
		return ".maxSkew must be greater than 0"
	case c.TopologyKey == "":
		return ".topologyKey must be set"
	case len(validation.IsQualifiedName(c.TopologyKey)) > 0:
		return fmt.Sprintf(".topologyKey %q is not a label key: %s", c.TopologyKey, validation.IsQualifiedName(c.TopologyKey)[0])
	case c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway:
		return fmt.Sprintf(".whenUnsatisfiable is %q, must be DoNotSchedule or ScheduleAnyway", c.WhenUnsatisfiable)
	case c.LabelSelector != nil:
		return ".labelSelector must not be set, as selectors are deduced for each pod"
	case len(c.MatchLabelKeys) > 0:
		return ".matchLabelKeys must not be set, as selectors are deduced for each pod"
	}
	return ""
}
