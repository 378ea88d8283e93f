package offering_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/capacityreservation"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/network"
	"tenon/cloud/aws/offering"
	"tenon/core/catalog"
)

var (
	start = time.Date(2026, time.August, 21, 12, 0, 0, 0, time.UTC)
	zones = []string{"us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"}
)

// region is EC2 as it answers for all types that are built in.
type region struct{}

func (region) DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	out := &ec2.DescribeInstanceTypesOutput{}
	for _, t := range facts.Types() {
		arch := types.ArchitectureTypeX8664
		if t.Architecture == "arm64" {
			arch = types.ArchitectureTypeArm64
		}
		out.InstanceTypes = append(out.InstanceTypes, types.InstanceTypeInfo{
			InstanceType:          types.InstanceType(t.Name),
			Hypervisor:            types.InstanceTypeHypervisor(t.Hypervisor),
			BareMetal:             aws.Bool(t.BareMetal),
			VCpuInfo:              &types.VCpuInfo{DefaultVCpus: aws.Int32(int32(t.VCPUs.Or(2)))},
			MemoryInfo:            &types.MemoryInfo{SizeInMiB: aws.Int64(t.MemoryMiB.Or(4096))},
			ProcessorInfo:         &types.ProcessorInfo{SupportedArchitectures: []types.ArchitectureType{arch}, Manufacturer: aws.String("Intel")},
			SupportedUsageClasses: []types.UsageClassType{types.UsageClassTypeOnDemand, types.UsageClassTypeSpot},
			NetworkInfo: &types.NetworkInfo{
				Ipv4AddressesPerInterface: aws.Int32(int32(t.Addresses.Or(10))), MaximumNetworkInterfaces: aws.Int32(4),
				DefaultNetworkCardIndex: aws.Int32(0),
				NetworkCards:            []types.NetworkCardInfo{{NetworkCardIndex: aws.Int32(0), MaximumNetworkInterfaces: aws.Int32(int32(t.CardInterfaces.Or(3)))}},
			},
		})
	}
	return out, nil
}

func (region) DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	out := &ec2.DescribeInstanceTypeOfferingsOutput{}
	for _, t := range facts.Types() {
		for _, z := range zones {
			out.InstanceTypeOfferings = append(out.InstanceTypeOfferings, types.InstanceTypeOffering{InstanceType: types.InstanceType(t.Name), Location: aws.String(z)})
		}
	}
	return out, nil
}

func (region) DescribeSpotPriceHistory(context.Context, *ec2.DescribeSpotPriceHistoryInput, ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error) {
	return &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: []types.SpotPrice{{
		InstanceType: "m5.large", AvailabilityZone: aws.String(zones[0]), SpotPrice: aws.String("0.03"), Timestamp: aws.Time(start),
	}}}, nil
}

// fixture is the catalogues with what they are made from.
type fixture struct {
	*offering.Catalogs
	sources offering.Sources
	clock   *clocktesting.FakePassiveClock
}

func newFixture(t testing.TB) fixture {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(start)
	s := offering.Sources{
		Region: "us-west-2", InstanceTypes: offering.NewInstanceTypes(region{}), Prices: offering.NewPriceList("us-west-2"), Shortages: offering.NewShortages(clock),
		Counts: capacityreservation.NewCounts(clock), Memory: offering.NewMemory(clock), Network: network.New(nil, clock, time.Minute, network.NewAddresses()),
		MemoryOverhead: 0.075,
	}
	if _, err := s.InstanceTypes.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return fixture{offering.New(s), s, clock}
}

func class() *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-1", Generation: 1},
		Spec:       awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}},
	}
	for i, z := range zones {
		c.Status.Subnets = append(c.Status.Subnets, awsv1.Subnet{ID: "subnet-" + z, Zone: z, ZoneID: "usw2-az" + string(rune('1'+i))})
	}
	c.Status.AMIs = []awsv1.AMI{{ID: "ami-1"}}
	return c
}

// find is an offering of the catalogue.
func find(t *testing.T, c *catalog.Catalog, name, zone, way string) (*catalog.Type, catalog.Offering) {
	t.Helper()
	for i := range c.Types {
		for _, o := range c.Types[i].Offerings {
			if c.Types[i].Name == name && o.Zone == zone && o.CapacityType == way {
				return &c.Types[i], o
			}
		}
	}
	t.Fatalf("no offering of %s in %s as %s", name, zone, way)
	return nil, catalog.Offering{}
}

// A catalogue is the same value until something has changed, and then it shows the change.
func TestOfferFollowsWhatIsKnown(t *testing.T) {
	t.Parallel()
	large := func(t *testing.T, c *catalog.Catalog, zone, way string) catalog.Offering {
		t.Helper()
		_, o := find(t, c, "m5.large", zone, way)
		return o
	}
	cases := map[string]struct {
		change func(fixture, *awsv1.EC2NodeClass)
		check  func(*testing.T, *catalog.Catalog) bool
	}{
		"a shortage": {
			func(w fixture, _ *awsv1.EC2NodeClass) {
				w.sources.Shortages.Note(offering.Shortage{InstanceType: "m5.large", Zone: zones[0], CapacityType: "spot"})
			},
			func(t *testing.T, c *catalog.Catalog) bool {
				return !large(t, c, zones[0], "spot").Available && large(t, c, zones[0], "on-demand").Available && large(t, c, zones[1], "spot").Available
			},
		},
		"a subnet without addresses": {
			func(w fixture, _ *awsv1.EC2NodeClass) { w.sources.Shortages.NoteSubnet("subnet-" + zones[2]) },
			func(t *testing.T, c *catalog.Catalog) bool {
				return !large(t, c, zones[2], "on-demand").Available && large(t, c, zones[1], "on-demand").Available
			},
		},
		"spot prices": {
			func(w fixture, _ *awsv1.EC2NodeClass) {
				_ = w.sources.Prices.UpdateSpot(context.Background(), region{}, start)
			},
			func(t *testing.T, c *catalog.Catalog) bool { return large(t, c, zones[0], "spot").Price == 30_000 },
		},
		"memory that was seen": {
			func(w fixture, class *awsv1.EC2NodeClass) {
				w.sources.Memory.Seen(offering.ImagesOf(class.Status.AMIs), "m5.large", 7<<30)
			},
			func(t *testing.T, c *catalog.Catalog) bool {
				m5, _ := find(t, c, "m5.large", zones[0], "on-demand")
				return m5.Capacity.Memory == 7<<30
			},
		},
		"a zone less": {
			func(_ fixture, class *awsv1.EC2NodeClass) { class.Status.Subnets = class.Status.Subnets[:3] },
			func(t *testing.T, c *catalog.Catalog) bool { return !large(t, c, zones[3], "on-demand").Available },
		},
		"a reservation": {
			func(w fixture, class *awsv1.EC2NodeClass) {
				class.Status.CapacityReservations = []awsv1.CapacityReservation{{ID: "cr-1", InstanceType: "m5.large", AvailabilityZone: zones[0], ReservationType: "default"}}
				w.sources.Counts.Synced("cr-1", 2)
			},
			func(t *testing.T, c *catalog.Catalog) bool {
				r := large(t, c, zones[0], "reserved")
				return r.Available && r.ReservationCapacity == 2
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, class := newFixture(t), class()
			before, err := w.Offer(class)
			if err != nil {
				t.Fatal(err)
			}
			class.Status.Subnets[0], class.Status.Subnets[1] = class.Status.Subnets[1], class.Status.Subnets[0]
			if same, _ := w.Offer(class); same.Catalog != before.Catalog {
				t.Error("another catalogue although only the order of subnets has changed")
			}
			class.Status.Subnets[0], class.Status.Subnets[1] = class.Status.Subnets[1], class.Status.Subnets[0]
			tc.change(w, class)
			after, err := w.Offer(class)
			if err != nil {
				t.Fatal(err)
			}
			if after.Catalog == before.Catalog || !tc.check(t, after.Catalog) {
				t.Error("the change does not show")
			}
		})
	}
}

// A shortage ends by itself, and the catalogue shows that as well.
func TestShortagesEnd(t *testing.T) {
	t.Parallel()
	w, class := newFixture(t), class()
	w.sources.Shortages.NoteCapacityType("spot")
	short, err := w.Offer(class)
	if err != nil {
		t.Fatal(err)
	}
	if _, o := find(t, short.Catalog, "m5.large", zones[0], "spot"); o.Available {
		t.Error("spot can be had")
	}
	w.clock.SetTime(start.Add(3 * time.Minute))
	over, err := w.Offer(class)
	if err != nil {
		t.Fatal(err)
	}
	if _, o := find(t, over.Catalog, "m5.large", zones[0], "spot"); !o.Available {
		t.Error("spot cannot be had although the shortage is over")
	}
}

// A class without subnets in its status can buy nothing, and that is an error.
func TestNoSubnets(t *testing.T) {
	t.Parallel()
	w, class := newFixture(t), class()
	class.Status.Subnets = nil
	if _, err := w.Offer(class); err == nil {
		t.Error("no error")
	}
}

// BenchmarkOffer makes the catalogue of a class for all types in four zones. The bound is
// 50 ms and 20 MiB that stay.
func BenchmarkOffer(b *testing.B) {
	w, class := newFixture(b), class()
	b.ReportAllocs()
	var last offering.Offer
	for b.Loop() {
		class.Generation++ // something has changed
		var err error
		if last, err = w.Offer(class); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(last.Catalog.Types)), "types")
	runtime.KeepAlive(last)
}

// BenchmarkOfferUnchanged is what a look costs when nothing has changed.
func BenchmarkOfferUnchanged(b *testing.B) {
	w, class := newFixture(b), class()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Offer(class); err != nil {
			b.Fatal(err)
		}
	}
}
