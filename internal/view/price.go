package view

import (
	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/internal/ingest"
)

// Source says where a price was found.
type Source string

// The sources of prices. Unpriced is the zero value: there is no price.
const (
	Unpriced     Source = ""
	FromLabel    Source = "label"
	FromFile     Source = "file" // of the user
	FromRecord   Source = "controller"
	FromMarket   Source = "market" // published by the controller
	FromCatalog  Source = "catalogue"
	FromEstimate Source = "estimate" // the price of the same type elsewhere
	FromOverlay  Source = "overlay"  // a price of the market or the catalogue that a NodeOverlay sets or changes
)

// PriceLabel is the label with a node's price an hour. eks-node-viewer reads it, and simulators write it.
const PriceLabel = "eks-node-viewer/instance-price"

// Prices finds the catalogue of a region, or returns nil.
type Prices func(region string) *catalog.Catalog

// book stores prices by type, zone and capacity type: those that the controller published, and those of
// the catalogue, which it reads region by region when a node of the region appears.
type book struct {
	own     OwnPrices
	overlay ingest.NodePrices
	market  map[offer]model.Money
	prices  Prices
	regions map[string]map[offer]model.Money
}

type offer struct{ kind, zone, capacityType string }

func newBook(prices Prices) *book {
	return &book{prices: prices, regions: map[string]map[offer]model.Money{}}
}

func (b *book) region(name string) map[offer]model.Money {
	if known, ok := b.regions[name]; ok {
		return known
	}
	found := map[offer]model.Money{}
	b.regions[name] = found
	if b.prices == nil {
		return found
	}
	if offers := b.prices(name); offers != nil {
		enter(found, offers)
	}
	return found
}

// enter adds the prices of a catalogue. If two differ, the lower one counts.
func enter(found map[offer]model.Money, offers *catalog.Catalog) {
	for i := range offers.Types {
		t := &offers.Types[i]
		for j := range t.Offerings {
			o := &t.Offerings[j]
			if o.Unpriced {
				continue
			}
			for _, key := range []offer{{t.Name, o.Zone, o.CapacityType}, {t.Name, "", o.CapacityType}} {
				if old, known := found[key]; !known || o.Price < old {
					found[key] = o.Price
				}
			}
		}
	}
}

// price returns what a node costs an hour, with the NodeOverlays that are in use. The price at its purchase has them already,
// and a price of the user's own stays.
func (b *book) price(n *Node) (model.Money, Source) {
	price, source := b.known(n)
	if source == FromLabel || source == FromFile || source == FromRecord || n.Type == "" {
		return price, source
	}
	if set, is := b.overlay.Of(n.Labels, price, source != Unpriced); is {
		return set, FromOverlay
	}
	return price, source
}

// known returns what a node costs an hour without NodeOverlays: the price on its label, else the user's own, else the present spot price if it
// is a spot node, else the price at its purchase, else the one that the controller published, else the catalogue's. A
// reservation costs the price without one, whether or not the node uses it. A node of an unknown capacity type
// counts as on-demand, as an estimate.
func (b *book) known(n *Node) (model.Money, Source) {
	if price, err := model.ParsePrice(n.Labels[PriceLabel]); n.Labels[PriceLabel] != "" && err == nil {
		return price, FromLabel
	}
	if price, given := b.own.of(n); given {
		return price, FromFile
	}
	published, live := b.market[offer{n.Type, n.Zone, n.CapacityType}]
	if live && n.CapacityType == karpenterv1.CapacityTypeSpot {
		return published, FromMarket
	}
	if price, err := model.ParsePrice(n.recorded); n.recorded != "" && err == nil {
		return price, FromRecord
	}
	if live && n.CapacityType != karpenterv1.CapacityTypeReserved {
		return published, FromMarket
	}
	if n.Type == "" || n.CapacityType == fargate {
		return 0, Unpriced
	}
	capacityType, source := n.CapacityType, FromCatalog
	switch capacityType {
	case "":
		capacityType, source = karpenterv1.CapacityTypeOnDemand, FromEstimate
	case karpenterv1.CapacityTypeReserved:
		capacityType = karpenterv1.CapacityTypeOnDemand
	}
	known := b.region(n.Region)
	if price, ok := known[offer{n.Type, n.Zone, capacityType}]; ok {
		return price, source
	}
	if price, ok := known[offer{n.Type, "", capacityType}]; ok {
		return price, FromEstimate
	}
	return 0, Unpriced
}

const fargate = "fargate"

// groupLabels lists the labels that name a node's group, with the cloud's word for such a group. The
// first label that a node has counts.
var groupLabels = []struct{ label, kind string }{
	{karpenterv1.LabelNodePool, "NodePool"},
	{"eks.amazonaws.com/nodegroup", "managed node group"},
	{"alpha.eksctl.io/nodegroup-name", "node group"},
	{"cloud.google.com/gke-nodepool", "GKE node pool"},
	{"kubernetes.azure.com/agentpool", "AKS node pool"},
	{"kops.k8s.io/instancegroup", "instance group"},
}

func groupOf(labels map[string]string) (name, kind string) {
	for _, g := range groupLabels {
		if name := labels[g.label]; name != "" {
			return name, g.kind
		}
	}
	return "", ""
}

// capacityTypes reads a node's capacity type from labels of clouds and tools.
var capacityTypes = []struct {
	label string
	is    map[string]string
}{
	{"eks.amazonaws.com/compute-type", map[string]string{"fargate": fargate}},
	{karpenterv1.LabelCapacityType, map[string]string{"spot": "spot", "on-demand": "on-demand", "reserved": "reserved"}},
	{"eks.amazonaws.com/capacityType", map[string]string{"SPOT": "spot", "ON_DEMAND": "on-demand", "CAPACITY_BLOCK": "reserved"}},
	{"node.kubernetes.io/lifecycle", map[string]string{"spot": "spot", "normal": "on-demand", "on-demand": "on-demand"}},
	{"cloud.google.com/gke-spot", map[string]string{"true": "spot"}},
	{"kubernetes.azure.com/scalesetpriority", map[string]string{"spot": "spot", "regular": "on-demand"}},
}

func capacityTypeOf(labels map[string]string) string {
	for _, c := range capacityTypes {
		if found := c.is[labels[c.label]]; found != "" {
			return found
		}
	}
	return ""
}

// regionOf returns the region of a node: its label, or its zone without the letter.
func regionOf(labels map[string]string) string {
	if region := labels[corev1.LabelTopologyRegion]; region != "" {
		return region
	}
	zone := labels[corev1.LabelTopologyZone]
	if n := len(zone); n > 1 && zone[n-1] >= 'a' && zone[n-1] <= 'z' {
		return zone[:n-1]
	}
	return zone
}
