package cloud

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// GroupConversion is a group as objects from which a pool launches like nodes, for people to read before they apply them.
type GroupConversion struct {
	Objects []runtime.Object
	// Notes are about settings of the group, the most serious first.
	Notes []GroupNote
}

// GroupNote says what becomes of a setting of a group.
type GroupNote struct {
	Effect  ConversionEffect
	Setting string
	Text    string
}

// ConversionEffect is what becomes of a setting.
type ConversionEffect string

// The effects, the most serious first.
const (
	// Lost means that pools have nothing like it, and that a person has to decide.
	Lost ConversionEffect = "lost"
	// Changed means that the pool does something similar.
	Changed ConversionEffect = "changed"
	// Kept means that the setting is carried over.
	Kept ConversionEffect = "kept"
	// Needless means that pools work without it.
	Needless ConversionEffect = "needless"
)

// ConversionEffects are all effects, the most serious first.
func ConversionEffects() []ConversionEffect {
	return []ConversionEffect{Lost, Changed, Kept, Needless}
}

// Complete reports whether nothing is lost.
func (c *GroupConversion) Complete() bool {
	return !slices.ContainsFunc(c.Notes, func(n GroupNote) bool { return n.Effect == Lost })
}
