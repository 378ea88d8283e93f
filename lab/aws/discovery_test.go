package aws_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws"
	"tenon/lab/aws/market"
)

func TestSubnetsAndGroups(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	var zones []string
	for _, s := range w.subnets {
		zones = append(zones, fmt.Sprintf("%s %s %d", *s.AvailabilityZone, *s.AvailabilityZoneId, *s.AvailableIpAddressCount))
	}
	want := []string{"us-west-2a usw2-az2 4091", "us-west-2b usw2-az1 4091", "us-west-2c usw2-az3 4091", "us-west-2d usw2-az4 4091"}
	if !slices.Equal(zones, want) {
		t.Errorf("subnets = %q, want %q", zones, want)
	}
	groups := got(e.ec2().DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{
		Filters: []types.Filter{filter("tag-key", "karpenter.sh/discovery")}, MaxResults: sdk.Int32(500)}))(t)
	if len(groups.SecurityGroups) != 2 {
		t.Errorf("%d groups with the tag, want 2", len(groups.SecurityGroups))
	}
}

// A page's token is opaque; all pages together contain every item once.
func TestPages(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	p := ec2.NewDescribeSubnetsPaginator(e.ec2(), &ec2.DescribeSubnetsInput{MaxResults: sdk.Int32(5)})
	seen := map[string]int{}
	pages := 0
	for p.HasMorePages() {
		for _, s := range got(p.NextPage(t.Context()))(t).Subnets {
			seen[*s.SubnetId]++
		}
		pages++
	}
	if len(seen) != 6 || pages != 2 {
		t.Errorf("%d subnets on %d pages, want 6 on 2: %v", len(seen), pages, seen)
	}
	for name, in := range map[string]*ec2.DescribeSubnetsInput{
		"too few at once":      {MaxResults: sdk.Int32(1)},
		"another call's token": {NextToken: sdk.String("abc")},
		"an unknown filter":    {Filters: []types.Filter{filter("colour", "red")}},
		"a filter for nothing": {Filters: []types.Filter{filter("vpc-id")}},
	} {
		if _, err := e.ec2().DescribeSubnets(t.Context(), in); code(err) != "InvalidParameterValue" {
			t.Errorf("%s: %s, want InvalidParameterValue", name, code(err))
		}
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx := t.Context()
	w := e.discover()
	find := func(in *ec2.DescribeImagesInput) []types.Image { return got(e.ec2().DescribeImages(ctx, in))(t).Images }
	recommended := find(&ec2.DescribeImagesInput{Filters: []types.Filter{filter("image-id", w.image), filter("state", "available")}, IncludeDeprecated: sdk.Bool(true), MaxResults: sdk.Int32(1000)})
	if len(recommended) != 1 || *recommended[0].Name != "amazon-eks-node-al2023-x86_64-standard-1.36-v20260715" || recommended[0].Architecture != "x86_64" {
		t.Fatalf("recommended = %+v", recommended)
	}
	if pinned := e.image("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.36-v20260701/image_id"); pinned == w.image {
		t.Error("the release before is the recommended one")
	}
	if own := find(&ec2.DescribeImagesInput{Owners: []string{"self"}}); len(own) != 1 || *own[0].Name != "golden" {
		t.Errorf("own images = %+v", own)
	}
	if wild := find(&ec2.DescribeImagesInput{Owners: []string{"self", "amazon"}, Filters: []types.Filter{filter("name", "bottlerocket-aws-k8s-1.36-x86_64-v*")}}); len(wild) != 2 {
		t.Errorf("%d Bottlerocket images by wildcard, want both releases", len(wild))
	}
	e.cause(`{"kind": "image-deprecated", "images": ["` + w.image + `"]}`)
	byName := []types.Filter{filter("name", *recommended[0].Name)}
	if hidden := find(&ec2.DescribeImagesInput{Filters: byName}); len(hidden) != 0 {
		t.Error("another account's deprecated image is shown without IncludeDeprecated")
	}
	old := find(&ec2.DescribeImagesInput{Filters: byName, IncludeDeprecated: sdk.Bool(true)})
	if at, err := time.Parse(time.RFC3339, *old[0].DeprecationTime); err != nil || at.After(start) {
		t.Errorf("deprecation time = %v, %v", at, err)
	}
	e.cause(`{"kind": "image-release", "families": ["AL2023"]}`)
	if e.discover().image == w.image {
		t.Error("a new release did not move the parameter")
	}
	for _, family := range []string{
		"/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id", "/aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id",
		"/aws/service/bottlerocket/aws-k8s-1.36/arm64/latest/image_id", "/aws/service/bottlerocket/aws-k8s-1.36-nvidia/x86_64/1.51.0/image_id",
		"/aws/service/ami-windows-latest/Windows_Server-2025-English-Core-EKS_Optimized-1.36/image_id", "/golden/image",
		"arn:aws:ssm:us-west-2::parameter/aws/service/bottlerocket/aws-k8s-1.36/x86_64/latest/image_id",
	} {
		if id := e.image(family); !strings.HasPrefix(id, "ami-") {
			t.Errorf("%s = %s", family, id)
		}
	}
}

func TestInstanceTypesAreTheBuiltInFacts(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	p := ec2.NewDescribeInstanceTypesPaginator(e.ec2(), &ec2.DescribeInstanceTypesInput{MaxResults: sdk.Int32(100), Filters: []types.Filter{
		filter("supported-virtualization-type", "hvm"), filter("processor-info.supported-architecture", "x86_64", "arm64")}})
	found := map[string]types.InstanceTypeInfo{}
	for p.HasMorePages() {
		for _, i := range got(p.NextPage(t.Context()))(t).InstanceTypes {
			found[string(i.InstanceType)] = i
		}
	}
	sold := 0
	for _, f := range facts.Types() {
		i, there := found[f.Name]
		known := f.VCPUs.Or(0) > 0 && f.MemoryMiB.Or(0) > 0 && f.Architecture != ""
		if there != known {
			t.Errorf("%s: described %t, known %t", f.Name, there, known)
		}
		if !there || !known {
			continue
		}
		sold++
		n := i.NetworkInfo
		if int64(*i.VCpuInfo.DefaultVCpus) != int64(f.VCPUs) || *i.MemoryInfo.SizeInMiB != int64(f.MemoryMiB) || len(n.NetworkCards) == 0 || n.Ipv4AddressesPerInterface == nil ||
			i.PlacementGroupInfo == nil || *i.BareMetal != f.BareMetal || (i.GpuInfo != nil) != (f.GPU != "") {
			t.Errorf("%s is described as %+v", f.Name, i)
		}
		if limit := f.CardInterfaces; limit.Known() && int64(*n.NetworkCards[*n.DefaultNetworkCardIndex].MaximumNetworkInterfaces) != int64(limit) {
			t.Errorf("%s: %d interfaces on the default card, want %d", f.Name, *n.NetworkCards[0].MaximumNetworkInterfaces, limit)
		}
	}
	if sold < 1300 {
		t.Errorf("only %d types", sold)
	}
	if g := found["g4dn.xlarge"].GpuInfo.Gpus[0]; *g.Manufacturer != "NVIDIA" || *g.Count != 1 {
		t.Errorf("g4dn.xlarge has the GPU %+v", g)
	}
}

// The AWS SDK says (ec2 v1.344.0, DescribeInstanceTypeOfferings): "Lists the instance types that are offered for the specified location."
func TestOfferings(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	p := ec2.NewDescribeInstanceTypeOfferingsPaginator(e.ec2(), &ec2.DescribeInstanceTypeOfferingsInput{LocationType: "availability-zone", MaxResults: sdk.Int32(1000)})
	zones := map[string][]string{}
	for p.HasMorePages() {
		for _, o := range got(p.NextPage(t.Context()))(t).InstanceTypeOfferings {
			zones[string(o.InstanceType)] = append(zones[string(o.InstanceType)], *o.Location)
		}
	}
	if len(zones["m5.large"]) != 4 {
		t.Errorf("m5.large is offered in %v, want four zones", zones["m5.large"])
	}
	scarce := 0
	for _, list := range zones {
		if len(list) < 4 {
			scarce++
		}
	}
	if scarce == 0 {
		t.Error("everything is everywhere")
	}
}

func (e *emulator) prices(kind string) map[string]float64 {
	e.t.Helper()
	p := ec2.NewDescribeSpotPriceHistoryPaginator(e.ec2(), &ec2.DescribeSpotPriceHistoryInput{
		ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"}, StartTime: sdk.Time(e.clock.Now()), MaxResults: sdk.Int32(2000),
		InstanceTypes: []types.InstanceType{types.InstanceType(kind)}})
	found := map[string]float64{}
	for p.HasMorePages() {
		for _, s := range got(p.NextPage(e.t.Context()))(e.t).SpotPriceHistory {
			price, err := strconv.ParseFloat(*s.SpotPrice, 64)
			if err != nil || s.Timestamp == nil || s.Timestamp.After(e.clock.Now()) {
				e.t.Errorf("price %+v: %v", s, err)
			}
			found[*s.AvailabilityZone] = price
		}
	}
	return found
}

func TestSpotPricesMove(t *testing.T) {
	t.Parallel()
	e, same := newEmulator(t), newEmulator(t)
	before := e.prices("m5.large")
	if len(before) != 4 || fmt.Sprint(before) != fmt.Sprint(same.prices("m5.large")) {
		t.Fatalf("prices %v; the same seed gives %v", before, same.prices("m5.large"))
	}
	for zone, price := range before {
		if price <= 0 || price > 0.096 {
			t.Errorf("%s: %v, want less than on demand", zone, price)
		}
	}
	e.pass(6 * market.Epoch)
	if fmt.Sprint(before) == fmt.Sprint(e.prices("m5.large")) {
		t.Error("prices stand still")
	}
	other := newEmulator(t, func(c *configuration) { c.Resources.Seed = 8 })
	if fmt.Sprint(before) == fmt.Sprint(other.prices("m5.large")) {
		t.Error("another seed has the same prices")
	}
}

// The AWS SDK says (pricing v1.51.3) of GetProductsInput.Filters: "only products that match all filters are returned"; and of TERM_MATCH:
// "Returns only products that match both the given filter field and the given value."
func TestPriceList(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	client := pricing.NewFromConfig(e.config(account, "us-east-1"))
	list := func(tenancy, family string) map[string]float64 {
		var filters []pricingtypes.Filter
		for _, pair := range [][2]string{{"regionCode", "us-east-1"}, {"serviceCode", "AmazonEC2"}, {"preInstalledSw", "NA"}, {"operatingSystem", "Linux"},
			{"capacitystatus", "Used"}, {"marketoption", "OnDemand"}, {"tenancy", tenancy}, {"productFamily", family}} {
			filters = append(filters, pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: sdk.String(pair[0]), Value: sdk.String(pair[1])})
		}
		p := pricing.NewGetProductsPaginator(client, &pricing.GetProductsInput{ServiceCode: sdk.String("AmazonEC2"), Filters: filters, MaxResults: sdk.Int32(100)})
		found := map[string]float64{}
		for p.HasMorePages() {
			for _, text := range got(p.NextPage(t.Context()))(t).PriceList {
				name, price := readProduct(t, text)
				found[name] = price
			}
		}
		return found
	}
	shared, metal := list("Shared", "Compute Instance"), list("Dedicated", "Compute Instance (bare metal)")
	hourly := facts.PricesFor("us-east-1").Hourly
	for name, price := range shared {
		if want := hourly[name].Float(); price != want || strings.Contains(name, "metal") {
			t.Errorf("%s = %v, want %v", name, price, want)
		}
	}
	if len(shared) < 1000 || len(metal) < 50 || metal["m5.metal"] != hourly["m5.metal"].Float() {
		t.Errorf("%d shared and %d bare-metal prices", len(shared), len(metal))
	}
}

func readProduct(t *testing.T, text string) (name string, price float64) {
	t.Helper()
	var p struct {
		Product struct{ Attributes struct{ InstanceType string } }
		Terms   struct {
			OnDemand map[string]struct {
				PriceDimensions map[string]struct{ PricePerUnit struct{ USD string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	for _, term := range p.Terms.OnDemand {
		for _, d := range term.PriceDimensions {
			price = must(t, func() float64 { f, _ := strconv.ParseFloat(d.PricePerUnit.USD, 64); return f }(), nil)
		}
	}
	return p.Product.Attributes.InstanceType, price
}

// The AWS SDK says of AvailabilityZone (ec2 v1.344.0): "Valid values: availability-zone | local-zone | wavelength-zone" of ZoneType, "Local Zones -
// us-west-2-lax-1" of GroupName, and of OptInStatus "For Local Zones and Wavelength Zones, this parameter is the opt-in status. The possible
// values are opted-in and not-opted-in".
func TestLocalZones(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, func(c *aws.Config) { c.Resources.LocalZones = []string{"us-west-2-lax-1b", "us-east-1-bos-1a"} })
	zones := got(e.ec2().DescribeAvailabilityZones(t.Context(), &ec2.DescribeAvailabilityZonesInput{
		Filters: []types.Filter{{Name: sdk.String("zone-type"), Values: []string{"local-zone"}}}}))(t).AvailabilityZones
	if len(zones) != 1 || *zones[0].ZoneName != "us-west-2-lax-1b" || *zones[0].ZoneId != "usw2-lax1-az2" || *zones[0].GroupName != "us-west-2-lax-1" || zones[0].OptInStatus != "opted-in" {
		t.Fatalf("zones are %+v", zones)
	}
	subnets := got(e.ec2().DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{
		Filters: []types.Filter{{Name: sdk.String("availability-zone"), Values: []string{"us-west-2-lax-1b"}}, {Name: sdk.String("tag-key"), Values: []string{"karpenter.sh/discovery"}}}}))(t).Subnets
	if len(subnets) != 1 {
		t.Errorf("subnets are %+v", subnets)
	}
	offered := got(e.ec2().DescribeInstanceTypeOfferings(t.Context(), &ec2.DescribeInstanceTypeOfferingsInput{LocationType: "availability-zone",
		Filters: []types.Filter{{Name: sdk.String("location"), Values: []string{"us-west-2-lax-1b"}}, {Name: sdk.String("instance-type"), Values: []string{"m5.large", "m7i.large"}}}}))(t).InstanceTypeOfferings
	if len(offered) != 1 || offered[0].InstanceType != "m5.large" {
		t.Errorf("offered are %+v", offered)
	}
}
