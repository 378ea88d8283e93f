package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/provider"
)

// defaultRegion is where pools buy that name no region.
const defaultRegion = "us-west-2"

// market is EC2 as far as it is built in.
type market struct {
	settings *Settings
	// region is where all pools buy; if it is empty, each buys in its own.
	region string
	// made are the catalogues that were asked for; pools of one class and region share one.
	made map[key]*catalog.Catalog
	// unknown are names of classes that were not among the objects.
	unknown []string
	// used are the regions in which some pool buys.
	used []string
}

// key names a catalogue.
type key struct{ region, class string }

// regionName is how AWS calls regions. One that is not in the table is used all the same: there may
// be new ones.
var regionName = regexp.MustCompile(`^[a-z]+(-[a-z]+)+-[0-9]+$`)

func (s *Settings) market(region string) (provider.Market, error) {
	if region != "" && !regionName.MatchString(region) {
		return nil, fmt.Errorf("--region %s is no name of a region; known are %s", region, strings.Join(facts.Regions(), ", "))
	}
	return &market{settings: s, region: region, made: map[key]*catalog.Catalog{}}, nil
}

// offers are those of a region for nodes with default settings.
func offers(region string) *catalog.Catalog {
	if region == "" {
		region = defaultRegion
	}
	result := instancetype.Build(instancetype.Defaults(region))
	return &result.Catalog
}

// Vocabulary implements provider.Market.
func (m *market) Vocabulary() requirement.Vocabulary { return instancetype.Vocabulary() }

// ReservationLabel implements provider.Market.
func (m *market) ReservationLabel() string { return awsv1.LabelCapacityReservationID }

// Catalog implements provider.Market.
func (m *market) Catalog(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error) {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if ref.Group != awsv1.Group || ref.Kind != "EC2NodeClass" {
		return nil, fmt.Errorf("the catalogue for %s of %s is not built in: name a file of offers with --catalog", ref.Kind, ref.Group)
	}
	region := m.region
	if region == "" {
		region = regionOf(pool)
	}
	if !slices.Contains(m.used, region) {
		m.used = append(m.used, region)
	}
	params := instancetype.Defaults(region)
	params.MemoryOverhead = m.settings.VMMemoryOverheadPercent
	params.ReservedENIs = int64(m.settings.ReservedENIs)
	if ec2, ok := class.(*awsv1.EC2NodeClass); ok {
		var err error
		if params, err = params.ForClass(ec2); err != nil {
			return nil, err
		}
	} else if !slices.Contains(m.unknown, ref.Name) {
		m.unknown = append(m.unknown, ref.Name)
	}
	at := key{region, ref.Name}
	if m.made[at] == nil {
		result := instancetype.Build(params)
		m.made[at] = &result.Catalog
	}
	return m.made[at], nil
}

var zoneName = regexp.MustCompile(`^([a-z]+(?:-[a-z]+)+-[0-9]+)[a-z]$`)

// regionOf is the region of the first zone that a pool names.
func regionOf(pool *karpenterv1.NodePool) string {
	for _, r := range pool.Spec.Template.Spec.Requirements {
		if r.Key != requirement.KeyZone || len(r.Values) == 0 {
			continue
		}
		if found := zoneName.FindStringSubmatch(r.Values[0]); found != nil {
			return found[1]
		}
	}
	return defaultRegion
}

// Currency implements provider.Market. It is that of the region in which pools buy; the partitions of
// AWS have one each, and no cluster is in two.
func (m *market) Currency() string {
	region := m.region
	if region == "" && len(m.used) > 0 {
		region = m.used[0]
	}
	if region == "" {
		region = defaultRegion
	}
	return facts.PricesFor(region).Currency
}

// currency is that of a region's prices.
func currency(region string) string { return facts.PricesFor(region).Currency }

// consoles are where the consoles of partitions are that are not the usual one, by the beginning of their regions' names.
var consoles = []struct{ region, domain string }{{"cn-", "amazonaws.cn"}, {"us-gov-", "amazonaws-us-gov.com"}, {"", "aws.amazon.com"}}

var instanceName = regexp.MustCompile(`^i-[0-9a-f]+$`)

// console is the address of EC2's page about an instance.
func console(region, instance string) string {
	if !regionName.MatchString(region) || !instanceName.MatchString(instance) {
		return ""
	}
	for _, c := range consoles {
		if strings.HasPrefix(region, c.region) {
			return "https://console." + c.domain + "/ec2/home?region=" + region + "#InstanceDetails:instanceId=" + instance
		}
	}
	return ""
}

// Remarks implements provider.Market.
func (m *market) Remarks() []string {
	if len(m.used) == 0 {
		return nil
	}
	var out []string
	if len(m.unknown) > 0 {
		slices.Sort(m.unknown)
		out = append(out, fmt.Sprintf("EC2NodeClass %s was not given: nodes of its pools are assumed to run AL2023 with default settings, in every zone of %s",
			strings.Join(m.unknown, ", "), strings.Join(m.used, ", ")))
	}
	for _, region := range m.used {
		out = append(out, remarksOn(region)...)
	}
	return out
}

func remarksOn(region string) []string {
	var out []string
	if zones, known := facts.ZonesOf(region); !known {
		names := make([]string, len(zones))
		for i, z := range zones {
			names[i] = z.Name
		}
		out = append(out, fmt.Sprintf("region %s is not in the built-in table: it is taken to have the zones %s", region, strings.Join(names, ", ")))
	}
	list := facts.PricesFor(region)
	date := list.Date
	if date == "" {
		date = "an unknown date"
	}
	return append(out, fmt.Sprintf("on-demand prices are those of %s in %s of %s; spot is estimated at %d %% of them", list.Region, list.Currency, date, instancetype.DefaultSpotPercent))
}
