package instancetype

import (
	"slices"
	"strings"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/facts"
)

// compatible reports whether instances of the type can be launched with the class. An unanswered question to
// EC2 does not rule a type out.
func (c *Class) compatible(t *facts.Type, found Discovered) bool {
	return c.bootsOn(t) && c.connectsOn(t, found) &&
		c.tracksConnectionsOn(t) && c.nestsOn(found) && c.groupsWith(found)
}

// bootsOn reports whether the family's images boot on the type: AL2023 needs newer processors than the first
// Gravitons.
func (c *Class) bootsOn(t *facts.Type) bool {
	return c.Family != awsv1.FamilyAL2023 || !strings.HasPrefix(t.Name, "a1.")
}

// connectsOn reports whether every configured interface has a place on the machine's network cards.
func (c *Class) connectsOn(t *facts.Type, found Discovered) bool {
	if c.NetworkInterfaces == nil {
		return true
	}
	if !t.Cards.Known() || found.NoENA || c.efaOnly(onAnyCard) > t.EFAInterfaces.Or(0) {
		return false
	}
	return !slices.ContainsFunc(c.NetworkInterfaces, func(i NetworkInterface) bool {
		limit, known := cardLimit(t, found, i.Card)
		return i.Card >= int64(t.Cards) || known && i.Device >= limit
	})
}

func cardLimit(t *facts.Type, found Discovered, card int64) (limit int64, known bool) {
	if card < int64(len(found.CardInterfaces)) {
		return found.CardInterfaces[card], true
	}
	return int64(t.CardInterfaces), card == 0 && t.CardInterfaces.Known()
}

// tracksConnectionsOn reports whether the type supports settings for connection tracking: only Nitro machines
// do, and not bare metal, which has no hypervisor.
func (c *Class) tracksConnectionsOn(t *facts.Type) bool {
	return !c.ConnectionTracking || t.Hypervisor == "nitro"
}

func (c *Class) nestsOn(found Discovered) bool {
	return !c.NestedVirtualization || found.Features == nil || slices.Contains(found.Features, "nested-virtualization")
}

func (c *Class) groupsWith(found Discovered) bool {
	return c.PlacementGroup == nil || found.PlacementStrategies == nil ||
		slices.Contains(found.PlacementStrategies, c.PlacementGroup.Strategy)
}
