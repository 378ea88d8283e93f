package launch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/aws/instancetype"
	"tenon/cloud/aws/launch"
	"tenon/cloud/aws/offering"
	"tenon/cloud/aws/userdata"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// kind is a type of machine with offers, each written as "zone capacity-type price", followed by the ID and
// kind of a reservation if there is one.
func kind(name string, pods int64, extended string, offers ...string) catalog.Type {
	capacity := model.Resources{CPU: 4000, Memory: 16 << 30, Pods: pods}
	if extended != "" {
		capacity = capacity.Add(model.NewResources(model.Amount{Name: extended, Value: 2}))
	}
	t := catalog.Type{Name: name, Capacity: capacity, Requirements: requirement.NewSet(
		requirement.New(requirement.KeyInstanceType, requirement.In, name), requirement.New(requirement.KeyArch, requirement.In, "amd64"),
		requirement.New(awsv1.LabelInstanceTenancy, requirement.In, "default", "dedicated"),
	)}
	for _, text := range offers {
		var zone, way, id, reservation string
		var price int64
		n, _ := fmt.Sscan(text, &zone, &way, &price, &id, &reservation)
		o := catalog.Offering{Zone: zone, CapacityType: way, Price: model.Money(price) * 1_000_000, Available: true}
		if n >= 4 {
			interruptible := fmt.Sprint(reservation == "interruptible")
			if reservation != "capacity-block" {
				reservation = "default"
			}
			o.ReservationID, o.ReservationCapacity = id, 5
			o.Extra = requirement.NewSet(
				requirement.New(awsv1.LabelCapacityReservationID, requirement.In, id),
				requirement.New(awsv1.LabelCapacityReservationType, requirement.In, reservation),
				requirement.New(awsv1.LabelCapacityReservationInterruptible, requirement.In, interruptible))
		}
		t.Offerings = append(t.Offerings, o)
	}
	return t
}

func claim(requirements ...requirement.Requirement) *cloud.Claim {
	return &cloud.Claim{
		UID: "uid", Name: "claim", Pool: "default", Class: cloud.ClassRef{Name: "class"},
		Requirements: requirement.NewSet(requirements...), Requests: model.Resources{CPU: 100, Pods: 1},
	}
}

func ways(names ...string) requirement.Requirement {
	return requirement.New(requirement.KeyCapacityType, requirement.In, names...)
}

func facts(kinds ...catalog.Type) launch.Facts {
	class := &awsv1.EC2NodeClass{
		Spec:   awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}, Context: aws.String("ctx"), Tags: map[string]string{"team": "a"}},
		Status: awsv1.EC2NodeClassStatus{AMIs: []awsv1.AMI{{ID: "ami-1"}}, InstanceProfile: "profile"},
	}
	class.Name = "class"
	return launch.Facts{
		Region: "us-west-2", Class: class, Catalog: &catalog.Catalog{Types: kinds}, ReservedCapacity: true, SpotMargin: -1,
		Cluster: userdata.Cluster{Name: "lab", Endpoint: "https://api", CABundle: "bGFi", ServiceCIDR: "10.96.0.0/12"},
		Subnet: func(zone string) (awsv1.Subnet, bool) {
			return awsv1.Subnet{ID: "subnet-" + zone, Zone: zone}, zone != "z"
		},
	}
}

// overrides lists the overrides of a request as "type zone".
func overrides(in *ec2.CreateFleetInput) []string {
	var list []string
	for _, config := range in.LaunchTemplateConfigs {
		for _, o := range config.Overrides {
			list = append(list, string(o.InstanceType)+" "+*o.AvailabilityZone)
		}
	}
	slices.Sort(list)
	return list
}

// A spot machine costs at most a little more than the cheapest suitable one, unless a pool asks for variety
// or the setting allows any machine.
func TestSpotIsBoughtNearTheCheapestPrice(t *testing.T) {
	t.Parallel()
	all := []catalog.Type{
		kind("m5.large", 29, "", "a on-demand 100", "a spot 30", "b spot 34"),
		kind("m5.xlarge", 58, "", "a on-demand 200", "a on-demand 90", "a spot 33", "b spot 31"),
	}
	varied := requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(2)
	cases := map[string]struct {
		margin float64
		claim  *cloud.Claim
		want   string
	}{
		"within a tenth":         {0.1, claim(ways("spot")), "m5.large a;m5.xlarge a;m5.xlarge b"},
		"the cheapest alone":     {0, claim(ways("spot")), "m5.large a"},
		"any":                    {-1, claim(ways("spot")), "m5.large a;m5.large b;m5.xlarge a;m5.xlarge b"},
		"on demand has no depth": {0, claim(ways("on-demand")), "m5.large a;m5.xlarge a"},
		"variety goes first":     {0, claim(ways("spot"), varied), "m5.large a;m5.large b;m5.xlarge a;m5.xlarge b"},
	}
	for name, tc := range cases {
		f := facts(all...)
		f.SpotMargin = tc.margin
		order, err := launch.Choose(tc.claim, f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(overrides(order.Request), ";"); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// The claim's requirements determine what the order asks for, and how it buys.
func TestChoose(t *testing.T) {
	t.Parallel()
	all := []catalog.Type{
		kind("m5.large", 29, "", "a on-demand 10", "b on-demand 10", "a spot 3", "b spot 12"),
		kind("m5.xlarge", 58, "", "a on-demand 20", "a spot 5"),
		kind("m5.metal", 110, "", "a on-demand 2", "a spot 2"),
		kind("g5.xlarge", 58, instancetype.NvidiaGPU, "a on-demand 1", "a spot 1"),
	}
	reserved := append(slices.Clone(all), kind("c5.large", 29, "", "a on-demand 9", "a reserved 0 cr-1 default", "b reserved 0 cr-2 interruptible"))
	blocks := append(slices.Clone(all), kind("c5.large", 29, "", "a reserved 0 cr-1 capacity-block", "b reserved 0 cr-2 capacity-block"))
	cases := map[string]struct {
		kinds []catalog.Type
		claim *cloud.Claim
		want  string
		way   types.DefaultTargetCapacityType
	}{
		"spot where it is allowed, but not dearer than on demand": {all, claim(ways("spot", "on-demand")), "m5.large a;m5.xlarge a", "spot"},
		"on demand":                      {all, claim(ways("on-demand")), "m5.large a;m5.large b;m5.xlarge a", "on-demand"},
		"spot alone may cost anything":   {all, claim(ways("spot")), "m5.large a;m5.large b;m5.xlarge a", "spot"},
		"exotic if nothing else will do": {all, claim(ways("on-demand"), requirement.New(requirement.KeyInstanceType, requirement.In, "g5.xlarge")), "g5.xlarge a", "on-demand"},
		"minimums keep everything": {all, claim(ways("on-demand"), requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(4)),
			"g5.xlarge a;m5.large a;m5.large b;m5.metal a;m5.xlarge a", "on-demand"},
		"what is paid for comes first":   {reserved, claim(), "c5.large a", "on-demand"},
		"interruptible reservations":     {reserved, claim(requirement.New(awsv1.LabelCapacityReservationInterruptible, requirement.In, "true")), "c5.large b", "reserved-capacity"},
		"a single capacity block":        {blocks, claim(), "c5.large a", "capacity-block"},
		"reservations only when allowed": {reserved, claim(ways("on-demand")), "c5.large a;m5.large a;m5.large b;m5.xlarge a", "on-demand"},
	}
	for name, tc := range cases {
		order, err := launch.Choose(tc.claim, facts(tc.kinds...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(overrides(order.Request), ";"); got != tc.want || order.Request.TargetCapacitySpecification.DefaultTargetCapacityType != tc.way {
			t.Errorf("%s: %s as %s, want %s as %s", name, got, order.Request.TargetCapacitySpecification.DefaultTargetCapacityType, tc.want, tc.way)
		}
	}
}

// The order keeps the sixty cheapest types.
func TestMostTypes(t *testing.T) {
	t.Parallel()
	var kinds []catalog.Type
	for i := range 100 {
		kinds = append(kinds, kind(fmt.Sprintf("m%d.large", i), 29, "", fmt.Sprintf("a on-demand %d", 1000-i)))
	}
	order, err := launch.Choose(claim(), facts(kinds...))
	if err != nil || len(order.Candidates) != launch.MostTypes || order.Candidates[0].Type.Name != "m99.large" || order.Candidates[59].Type.Name != "m40.large" {
		t.Errorf("%d candidates, error %v", len(order.Candidates), err)
	}
}

// The minimum counts only candidates in the request, which cannot name candidates in a zone without a subnet.
func TestMinimumOfTheRequest(t *testing.T) {
	t.Parallel()
	kinds := []catalog.Type{kind("m5.large", 29, "", "a on-demand 10"), kind("m6i.large", 29, "", "z on-demand 9"), kind("m7i.large", 29, "", "b on-demand 11")}
	for least, want := range map[int]int{2: 2, 3: 0} {
		order, err := launch.Choose(claim(requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(least)), facts(kinds...))
		none, short := errors.AsType[*cloud.NoCapacity](err)
		if len(order.Candidates) != want || short != (want == 0) || short && !strings.Contains(none.Error(), "minimums are not met") {
			t.Errorf("minimum %d: %d candidates, want %d; error %v", least, len(order.Candidates), want, err)
		}
	}
}

// The request names the claim, one launch template for each number of pods, and the strategy that fits the
// prices.
func TestRequest(t *testing.T) {
	t.Parallel()
	kinds := []catalog.Type{kind("m5.large", 29, "", "a on-demand 10", "a spot 3"), kind("m5.xlarge", 58, "", "a on-demand 20")}
	order, err := launch.Choose(claim(ways("on-demand")), facts(kinds...))
	if err != nil {
		t.Fatal(err)
	}
	in := order.Request
	if len(in.LaunchTemplateConfigs) != 2 || len(order.Templates) != 2 || aws.ToString(in.Context) != "ctx" || in.ClientToken != nil || order.Takes["subnet-a"] != 29 {
		t.Errorf("request is %+v with %d templates, takes %v", in, len(order.Templates), order.Takes)
	}
	if in.OnDemandOptions.AllocationStrategy != types.FleetOnDemandAllocationStrategyLowestPrice || *in.TargetCapacitySpecification.TotalTargetCapacity != 1 {
		t.Errorf("strategy is %+v", in.OnDemandOptions)
	}
	if o := in.LaunchTemplateConfigs[0].Overrides[0]; *o.ImageId != "ami-1" || *o.SubnetId != "subnet-a" || *o.Priority <= 0 {
		t.Errorf("override is %+v", o)
	}
	tags := map[types.ResourceType]int{}
	for _, s := range in.TagSpecifications {
		tags[s.ResourceType] = len(s.Tags)
	}
	if tags["instance"] != 7 || tags["volume"] != 5 || tags["fleet"] != 5 {
		t.Errorf("tags are %v", tags)
	}
	overlaid := claim(ways("spot"))
	overlaid.Annotations = map[string]string{karpenterv1.AnnotationPriceOverlayApplied: "x", karpenterv1.AnnotationMinValuesRelaxed: "true"}
	order, err = launch.Choose(overlaid, facts(kinds...))
	if err != nil || order.Request.SpotOptions.AllocationStrategy != types.SpotAllocationStrategyCapacityOptimizedPrioritized || order.Request.Context != nil {
		t.Errorf("overlaid: %+v, error %v", order.Request, err)
	}
}

// Without an offer the error says what is missing; without a service range the error is that the class is not
// ready.
func TestRefusals(t *testing.T) {
	t.Parallel()
	gone := kind("m5.large", 29, "", "a on-demand 10")
	gone.Offerings[0].Available = false
	_, err := launch.Choose(claim(), facts(gone))
	short, typed := errors.AsType[*cloud.NoCapacity](err)
	if !typed || len(short.Offers) != 1 || short.Offers[0].Zone != "a" {
		t.Errorf("error %v, want NoCapacity with the offer", err)
	}
	// An older catalogue of the claim does not make the offer available.
	older := claim()
	older.Catalog = &catalog.Catalog{Types: []catalog.Type{kind("m5.large", 29, "", "a on-demand 10")}}
	if _, err := launch.Choose(older, facts(gone)); err == nil {
		t.Error("what is sold out was bought")
	}
	if _, err := launch.Choose(claim(), facts(kind("m5.large", 29, "", "z on-demand 10"))); !strings.Contains(fmt.Sprint(err), "no capacity offerings are currently available") {
		t.Errorf("a zone without a subnet: error %v", err)
	}
	withoutRange := facts(kind("m5.large", 29, "", "a on-demand 10"))
	withoutRange.Cluster.ServiceCIDR = ""
	if _, err := launch.Choose(claim(), withoutRange); err == nil || !strings.Contains(err.Error(), "NodeClassRef not ready") {
		t.Errorf("error %v, want ClassNotReady", err)
	}
}

// Failures teach what is short, and determine the kind of error of an order that bought nothing.
func TestLearn(t *testing.T) {
	t.Parallel()
	f := facts(kind("m5.large", 29, "", "a on-demand 10", "b on-demand 10"), kind("m5.xlarge", 58, "", "a on-demand 20"))
	f.Group = "pg-1"
	order, err := launch.Choose(claim(), f)
	if err != nil {
		t.Fatal(err)
	}
	failure := func(code, message string) launch.Failure {
		return launch.Failure{Code: code, Message: message, InstanceType: "m5.large", Zone: "a", SubnetID: "subnet-a"}
	}
	cases := map[string]struct {
		failure launch.Failure
		offers  int
		subnets int
		noSpot  bool
		short   bool
	}{
		"no capacity":      {failure("InsufficientInstanceCapacity", "x"), 1, 0, false, true},
		"no addresses":     {failure("InsufficientFreeAddressesInSubnet", "x"), 1, 1, false, true},
		"a full group":     {failure("InvalidParameterValue", "the limit of instances in this spread placement group is 7"), 2, 0, false, false},
		"no spot role":     {failure("AuthFailure.ServiceLinkedRoleCreationNotPermitted", "x"), 0, 0, true, true},
		"a bad parameter":  {failure("InvalidParameterValue", "x"), 0, 0, false, false},
		"of nothing named": {launch.Failure{Code: "UnfulfillableCapacity", Message: "x"}, 0, 0, false, true},
	}
	for name, tc := range cases {
		l := order.Learn([]launch.Failure{tc.failure})
		_, short := errors.AsType[*cloud.NoCapacity](order.Refused([]launch.Failure{tc.failure}))
		if len(l.Offers) != tc.offers || len(l.Subnets) != tc.subnets || l.NoSpot != tc.noSpot || short != tc.short {
			t.Errorf("%s: %+v, a shortage: %t", name, l, short)
		}
	}
	want := offering.Shortage{InstanceType: "m5.large", Zone: "a", CapacityType: "on-demand", Group: "pg-1"}
	if got := order.Learn([]launch.Failure{failure("UnfulfillableCapacity", "x")}).Offers; got[0] != want {
		t.Errorf("short is %+v, want %+v", got, want)
	}
}

// An answer may have an instance and failures. Read accepts answers that do not say what a failure concerns. (AWS SDK, ec2 v1.344.0,
// CreateFleetOutput: Instances are "the instances that were launched by the fleet", and Errors are about "the instances that could not
// be launched by the fleet. Supported only for fleets of type instant".)
func TestRead(t *testing.T) {
	t.Parallel()
	a := launch.Read(&ec2.CreateFleetOutput{
		Instances: []types.CreateFleetInstance{{InstanceIds: nil}, {InstanceIds: []string{"i-1"}, InstanceType: "m5.large"}},
		Errors:    []types.CreateFleetError{{ErrorCode: aws.String("X")}},
	})
	if a.Bought == nil || a.Bought.ID != "i-1" || len(a.Failures) != 1 || a.Failures[0].InstanceType != "" {
		t.Errorf("read %+v", a)
	}
}

// Narrow reports a claim that allows spot but gets few types on demand.
func TestNarrow(t *testing.T) {
	t.Parallel()
	both := requirement.New(requirement.KeyCapacityType, requirement.In, catalog.OnDemand, catalog.Spot)
	cases := map[string]struct {
		claim  *cloud.Claim
		types  int
		narrow bool
	}{
		"few types, spot allowed":     {claim(both), 4, true},
		"few types, nothing asked":    {claim(), 4, true},
		"enough types":                {claim(both), 5, false},
		"few types, on demand wanted": {claim(requirement.New(requirement.KeyCapacityType, requirement.In, catalog.OnDemand)), 4, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := launch.Order{CapacityType: catalog.OnDemand}
			for n := range tc.types {
				kind := kind(fmt.Sprint("kind-", n), 10, "", "a on-demand 1", "b on-demand 1")
				for i := range kind.Offerings {
					o.Candidates = append(o.Candidates, cloud.Candidate{Type: &kind, Offering: &kind.Offerings[i]})
				}
			}
			if types, narrow := o.Narrow(tc.claim); types != tc.types || narrow != tc.narrow {
				t.Errorf("%d types, narrow %t; want %d, %t", types, narrow, tc.types, tc.narrow)
			}
		})
	}
}
