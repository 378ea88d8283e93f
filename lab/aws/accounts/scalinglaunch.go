package accounts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"tenon/lab/aws/wire"
)

// launchMember launches one instance of a group in a zone, or notes in the history why it could not.
func (r *Region) launchMember(g *ScalingGroup, zone, cause string) *Member {
	market := g.nextMarket()
	ways, err := r.groupWays(g, zone)
	if err != nil {
		r.launchFailed(g, cause, "{}", "You must use a valid fully-formed launch template. "+messageOf(err)+" Launching EC2 instance failed.")
		return nil
	}
	if market == "" {
		market = marketOf(ways[0])
	}
	i, from, err := r.launchWays(g, ways, market)
	if err != nil {
		r.launchFailed(g, cause, detailsOf(r.subnetIn(g, zone)), g.refusal(market, ways, err))
		return nil
	}
	m := &Member{
		Group: g, Instance: i, State: memberPending, Protected: *g.Spec.Protect, Weight: int(from.override.WeightedCapacity), Config: g.Spec.Configuration,
	}
	if from.ref.ID != "" {
		m.Template = &GroupTemplate{from.ref.ID, from.ref.Name, from.ref.Version}
	}
	m.beginning = r.note(g, Activity{
		Description: "Launching a new EC2 instance: " + i.ID, Cause: cause, Details: detailsOf(i.Subnet), Status: activityBegun, Progress: 30,
	})
	i.member = m
	g.Members = append(g.Members, m)
	r.begin(i)
	return m
}

// subnetIn returns a subnet of the group in a zone.
func (r *Region) subnetIn(g *ScalingGroup, zone string) *Subnet {
	for _, id := range g.subnetsIn(r, zone) {
		if s, err := r.Subnet(id); err == nil {
			return s
		}
	}
	return &Subnet{ID: "subnet-in-" + zone}
}

// subnetsIn returns the group's subnets in a zone; a group without any uses the zone's usual one.
func (g *ScalingGroup) subnetsIn(r *Region, zone string) (ids []string) {
	for _, id := range g.Spec.subnets() {
		if s, err := r.Subnet(id); err == nil && s.Zone.Name == zone {
			ids = append(ids, id)
		}
	}
	if g.Spec.Subnets == "" {
		ids = []string{r.usualSubnet(zone)}
	}
	return ids
}

// groupWays returns all ways in which a group may launch in a zone.
func (r *Region) groupWays(g *ScalingGroup, zone string) ([]way, error) {
	base, overrides, err := r.groupSource(g)
	if err != nil {
		return nil, err
	}
	var ways []way
	for n, o := range overrides {
		w := base
		if o.Template != nil {
			if w, err = r.templateWay(*o.Template); err != nil {
				return nil, err
			}
		}
		weight, _ := strconv.Atoi(o.Weight) // checked when the group was made
		rank := float64(n)
		w.override = Override{InstanceType: o.InstanceType, WeightedCapacity: float64(weight), Priority: &rank}
		if g.Spec.Mixed != nil {
			w.override.MaxPrice = g.Spec.Mixed.Distribution.SpotMaxPrice
		}
		for _, id := range g.subnetsIn(r, zone) {
			w.override.SubnetID = id
			ways = append(ways, w)
		}
	}
	return ways, nil
}

// groupSource returns what the group launches from, and the overrides.
func (r *Region) groupSource(g *ScalingGroup) (base way, overrides []GroupOverride, err error) {
	overrides = []GroupOverride{{}}
	switch {
	case g.Spec.Configuration != "":
		c, err := r.Configuration(g.Spec.Configuration)
		if err != nil {
			return way{}, nil, err
		}
		return way{template: &Template{TemplateVersion: TemplateVersion{Spec: c.Spec}}}, overrides, nil
	case g.Spec.Mixed != nil:
		if len(g.Spec.Mixed.Template.Overrides) > 0 {
			overrides = g.Spec.Mixed.Template.Overrides
		}
		base, err = r.templateWay(*g.Spec.Mixed.Template.Spec)
	default:
		base, err = r.templateWay(*g.Spec.Template)
	}
	return base, overrides, err
}

func (r *Region) templateWay(ref GroupTemplate) (way, error) {
	t, err := r.templateVersion(TemplateRef(ref))
	if err != nil {
		return way{}, err
	}
	return way{template: t, ref: t.ref()}, nil
}

// marketOf returns how a launch template or configuration pays for its instances.
func marketOf(w way) string {
	if w.template.Spec.Market.MarketType == "spot" {
		return "spot"
	}
	return "on-demand"
}

// nextMarket returns how the next instance of a mixed group is paid for; for other groups their template
// decides. "The minimum amount of the Auto Scaling group's capacity that must be fulfilled by On-Demand
// Instances. This base portion is launched first"; above it, percentages "of On-Demand Instances and Spot
// Instances".
func (g *ScalingGroup) nextMarket() string {
	if g.Spec.Mixed == nil {
		return ""
	}
	base, percentage := *g.Spec.Mixed.Distribution.Base, *g.Spec.Mixed.Distribution.Percentage
	onDemand, all := 0, 1
	for _, m := range g.Members {
		if m.leaving() {
			continue
		}
		all += max(m.Weight, 1)
		if m.Instance.CapacityType != "spot" {
			onDemand += max(m.Weight, 1)
		}
	}
	above := max(all-base, 0)
	if want := min(base, all) + (above*percentage+99)/100; onDemand < want {
		return "on-demand"
	}
	return "spot"
}

// launchWays launches in the best of the ways that has capacity.
func (r *Region) launchWays(g *ScalingGroup, ways []way, market string) (*Instance, candidate, error) {
	bundle := r.world.identifier("r")
	var list []candidate
	var last error
	for _, w := range ways {
		c, err := r.resolve(order{
			spec: w.spec(), subnetID: w.override.SubnetID, capacityType: market, maxPrice: w.override.MaxPrice, tags: g.launchTags(w), bundle: bundle,
		})
		if err != nil {
			last = err
			continue
		}
		list = append(list, r.candidate(w, c, len(list)))
	}
	r.rank(list, market, g.strategy(market))
	for _, c := range list {
		i, err := r.start(c.choice)
		if err == nil {
			return i, c, nil
		}
		last = err
	}
	return nil, candidate{}, last
}

// strategy returns how a mixed group chooses between its types.
func (g *ScalingGroup) strategy(market string) FleetOptions {
	switch {
	case g.Spec.Mixed == nil:
		return FleetOptions{}
	case market == "spot":
		return FleetOptions{Strategy: g.Spec.Mixed.Distribution.SpotStrategy}
	case g.Spec.Mixed.Distribution.OnDemandStrategy == "lowest-price":
		return FleetOptions{Strategy: "lowest-price"}
	default:
		return FleetOptions{Strategy: "prioritized"}
	}
}

// launchTags returns the tags that the group gives its instances.
func (g *ScalingGroup) launchTags(w way) []TagSpec {
	tags := []wire.Tag{{Key: "aws:autoscaling:groupName", Value: g.Name}}
	if w.ref.ID != "" {
		tags = append(tags, wire.Tag{Key: "aws:ec2launchtemplate:id", Value: w.ref.ID}, wire.Tag{Key: "aws:ec2launchtemplate:version", Value: w.ref.Version})
	}
	for _, t := range g.Tags {
		if t.AtLaunch {
			tags = append(tags, t.Tag)
		}
	}
	return []TagSpec{{ResourceType: "instance", Tags: tags}}
}

// noSpot is the history's sentence for a spot pool without capacity.
const noSpot = "There is no Spot capacity available that matches your request."

// refusal says why a launch failed, in the words of the group's history. Groups with a mixed policy
// report the market and the code, others only the message.
func (g *ScalingGroup) refusal(market string, ways []way, err error) string {
	code, text := "InternalError", err.Error()
	if known, ok := errors.AsType[*wire.Error](err); ok {
		code, text = known.Code, known.Message
	}
	if market == "spot" && code == "InsufficientInstanceCapacity" {
		text = noSpot
	}
	if g.Spec.Mixed == nil {
		return text + " Launching EC2 instance failed."
	}
	if code == "InsufficientInstanceCapacity" && market == "spot" && len(typesOf(ways)) > 1 {
		code, text = "UnfulfillableCapacity", "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again."
	}
	name := map[string]string{"spot": "Spot", "on-demand": "On-Demand"}[market]
	return fmt.Sprintf("Could not launch %s Instances. %s - %s Launching EC2 instance failed.", name, code, text)
}

func typesOf(ways []way) (types []string) {
	for _, w := range ways {
		if !slices.Contains(types, w.override.InstanceType) {
			types = append(types, w.override.InstanceType)
		}
	}
	return types
}
