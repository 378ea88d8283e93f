package aws_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/clock"

	"tenon/lab/aws"
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/random"
	"tenon/lab/kubelet"
)

func (e *emulator) reserve(text string) string {
	e.t.Helper()
	status, body := e.post("/lab/reservations", text)
	var answer struct{ ID string }
	if err := json.Unmarshal([]byte(body), &answer); status != http.StatusOK || err != nil {
		e.t.Fatalf("POST /lab/reservations %s: %d %s", text, status, body)
	}
	return answer.ID
}

func (e *emulator) reservation(id string) types.CapacityReservation {
	e.t.Helper()
	out := got(e.ec2().DescribeCapacityReservations(e.t.Context(), &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{id}}))(e.t)
	return out.CapacityReservations[0]
}

// targeted returns a change of a template that launches into a reservation.
func targeted(id, market string) func(*types.RequestLaunchTemplateData) {
	return func(d *types.RequestLaunchTemplateData) {
		d.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: "capacity-reservations-only", CapacityReservationTarget: &types.CapacityReservationTarget{CapacityReservationId: &id}}
		if market != "" {
			d.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: types.MarketType(market)}
		}
	}
}

func TestReservations(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	id := e.reserve(`{"instanceType": "m5.large", "zone": "us-west-2a", "count": 1, "criteria": "targeted", "for": "1h"}`)
	e.template(w, "reserved", targeted(id, ""))
	// A reservation keeps capacity that no other instance can use.
	e.cause(`{"kind": "no-capacity"}`)
	made := got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "reserved", "on-demand", 2, "m5.large a")))(t)
	if len(ids(made)) != 1 || *made.Errors[0].ErrorCode != "ReservationCapacityExceeded" {
		t.Fatalf("made %v, errors %+v", ids(made), made.Errors)
	}
	i := e.instance(ids(made)[0])
	if *i.CapacityReservationId != id || i.CapacityReservationSpecification.CapacityReservationPreference != "capacity-reservations-only" {
		t.Errorf("instance has reservation %v, %+v", i.CapacityReservationId, i.CapacityReservationSpecification)
	}
	if c := e.reservation(id); *c.AvailableInstanceCount != 0 || *c.TotalInstanceCount != 1 || c.State != "active" || c.ReservationType != "default" {
		t.Errorf("reservation = %+v", c)
	}
	e.pass(time.Hour)
	if i := e.instance(*i.InstanceId); i.CapacityReservationId != nil || i.State.Name != "running" {
		t.Errorf("after the end it is %s with reservation %v", i.State.Name, i.CapacityReservationId)
	}
	active := got(e.ec2().DescribeCapacityReservations(t.Context(), &ec2.DescribeCapacityReservationsInput{Filters: []types.Filter{filter("state", "active")}, MaxResults: sdk.Int32(1000)}))(t)
	if len(active.CapacityReservations) != 0 {
		t.Errorf("active = %+v", active.CapacityReservations)
	}
	_, err := e.ec2().DescribeCapacityReservations(t.Context(), &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{"cr-0"}})
	if code(err) != "InvalidCapacityReservationId.NotFound" {
		t.Errorf("one that does not exist: %s", code(err))
	}
}

func TestCapacityBlocksEnd(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	id := e.reserve(`{"instanceType": "m5.large", "zone": "us-west-2a", "count": 1, "criteria": "targeted", "kind": "capacity-block", "for": "2h"}`)
	e.template(w, "block", targeted(id, "capacity-block"))
	e.template(w, "mistaken", targeted(id, ""))
	wrong := got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "mistaken", "on-demand", 1, "m5.large a")))(t)
	if len(ids(wrong)) != 0 || *wrong.Errors[0].ErrorCode != "InvalidParameterCombination" {
		t.Errorf("without the market type: %+v", wrong)
	}
	made := ids(got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "block", "capacity-block", 1, "m5.large a")))(t))
	if i := e.instance(made[0]); i.InstanceLifecycle != "capacity-block" {
		t.Errorf("lifecycle = %s", i.InstanceLifecycle)
	}
	e.pass(90 * time.Minute)
	if i := e.instance(made[0]); i.State.Name != "shutting-down" {
		t.Errorf("half an hour before the block's end it is %s", i.State.Name)
	}
}

// Every instance that fits uses open reservations, unless it declines.
func TestOpenReservations(t *testing.T) {
	t.Parallel()
	for preference, want := range map[string]bool{"": true, "open": true, "none": false} {
		t.Run("preference "+preference, func(t *testing.T) {
			t.Parallel()
			e := newEmulator(t)
			w := e.discover()
			got(e.ec2().CreateCapacityReservation(t.Context(), &ec2.CreateCapacityReservationInput{InstanceType: sdk.String("m5.large"), InstancePlatform: "Linux/UNIX",
				AvailabilityZone: sdk.String("us-west-2a"), InstanceCount: sdk.Int32(1), InstanceMatchCriteria: "open"}))(t)
			e.template(w, "nodes", func(d *types.RequestLaunchTemplateData) {
				if preference != "" {
					d.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{CapacityReservationPreference: types.CapacityReservationPreference(preference)}
				}
			})
			made := ids(got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", "on-demand", 1, "m5.large a")))(t))
			if i := e.instance(made[0]); (i.CapacityReservationId != nil) != want {
				t.Errorf("reservation = %v, want one: %t", i.CapacityReservationId, want)
			}
		})
	}
}

func TestPlacementGroups(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		strategy string
		count    int32
		want     string // how many; partitions; the error's message
	}{
		"partitions fill evenly": {"partition", 4, "4 [1 2 3 1] "},
		"spread has a limit":     {"spread", 8, "7 [0 0 0 0 0 0 0] limit of instances in this spread placement group"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEmulator(t)
			w := e.discover()
			in := &ec2.CreatePlacementGroupInput{GroupName: sdk.String("near"), Strategy: types.PlacementStrategy(tc.strategy)}
			if tc.strategy == "partition" {
				in.PartitionCount = sdk.Int32(3)
			}
			got(e.ec2().CreatePlacementGroup(t.Context(), in))(t)
			group := got(e.ec2().DescribePlacementGroups(t.Context(), &ec2.DescribePlacementGroupsInput{GroupNames: []string{"near"}, Filters: []types.Filter{filter("state", "available")}}))(t).PlacementGroups[0]
			e.template(w, "nodes", func(d *types.RequestLaunchTemplateData) {
				d.Placement = &types.LaunchTemplatePlacementRequest{GroupId: group.GroupId}
			})
			out := got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", "on-demand", tc.count, "m5.large a")))(t)
			var partitions []int32
			for _, id := range ids(out) {
				partitions = append(partitions, sdk.ToInt32(e.instance(id).Placement.PartitionNumber))
			}
			message := ""
			if len(out.Errors) > 0 {
				message = *out.Errors[0].ErrorMessage
			}
			text := fmt.Sprintf("%d %v %s", len(partitions), partitions, message)
			if count, limit, _ := strings.Cut(tc.want, "] "); !strings.HasPrefix(text, count) || !strings.Contains(message, limit) {
				t.Errorf("%s, want %s", text, tc.want)
			}
		})
	}
}

func TestListAsAControllerDoes(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	made := e.runningFleet("spot", 3)
	list := func(cluster string) int {
		p := ec2.NewDescribeInstancesPaginator(e.ec2(), &ec2.DescribeInstancesInput{MaxResults: sdk.Int32(1000), Filters: []types.Filter{
			filter("tag-key", "karpenter.sh/nodepool"), filter("tag-key", "karpenter.k8s.aws/ec2nodeclass"), filter("tag:eks:eks-cluster-name", cluster),
			filter("instance-state-name", "pending", "running", "stopping", "stopped", "shutting-down")}})
		n := 0
		for p.HasMorePages() {
			for _, r := range got(p.NextPage(t.Context()))(t).Reservations {
				n += len(r.Instances)
			}
		}
		return n
	}
	if list("lab") != 3 || list("prod") != 0 {
		t.Errorf("lab has %d instances, prod %d", list("lab"), list("prod"))
	}
	got(e.ec2().CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: made[:1], Tags: tags("Name", "node-1", "eks:eks-cluster-name", "prod")}))(t)
	if list("lab") != 2 || list("prod") != 1 {
		t.Errorf("after tagging lab has %d instances, prod %d", list("lab"), list("prod"))
	}
	_, err := e.ec2().CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{"i-0"}, Tags: tags("a", "b")})
	if code(err) != "InvalidInstanceID.NotFound" {
		t.Errorf("tags on nothing: %s", code(err))
	}
	_, err = e.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: made, MaxResults: sdk.Int32(10)})
	if code(err) != "InvalidParameterCombination" {
		t.Errorf("identifiers with a page size: %s", code(err))
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx := t.Context()
	w := e.discover()
	e.template(w, "karpenter.k8s.aws/42")
	byTag := got(e.ec2().DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{Filters: []types.Filter{filter("tag:eks:eks-cluster-name", "lab")}, MaxResults: sdk.Int32(200)}))(t)
	if len(byTag.LaunchTemplates) != 1 || *byTag.LaunchTemplates[0].LaunchTemplateName != "karpenter.k8s.aws/42" {
		t.Fatalf("by tag: %+v", byTag.LaunchTemplates)
	}
	version := got(e.ec2().DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: sdk.String("karpenter.k8s.aws/42"), Versions: []string{"$Default"}}))(t)
	if d := version.LaunchTemplateVersions[0].LaunchTemplateData; *d.ImageId != w.image || *d.BlockDeviceMappings[0].Ebs.VolumeSize != 50 || d.NetworkInterfaces[0].Groups[0] != w.group {
		t.Errorf("data = %+v", d)
	}
	create := func(data *types.RequestLaunchTemplateData) string {
		_, err := e.ec2().CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: sdk.String("karpenter.k8s.aws/42"), LaunchTemplateData: data})
		return code(err)
	}
	if c := create(&types.RequestLaunchTemplateData{ImageId: &w.image}); c != "InvalidLaunchTemplateName.AlreadyExistsException" {
		t.Errorf("the same name: %s", c)
	}
	if c := create(&types.RequestLaunchTemplateData{UserData: sdk.String(strings.Repeat("AAAA", 5462))}); c != "InvalidUserData.Malformed" {
		t.Errorf("16386 bytes of user data: %s", c)
	}
	id := byTag.LaunchTemplates[0].LaunchTemplateId
	got(e.ec2().DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: id}))(t)
	for want, in := range map[string]*ec2.DeleteLaunchTemplateInput{
		"InvalidLaunchTemplateId.NotFound":            {LaunchTemplateId: id},
		"InvalidLaunchTemplateName.NotFoundException": {LaunchTemplateName: sdk.String("karpenter.k8s.aws/42")},
	} {
		if _, err := e.ec2().DeleteLaunchTemplate(ctx, in); code(err) != want {
			t.Errorf("deleted again: %s, want %s", code(err), want)
		}
	}
	if _, err := e.ec2().CreateFleet(ctx, e.fleet(w, "karpenter.k8s.aws/42", "spot", 1, "m5.large a")); code(err) != "InvalidLaunchTemplateName.NotFoundException" {
		t.Errorf("a fleet without its template: %s", code(err))
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, func(c *configuration) { c.Resources.Quotas = accounts.Quotas{OnDemandVCPUs: 4, SpotInstances: 1} })
	w := e.discover()
	e.template(w, "nodes")
	for capacityType, want := range map[string]string{"on-demand": "2 VcpuLimitExceeded", "spot": "1 MaxSpotInstanceCountExceeded"} {
		out := got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", capacityType, 3, "m5.large a")))(t)
		if text := fmt.Sprintf("%d %s", len(ids(out)), *out.Errors[0].ErrorCode); text != want {
			t.Errorf("%s: %s, want %s", capacityType, text, want)
		}
	}
}

// The same seed and the same requests make the same world.
func TestSameSeedSameWorld(t *testing.T) {
	t.Parallel()
	survey := func(seed random.Seed) string {
		e := newEmulator(t, func(c *configuration) { c.Resources.Seed = seed })
		e.runningFleet("spot", 3)
		return fmt.Sprintf("%+v", e.World().Survey())
	}
	if a, b := survey(1), survey(1); a != b {
		t.Errorf("first %s\nthen %s", a, b)
	}
	if survey(1) == survey(2) {
		t.Error("another seed makes the same world")
	}
}

// announcer tells when the first machine boots.
type announcer struct {
	machines
	once   sync.Once
	booted chan struct{}
}

func (a *announcer) Launch(kubelet.Instance) error {
	a.once.Do(func() { close(a.booted) })
	return nil
}

// Serve runs on a real clock until its context ends, and time passes without requests.
func TestServe(t *testing.T) {
	t.Parallel()
	c := aws.Defaults()
	c.Resources.Clock, c.Resources.Pace = clock.RealClock{}, accounts.RealPace().Times(0.0001)
	booted := make(chan struct{})
	c.Resources.Machines = &announcer{booted: booted}
	l := got(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := got(aws.New(c))(t)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { done <- server.Serve(ctx, l) }()
	e := &emulator{Server: server, t: t, url: "http://" + l.Addr().String()}
	w := e.discover()
	e.template(w, "nodes")
	got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", "on-demand", 1, "m5.large a")))(t)
	<-booted // no request was needed
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

// A controller reads a whole region at its start, and does so quickly.
func BenchmarkDiscovery(b *testing.B) {
	server, err := aws.New(aws.Defaults())
	if err != nil {
		b.Fatal(err)
	}
	h := httptest.NewServer(server.Handler())
	defer h.Close()
	e := &emulator{Server: server, url: h.URL}
	for b.Loop() {
		kinds := ec2.NewDescribeInstanceTypesPaginator(e.ec2(), &ec2.DescribeInstanceTypesInput{MaxResults: sdk.Int32(100)})
		for kinds.HasMorePages() {
			if _, err := kinds.NextPage(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		prices := ec2.NewDescribeSpotPriceHistoryPaginator(e.ec2(), &ec2.DescribeSpotPriceHistoryInput{StartTime: sdk.Time(time.Now())})
		for prices.HasMorePages() {
			if _, err := prices.NextPage(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
