package launch

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/aws/ami"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/instancetype"
	"tenon/cloud/aws/launchtemplate"
	"tenon/cloud/aws/userdata"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// The limits of EC2 for a fleet request.
const (
	mostOverrides = 300
	mostTemplates = 50
)

// NipSlots is a resource that no type has: a pod that requests it wants an enclave.
const NipSlots = "eks.amazonaws.com/nip-slots"

// Facts is everything that a launch depends on besides its claim.
type Facts struct {
	Region  string
	Cluster userdata.Cluster
	// Class must be ready.
	Class *awsv1.EC2NodeClass
	// Catalog is the class's own catalogue, which says what is available. Prices and capacities come from the
	// claim's catalogue, if it has one.
	Catalog *catalog.Catalog
	// Group is the placement group of the class; empty if it has none.
	Group string
	// ReservedCapacity is the feature gate of that name.
	ReservedCapacity bool
	// SpotMargin is how much more than the cheapest offer a spot offer may cost, as a fraction of its price.
	// A negative value allows any offer in the request to EC2.
	SpotMargin float64
	// Subnet returns the subnet for instances of a zone.
	Subnet func(zone string) (awsv1.Subnet, bool)
}

// Order is a launch that is ready to be sent.
type Order struct {
	// Request has everything but the token.
	Request *ec2.CreateFleetInput
	// Templates must exist before the request is sent.
	Templates []launchtemplate.Template
	// CapacityType is how the order buys, and Candidates what it may buy, sorted by price.
	CapacityType string
	Candidates   []cloud.Candidate
	// Takes is how many addresses an instance will use, by subnet: the minimum over the types.
	Takes map[string]int64
	// Partition is the part of the placement group that the order asks for; empty if it asks for none.
	Partition string
	// Group is the ID of the placement group.
	Group string
}

// errNoOffer uses the words that users of the reference know.
var errNoOffer = errors.New("no capacity offerings are currently available given the constraints")

// Choose decides what to buy. It returns a cloud.NoCapacity if nothing is available, and a
// cloud.ClassNotReady if the class lacks something.
func Choose(claim *cloud.Claim, f Facts) (Order, error) {
	left, missing := f.available(claim)
	tooFew := func(c []cloud.Candidate) bool { return !claim.BestEffortMinimum && len(cloud.Shortfalls(claim, c)) > 0 }
	if len(left) == 0 || tooFew(left) {
		return Order{}, &cloud.NoCapacity{Offers: Names(missing), Err: shortfallError(claim, left)}
	}
	chosen := filter(claim, left, f.SpotMargin)
	if len(chosen) == 0 || tooFew(chosen) {
		return Order{}, &cloud.NoCapacity{Offers: Names(missing), Err: shortfallError(claim, chosen)}
	}
	o := Order{
		CapacityType: chosen[0].Offering.CapacityType, Candidates: onePerPlace(chosen),
		Partition: partition(claim), Group: f.Group, Takes: map[string]int64{},
	}
	if err := o.compose(claim, f); err != nil {
		return Order{}, err
	}
	if len(o.Templates) == 0 {
		return Order{}, &cloud.NoCapacity{Offers: Names(missing), Err: errNoOffer}
	}
	if tooFew(o.Candidates) { // a request cannot name all chosen candidates
		return Order{}, &cloud.NoCapacity{Offers: Names(missing), Err: shortfallError(claim, o.Candidates)}
	}
	return o, nil
}

// flexible is how many types EC2 needs to find capacity nearly always.
const flexible = 5

// Narrow reports how many types are left, and whether that is few for a claim that allows spot: such a claim
// had many types to choose from, and now depends on the few that are left on demand. (As in Karpenter.)
func (o *Order) Narrow(claim *cloud.Claim) (types int, narrow bool) {
	seen := map[string]bool{}
	for _, c := range o.Candidates {
		seen[c.Type.Name] = true
	}
	spot := !claim.Requirements.Has(requirement.KeyCapacityType) || claim.Requirements.Get(requirement.KeyCapacityType).Has(catalog.Spot)
	return len(seen), spot && o.CapacityType == catalog.OnDemand && len(seen) < flexible
}

func shortfallError(claim *cloud.Claim, left []cloud.Candidate) error {
	if short := cloud.Shortfalls(claim, left); len(left) > 0 && len(short) > 0 {
		return fmt.Errorf("minimums are not met: %v", short)
	}
	return nil
}

// available returns the available candidates, and the offers that are not available.
func (f Facts) available(claim *cloud.Claim) (left []cloud.Candidate, missing []cloud.Offer) {
	asked := *claim
	asked.Requests = withoutSlots(claim.Requests)
	offers := claim.Catalog
	if offers == nil {
		offers = f.Catalog
	}
	var had map[cloud.Offer]bool
	if offers != f.Catalog {
		had = inStock(f.Catalog)
	}
	for _, c := range cloud.Suitable(&asked, offers) {
		can := c.Offering.Available
		if had != nil {
			can = had[c.Offer()]
		}
		if can {
			left = append(left, c)
		} else {
			missing = append(missing, c.Offer())
		}
	}
	return left, missing
}

func withoutSlots(r model.Resources) model.Resources {
	slots := r.Get(NipSlots)
	if slots == 0 {
		return r
	}
	return r.Sub(model.NewResources(model.Amount{Name: NipSlots, Value: slots}))
}

// inStock returns the available offers of a catalogue: the claim's catalogue, made with overlays, may be
// older.
func inStock(c *catalog.Catalog) map[cloud.Offer]bool {
	had := map[cloud.Offer]bool{}
	for i := range c.Types {
		t := &c.Types[i]
		for j := range t.Offerings {
			if t.Offerings[j].Available {
				had[cloud.Candidate{Type: t, Offering: &t.Offerings[j]}.Offer()] = true
			}
		}
	}
	return had
}

// Names returns the offers sorted, without duplicates.
func Names(offers []cloud.Offer) []cloud.Offer {
	offers = slices.Clone(offers)
	slices.SortFunc(offers, cloud.Offer.Compare)
	return slices.Compact(offers)
}

// sharedTemplate is what types with the same launch template have in common.
type sharedTemplate struct {
	image       string
	pods, efa   int64
	reservation launchtemplate.Reservation
}

func (k sharedTemplate) compare(o sharedTemplate) int {
	return cmp.Or(
		cmp.Compare(k.image, o.image), cmp.Compare(k.pods, o.pods), cmp.Compare(k.efa, o.efa),
		cmp.Compare(k.reservation.ID, o.reservation.ID),
	)
}

// compose groups the candidates by launch template and writes the request.
func (o *Order) compose(claim *cloud.Claim, f Facts) error {
	images := ami.NewChooser(f.Class.Status.AMIs)
	groups := map[sharedTemplate][]types.FleetLaunchTemplateOverridesRequest{}
	var kinds []sharedTemplate
	var kept []cloud.Candidate
	for _, c := range o.Candidates {
		subnet, found := f.Subnet(c.Offering.Zone)
		ami, boots := images.For(c.Type.Requirements)
		if !found || !boots || len(kept) == mostOverrides {
			continue
		}
		k := sharedTemplateOf(claim, c, ami.ID)
		if _, known := groups[k]; !known {
			if len(groups) == mostTemplates {
				continue
			}
			kinds = append(kinds, k)
		}
		groups[k] = append(groups[k], overrideOf(c, subnet, ami.ID))
		o.take(subnet.ID, k.pods)
		kept = append(kept, c)
	}
	o.Candidates = kept
	slices.SortFunc(kinds, sharedTemplate.compare)
	o.Request = o.request(claim, f)
	for _, k := range kinds {
		t, err := launchtemplate.Build(o.options(claim, f, k))
		if errors.Is(err, userdata.ErrNoServiceCIDR) {
			return &cloud.ClassNotReady{Class: claim.Class, Err: err}
		}
		if err != nil {
			return &cloud.Rejected{Reason: "LaunchFailed", Message: "Error getting launch template configs: " + err.Error(), Err: err}
		}
		o.Templates = append(o.Templates, t)
		o.Request.LaunchTemplateConfigs = append(o.Request.LaunchTemplateConfigs, types.FleetLaunchTemplateConfigRequest{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: aws.String(t.Name), Version: aws.String("$Latest")},
			Overrides:                   groups[k],
		})
	}
	return nil
}

func (o *Order) take(subnet string, pods int64) {
	if least, known := o.Takes[subnet]; !known || pods < least {
		o.Takes[subnet] = pods
	}
}

func sharedTemplateOf(claim *cloud.Claim, c cloud.Candidate, image string) sharedTemplate {
	capacity := c.Type.FullCapacity(c.Offering)
	k := sharedTemplate{image: image, pods: capacity.Pods}
	if claim.Requests.Get(instancetype.EFA) > 0 {
		k.efa = capacity.Get(instancetype.EFA)
	}
	if isReserved(c) {
		k.reservation = launchtemplate.Reservation{ID: c.Offering.ReservationID, Kind: awsv1.ReservationDefault}
		switch kindOf(c.Offering) {
		case 1:
			k.reservation.Kind = awsv1.ReservationCapacityBlock
		case 2:
			k.reservation.Interruptible = true
		}
	}
	return k
}

func overrideOf(c cloud.Candidate, subnet awsv1.Subnet, image string) types.FleetLaunchTemplateOverridesRequest {
	return types.FleetLaunchTemplateOverridesRequest{
		InstanceType: types.InstanceType(c.Type.Name), SubnetId: aws.String(subnet.ID), ImageId: aws.String(image),
		AvailabilityZone: aws.String(c.Offering.Zone), Priority: aws.Float64(c.Offering.Price.Float()),
	}
}

func (o *Order) options(claim *cloud.Claim, f Facts, k sharedTemplate) launchtemplate.Options {
	options := launchtemplate.Options{
		Region: f.Region, Cluster: f.Cluster, Class: f.Class, Tags: Tags(claim, f),
		ImageID: k.image, MaxPods: k.pods, Labels: claim.Labels, Taints: Taints(claim),
		CapacityType: o.CapacityType, Tenancy: Tenancy(claim), EFA: k.efa, Enclave: claim.Requests.Get(NipSlots) > 0,
		ReservedCapacity: f.ReservedCapacity, Placement: launchtemplate.Placement{GroupID: f.Group, Partition: partitionNumber(o.Partition)},
	}
	if k.reservation.ID != "" {
		options.Reservation = &k.reservation
	}
	return options
}

func partitionNumber(text string) int32 {
	var n int32
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
		return 0
	}
	return n
}

// Tenancy says whether a claim's machine runs on shared or dedicated hardware: on shared hardware, unless the
// claim insists on dedicated hardware, which costs more.
func Tenancy(claim *cloud.Claim) string {
	if claim.Requirements.Get(awsv1.LabelInstanceTenancy).Has(awsv1.TenancyDefault) {
		return awsv1.TenancyDefault
	}
	return awsv1.TenancyDedicated
}

// Taints returns the taints that the node starts with, without duplicates.
func Taints(claim *cloud.Claim) []model.Taint {
	var taints []model.Taint
	for _, t := range slices.Concat(claim.Taints, claim.StartupTaints, []model.Taint{cloud.Unregistered()}) {
		if !slices.Contains(taints, t) {
			taints = append(taints, t)
		}
	}
	return taints
}

// Tags returns the tags for everything that a launch makes: the user's tags, and those by which Tenon finds
// the resources, which take precedence.
func Tags(claim *cloud.Claim, f Facts) map[string]string {
	tags := map[string]string{}
	for key, value := range f.Class.Spec.Tags {
		tags[key] = value
	}
	tags[awsv1.TagClusterPrefix+f.Cluster.Name] = "owned"
	tags[awsv1.TagNodePool] = claim.Pool
	tags[awsv1.TagClusterName] = f.Cluster.Name
	tags[awsv1.TagNodeClass] = f.Class.Name
	return tags
}

// claimTags returns the tags of the instance itself. The purchase sets them, so a search for a claim's
// instance finds it at once, even after a crash.
func claimTags(claim *cloud.Claim, f Facts) map[string]string {
	tags := Tags(claim, f)
	tags[awsv1.TagNodeClaim] = claim.Name
	tags[instance.TagClaimUID] = claim.UID
	return tags
}

// request writes everything but the templates and the token. Every claim has its own request for one
// instance: only then does its token buy just one instance, and only then does the instance carry the claim's
// name.
func (o *Order) request(claim *cloud.Claim, f Facts) *ec2.CreateFleetInput {
	common := launchtemplate.Tags(Tags(claim, f))
	in := &ec2.CreateFleetInput{
		Type: types.FleetTypeInstant,
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: aws.Int32(1), DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand,
		},
		TagSpecifications: []types.TagSpecification{
			{ResourceType: types.ResourceTypeInstance, Tags: launchtemplate.Tags(claimTags(claim, f))},
			{ResourceType: types.ResourceTypeVolume, Tags: common},
			{ResourceType: types.ResourceTypeFleet, Tags: common},
		},
	}
	if claim.Annotations[karpenterv1.AnnotationMinValuesRelaxed] != "true" {
		in.Context = f.Class.Spec.Context
	}
	o.strategy(in, o.overlaid(claim))
	return in
}

// overlaid reports whether overlays change prices: then EC2 has to use Tenon's prices.
func (o *Order) overlaid(claim *cloud.Claim) bool {
	_, said := claim.Annotations[karpenterv1.AnnotationPriceOverlayApplied]
	return said || slices.ContainsFunc(o.Candidates, func(c cloud.Candidate) bool { return c.Type.PriceOverlay })
}

func (o *Order) strategy(in *ec2.CreateFleetInput, overlaid bool) {
	target := in.TargetCapacitySpecification
	onDemand := types.FleetOnDemandAllocationStrategyLowestPrice
	spot := types.SpotAllocationStrategyPriceCapacityOptimized
	if overlaid {
		onDemand, spot = types.FleetOnDemandAllocationStrategyPrioritized, types.SpotAllocationStrategyCapacityOptimizedPrioritized
	}
	kind := math.MinInt
	if o.CapacityType == catalog.Reserved && len(o.Candidates) > 0 {
		kind = kindOf(o.Candidates[0].Offering)
	}
	switch {
	case o.CapacityType == catalog.Spot:
		target.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeSpot
		in.SpotOptions = &types.SpotOptionsRequest{AllocationStrategy: spot}
	case kind == 1:
		target.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeCapacityBlock
	case kind == 2:
		target.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeReservedCapacity
		in.ReservedCapacityOptions = &types.ReservedCapacityOptionsRequest{
			ReservationTypes: []types.FleetReservationType{types.FleetReservationTypeInterruptibleCapacityReservation},
		}
	default:
		in.OnDemandOptions = &types.OnDemandOptionsRequest{AllocationStrategy: onDemand}
	}
}
