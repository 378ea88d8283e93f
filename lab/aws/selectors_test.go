package aws_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	kubetypes "k8s.io/apimachinery/pkg/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/inventory"
	"tenon/cloud/aws/offering"
)

// Terms are ORed and their fields ANDed; an ID overrides tags, and so does a name.
func TestScoutFindsWhatSelectorsSay(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	ctx := t.Context()
	subnets := got(s.FindSubnets(ctx, nodeClass("al2023@latest")))(t)
	groups := got(s.FindSecurityGroups(ctx, nodeClass("al2023@latest")))(t)
	if len(subnets) < 4 || subnets[0].ZoneID == "" || len(groups) == 0 {
		t.Fatalf("subnets %v, groups %v", subnets, groups)
	}
	cases := map[string]struct {
		subnets []awsv1.SubnetSelectorTerm
		groups  []awsv1.SecurityGroupSelectorTerm
		found   [2]int
	}{
		"two subnets and a group by id": {
			[]awsv1.SubnetSelectorTerm{{ID: subnets[0].ID}, {ID: subnets[1].ID}, {ID: subnets[0].ID}},
			[]awsv1.SecurityGroupSelectorTerm{{ID: groups[0].ID}}, [2]int{2, 1},
		},
		"an id hides tags that do not match": {
			[]awsv1.SubnetSelectorTerm{{ID: subnets[0].ID, Tags: map[string]string{"no": "such"}}},
			[]awsv1.SecurityGroupSelectorTerm{{Name: groups[0].Name, Tags: map[string]string{"no": "such"}}}, [2]int{1, 1},
		},
		"terms together": {
			[]awsv1.SubnetSelectorTerm{{ID: subnets[0].ID}, {Tags: map[string]string{"karpenter.sh/discovery": "lab"}}},
			[]awsv1.SecurityGroupSelectorTerm{{Name: groups[0].Name}, {ID: groups[0].ID}}, [2]int{len(subnets), 1},
		},
		"nothing": {
			[]awsv1.SubnetSelectorTerm{{Tags: map[string]string{"no": "such"}}},
			[]awsv1.SecurityGroupSelectorTerm{{Name: "none"}}, [2]int{0, 0},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			class := nodeClass("al2023@latest")
			class.UID, class.Spec.SubnetSelectorTerms, class.Spec.SecurityGroupSelectorTerms = kubetypes.UID(name), tc.subnets, tc.groups
			if n := [2]int{len(got(s.FindSubnets(ctx, class))(t)), len(got(s.FindSecurityGroups(ctx, class))(t))}; n != tc.found {
				t.Errorf("found %v, want %v", n, tc.found)
			}
		})
	}
}

// Every kind of term finds images; at most one for each architecture.
func TestScoutFindsImagesByTerms(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	golden := got(s.Clients.EC2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Filters: []types.Filter{filter("name", "golden")}}))(t).Images
	if len(golden) != 1 {
		t.Fatalf("%d golden images", len(golden))
	}
	id := sdk.ToString(golden[0].ImageId)
	cases := map[string]struct {
		terms []awsv1.AMISelectorTerm
		want  []string
		fails bool
	}{
		"by id":                              {[]awsv1.AMISelectorTerm{{ID: id}}, []string{"golden"}, false},
		"by name":                            {[]awsv1.AMISelectorTerm{{Name: "golden"}}, []string{"golden"}, false},
		"by name with a wildcard":            {[]awsv1.AMISelectorTerm{{Name: "gold*", Owner: "self"}}, []string{"golden"}, false},
		"by tags":                            {[]awsv1.AMISelectorTerm{{Tags: map[string]string{"team": "*"}}}, []string{"golden"}, false},
		"by parameter":                       {[]awsv1.AMISelectorTerm{{SSMParameter: "/golden/image"}}, []string{"golden"}, false},
		"by a parameter that does not exist": {[]awsv1.AMISelectorTerm{{SSMParameter: "/no/such"}}, nil, false},
		"the name of another's images":       {[]awsv1.AMISelectorTerm{{Name: "golden", Owner: "amazon"}}, nil, false},
		"an alias of a version that is not there": {[]awsv1.AMISelectorTerm{{Alias: "al2023@v19990101"}}, nil, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			class := nodeClass("al2023@latest")
			class.UID, class.Spec.AMISelectorTerms = kubetypes.UID(name), tc.terms
			found, _, err := s.FindImages(t.Context(), class)
			var names []string
			for _, i := range found {
				names = append(names, i.Name)
			}
			if !slices.Equal(names, tc.want) || (err != nil) != tc.fails {
				t.Errorf("found %v, %v; want %v", names, err, tc.want)
			}
			if tc.fails && !strings.Contains(err.Error(), "failed to discover any AMIs for alias") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A deprecated image leads to the next release within half an hour, not within a day.
func TestScoutFollowsReleases(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	first := got2(s.FindImages(t.Context(), nodeClass("al2023@latest")))(t)
	e.cause(`{"kind": "image-release", "families": ["AL2023"]}`)
	e.cause(`{"kind": "image-deprecated", "images": ["` + first[0].ID + `"]}`)
	e.pass(2 * time.Minute)
	same := got2(s.FindImages(t.Context(), nodeClass("al2023@latest")))(t)
	if same[0].ID != first[0].ID && !slices.ContainsFunc(same, func(i awsv1.AMI) bool { return i.ID == first[0].ID }) {
		t.Log("the parameter was asked again at once")
	}
	if err := s.RecheckImages(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.pass(2 * time.Minute)
	for _, i := range got2(s.FindImages(t.Context(), nodeClass("al2023@latest")))(t) {
		if i.ID == first[0].ID {
			t.Errorf("still %s after the recheck", i.ID)
		}
	}
}

// A missing permission shows as a verdict; what passes is tried again; every other failure is an error.
func TestScoutTrials(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault  string
		change func(*awsv1.EC2NodeClass)
		reason string
		again  bool
		failed bool
	}{
		"nothing wrong":              {},
		"no right to templates":      {fault: `{"kind": "unauthorized", "service": "ec2", "operations": ["CreateLaunchTemplate"]}`, reason: "CreateLaunchTemplateAuthCheckFailed"},
		"no right to fleets":         {fault: `{"kind": "unauthorized", "service": "ec2", "operations": ["CreateFleet"]}`, reason: "CreateFleetAuthCheckFailed"},
		"no right to instances":      {fault: `{"kind": "unauthorized", "service": "ec2", "operations": ["RunInstances"]}`, reason: "RunInstancesAuthCheckFailed"},
		"too many calls":             {fault: `{"kind": "api-error", "service": "ec2", "operations": ["CreateFleet"], "code": "RequestLimitExceeded", "message": "later", "status": 503}`, again: true},
		"an error that is not known": {fault: `{"kind": "api-error", "service": "ec2", "operations": ["RunInstances"], "code": "InvalidSomething", "message": "what", "status": 400}`, failed: true},
		"user data beyond the limit": {
			change: func(c *awsv1.EC2NodeClass) {
				c.Spec.UserData = sdk.String("#!/bin/sh\n# " + strings.Repeat("x", 17000))
			},
			reason: "UserDataSizeLimitExceeded",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEmulator(t, withCluster("1.36"))
			s := inventoryOf(t, e)
			got(s.UpdateTypes(t.Context()))(t)
			class := nodeClass("al2023@latest")
			if tc.change != nil {
				tc.change(class)
			}
			survey(t, s, class)
			if tc.fault != "" {
				e.cause(tc.fault)
			}
			verdict, err := s.Try(t.Context(), class, nil)
			if errors.Is(err, inventory.ErrAgain) != tc.again || (err != nil) != (tc.again || tc.failed) {
				t.Errorf("error %v", err)
			}
			if verdict.Reason != tc.reason || verdict.Passed != (tc.reason == "" && err == nil) {
				t.Errorf("verdict %+v, want %q", verdict, tc.reason)
			}
		})
	}
}

// EC2, RunInstances: "Value (NAME) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance
// Profile name". One call shows it, not one for each subnet, and the next dry run asks again.
func TestScoutTrialWithoutProfile(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	got(s.UpdateTypes(t.Context()))(t)
	class := nodeClass("al2023@latest")
	class.Spec.Role, class.Spec.InstanceProfile = "", sdk.String("mine")
	survey(t, s, class)
	class.Status.InstanceProfile = "mine"
	for n := range 2 {
		if _, err := s.Try(t.Context(), class, nil); !errors.Is(err, inventory.ErrNoProfile) || errors.Is(err, inventory.ErrAgain) {
			t.Errorf("error %v", err)
		}
		if calls := e.Calls().Count("ec2:RunInstances"); calls != n+1 {
			t.Errorf("%d calls after %d dry runs", calls, n+1)
		}
	}
	if _, err := iam.NewFromConfig(e.config(account, region)).CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: sdk.String("mine")}); err != nil {
		t.Fatal(err)
	}
	e.pass(time.Minute)
	if verdict, err := s.Try(t.Context(), class, nil); err != nil || !verdict.Passed {
		t.Errorf("with the profile: %+v, %v", verdict, err)
	}
}

// A role gets its own profile; another role gets another one, and the old one goes only when nothing uses
// it.
func TestScoutKeepsProfiles(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	ctx := t.Context()
	class := nodeClass("al2023@latest")
	first := got(s.EnsureProfile(ctx, class))(t)
	if again := got(inventoryOf(t, e).EnsureProfile(ctx, class))(t); again != first {
		t.Errorf("after a crash the profile is %s, want %s again", again, first)
	}
	class.Status.InstanceProfile = first
	if again := got(s.EnsureProfile(ctx, class))(t); again != first {
		t.Errorf("the profile is %s, want %s", again, first)
	}
	class.Spec.Role = "some/path/StrangerRole-lab"
	second := got(s.EnsureProfile(ctx, class))(t)
	class.Status.InstanceProfile = second
	if second == first {
		t.Error("two roles have one profile")
	}
	if again := got(inventoryOf(t, e).EnsureProfile(ctx, class))(t); again != second {
		t.Errorf("a role with a path gets profile after profile: %s, %s", second, again)
	}
	inUse := map[string]bool{second: true}
	if removed := got(s.Profiles.Clean(ctx, inUse))(t); len(removed) != 0 {
		t.Errorf("removed %v, which was in use a moment ago", removed)
	}
	e.pass(2 * time.Hour)
	if removed := got(s.Profiles.Clean(ctx, inUse))(t); !slices.Equal(removed, []string{first}) {
		t.Errorf("removed %v, want %s", removed, first)
	}
	class.Spec.Role = "NoSuchRole"
	if name, err := s.EnsureProfile(ctx, class); err == nil {
		t.Errorf("profile %s of a role that is not there", name)
	}
	made := e.Calls().Count("CreateInstanceProfile")
	if _, err := s.EnsureProfile(ctx, class); err == nil || e.Calls().Count("CreateInstanceProfile") != made {
		t.Errorf("%v; another profile for a role that is known not to be there", err)
	}
	if err := s.Profiles.RemoveAll(ctx, class); err != nil {
		t.Fatal(err)
	}
}

// Private networks continue with the prices that come with the program.
func TestScoutWithoutPrices(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	e.cause(`{"kind": "unauthorized", "service": "pricing"}`)
	s := inventoryOf(t, e)
	builtIn, _ := s.Prices.Prices().OnDemand("m5.large")
	if err := s.UpdatePrices(t.Context()); err == nil {
		t.Error("no error")
	}
	if now, known := s.Prices.Prices().OnDemand("m5.large"); !known || now != builtIn {
		t.Errorf("price %d, want %d", now, builtIn)
	}
	if spot, known := s.Prices.Prices().Spot("m5.large", region+"a"); !known || spot >= builtIn {
		t.Errorf("spot price %d, although EC2 tells it", spot)
	}
	isolated := inventoryOf(t, e, func(o *inventory.Options) { o.IsolatedVPC = true })
	if err := isolated.UpdatePrices(t.Context()); err != nil {
		t.Error(err)
	}
}

// Classes select reservations and placement groups.
func TestScoutFindsReservationsAndGroups(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	ctx := t.Context()
	made := got(e.ec2().CreateCapacityReservation(ctx, &ec2.CreateCapacityReservationInput{
		InstanceType: sdk.String("m5.large"), InstancePlatform: "Linux/UNIX", AvailabilityZone: sdk.String(region + "a"), InstanceCount: sdk.Int32(3),
		InstanceMatchCriteria: types.InstanceMatchCriteriaTargeted,
		TagSpecifications:     []types.TagSpecification{{ResourceType: types.ResourceTypeCapacityReservation, Tags: []types.Tag{{Key: sdk.String("team"), Value: sdk.String("a")}}}},
	}))(t)
	id := sdk.ToString(made.CapacityReservation.CapacityReservationId)
	class := nodeClass("al2023@latest")
	for name, terms := range map[string][]awsv1.CapacityReservationSelectorTerm{
		"by id":               {{ID: id}, {ID: "cr-0123456789abcdef0"}},
		"by tag":              {{Tags: map[string]string{"team": "*"}}},
		"by criteria":         {{InstanceMatchCriteria: "targeted"}},
		"by id and something": {{ID: id, InstanceMatchCriteria: "targeted"}},
	} {
		class.Spec.CapacityReservationSelectorTerms = terms
		found, again, err := s.FindReservations(ctx, class)
		if err != nil || len(found) != 1 || found[0].ID != id || found[0].InstanceType != "m5.large" || again != time.Minute {
			t.Errorf("%s: %+v, again after %s, %v", name, found, again, err)
		}
	}
	if n := s.Counts.Available(id); n != 3 {
		t.Errorf("%d available", n)
	}
	got(e.ec2().CreatePlacementGroup(ctx, &ec2.CreatePlacementGroupInput{GroupName: sdk.String("parts"), Strategy: types.PlacementStrategyPartition, PartitionCount: sdk.Int32(3)}))(t)
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: "parts"}
	if found := got(s.FindPlacement(ctx, class))(t); !found {
		t.Error("the group is not found")
	}
	if g := s.Network.LastPlacement(class); g == nil || g.Partitions != 3 || g.Strategy != "partition" {
		t.Errorf("group %+v", g)
	}
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: "none"}
	if found := got(s.FindPlacement(ctx, class))(t); found {
		t.Error("a group that was not made is found")
	}
}

// Memory counts only if the node has booted the image that its type boots now.
func TestScoutWitnesses(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	got(s.UpdateTypes(t.Context()))(t)
	class := survey(t, s, nodeClass("al2023@latest"))
	if news := got(s.LearnMemory(class, "m5.large", "ami-other", 7<<30))(t); news {
		t.Error("the memory of a node with another image counts")
	}
	current := ""
	for _, i := range class.Status.AMIs {
		if news := got(s.LearnMemory(class, "m5.large", i.ID, 7<<30))(t); news {
			current = i.ID
		}
	}
	if current == "" {
		t.Fatal("no image of the class is the one of m5.large")
	}
	if bytes := s.Memory.View(offering.ImagesOf(class.Status.AMIs)).Bytes["m5.large"]; bytes != 7<<30 {
		t.Errorf("memory %d", bytes)
	}
}

// Expired credentials are an error that ends on its own.
func TestScoutRecovers(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	e.cause(`{"id": "x", "kind": "expired-credentials"}`)
	class := nodeClass("al2023@latest")
	if _, err := s.FindSubnets(t.Context(), class); api.Code(err) == "" {
		t.Errorf("error %v", err)
	}
	e.Faults().Clear()
	if found := got(s.FindSubnets(t.Context(), class))(t); len(found) == 0 {
		t.Error("nothing is found after the credentials are good again")
	}
}

// got2 is like got, for a call that also returns a text, which must be empty.
func got2[T any](answer T, text string, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if text != "" {
			t.Fatal(text)
		}
		return must(t, answer, err)
	}
}
