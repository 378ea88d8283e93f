package settings

import "tenon/core/snapshot"

// Decision is the part of the settings that decisions depend on.
func (s Settings) Decision() snapshot.Settings {
	return snapshot.Settings{
		Preferences:       snapshot.Preferences(s.PreferencePolicy),
		BestEffortMinimum: s.MinValuesPolicy == MinValuesBestEffort,
		ReservedCapacity:  s.FeatureGates.ReservedCapacity,
		SpotToSpot:        s.FeatureGates.SpotToSpotConsolidation,
	}
}
