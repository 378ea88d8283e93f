package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FeatureGates are the switches of behaviour that is not yet on by default for all.
type FeatureGates struct {
	NodeRepair              bool
	ReservedCapacity        bool
	SpotToSpotConsolidation bool
	NodeOverlay             bool
	StaticCapacity          bool
	CapacityBuffer          bool
}

// AWSFeatureGates are the AWS provider's own.
type AWSFeatureGates struct {
	NodeClassCEL bool
}

// gate is one switch of a set T.
type gate[T any] struct {
	name  string
	on    bool // the default
	field func(*T) *bool
}

// featureGates is ordered as the documented default text is.
var featureGates = []gate[FeatureGates]{
	{"NodeRepair", false, func(g *FeatureGates) *bool { return &g.NodeRepair }},
	{"ReservedCapacity", true, func(g *FeatureGates) *bool { return &g.ReservedCapacity }},
	{"SpotToSpotConsolidation", false, func(g *FeatureGates) *bool { return &g.SpotToSpotConsolidation }},
	{"NodeOverlay", false, func(g *FeatureGates) *bool { return &g.NodeOverlay }},
	{"StaticCapacity", false, func(g *FeatureGates) *bool { return &g.StaticCapacity }},
	{"CapacityBuffer", false, func(g *FeatureGates) *bool { return &g.CapacityBuffer }},
}

var awsFeatureGates = []gate[AWSFeatureGates]{
	{"NodeClassCEL", false, func(g *AWSFeatureGates) *bool { return &g.NodeClassCEL }},
}

// gateDefaults is the text that spells every default out.
func gateDefaults[T any](known []gate[T]) string {
	parts := make([]string, 0, len(known))
	for _, g := range known {
		parts = append(parts, g.name+"="+strconv.FormatBool(g.on))
	}
	return strings.Join(parts, ",")
}

// gates reads Name=true,Name=false. Unknown names are noted, not refused: a gate that graduated
// disappears from a later version, and the chart that still names it must keep working.
func gates[T any](known []gate[T], field func(*Settings) *T) value {
	return value{kind: "gates", read: func(s *Settings, _ origin, text string) ([]string, error) {
		set, unknown, err := parseGates(known, text)
		if err != nil {
			return nil, err
		}
		*field(s) = set
		notes := make([]string, 0, len(unknown))
		for _, name := range unknown {
			notes = append(notes, fmt.Sprintf("feature gate %q is unknown and has no effect; known are %s", name, gateDefaults(known)))
		}
		return notes, nil
	}}
}

func parseGates[T any](known []gate[T], text string) (set T, unknown []string, err error) {
	for _, g := range known {
		*g.field(&set) = g.on
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, switched, found := strings.Cut(part, "=")
		on, err := strconv.ParseBool(strings.TrimSpace(switched))
		if !found || err != nil {
			return set, nil, fmt.Errorf("%q is not of the form Name=true or Name=false", part)
		}
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(known, func(g gate[T]) bool { return g.name == name })
		if at < 0 {
			unknown = append(unknown, name)
			continue
		}
		*known[at].field(&set) = on
	}
	return set, unknown, nil
}
