package aws_test

import (
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clock "k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/inventory"
	"tenon/lab/aws"
	"tenon/lab/aws/accounts"
)

// inventoryOf returns the product's view of an emulated account.
func inventoryOf(t *testing.T, e *emulator, change ...func(*inventory.Options)) *inventory.Inventory {
	t.Helper()
	clients, err := api.Connect(t.Context(), api.Options{
		Region: region, Endpoint: e.url, Credentials: credentials.NewStaticCredentialsProvider(account, "secret", ""),
		Limiter: api.NewLimiter(clock.RealClock{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	o := inventory.Options{
		Clients: clients, Clock: e.clock, AMIRefreshInterval: time.Minute, SubnetRefreshInterval: time.Minute,
		ReservedCapacity: true, VMMemoryOverhead: 0.075,
		Cluster: inventory.NewCluster(inventory.ClusterOptions{Name: "lab", EKSVersion: true, EKS: clients.EKS, Clock: e.clock, CABundle: "Y2E="}),
	}
	for _, f := range change {
		f(&o)
	}
	return inventory.New(o)
}

// withCluster configures what the emulated EKS says of the lab's cluster.
func withCluster(version string) func(*aws.Config) {
	return func(c *aws.Config) {
		c.Resources.Cluster = accounts.Cluster{Name: "lab", Endpoint: "https://lab.test", Authority: "Y2E=", Version: version, ServiceRange: "10.96.0.0/12"}
	}
}

// nodeClass returns a class as most people have it.
func nodeClass(alias string) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-1", Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "*"}}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "*"}}},
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: alias}},
			Role:                       "KarpenterNodeRole-lab",
		},
	}
	c.SetDefaults()
	return c
}

// Every alias leads to images for the machines that its family runs on.
func TestScoutFindsImagesOfEveryAlias(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		alias, version string
		want           int
		unsupported    bool
	}{
		"al2":                       {"al2@latest", "1.32", 4, false},
		"al2 where there is none":   {"al2@latest", "1.33", 0, true},
		"al2023":                    {"al2023@latest", "1.36", 5, false},
		"bottlerocket":              {"bottlerocket@latest", "1.36", 5, false},
		"windows2019":               {"windows2019@latest", "1.36", 1, false},
		"windows2022":               {"windows2022@latest", "1.36", 1, false},
		"windows2025":               {"windows2025@latest", "1.36", 1, false},
		"windows2025 on older ones": {"windows2025@latest", "1.34", 0, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inventoryOf(t, newEmulator(t, withCluster(tc.version)))
			found, unsupported, err := s.FindImages(t.Context(), nodeClass(tc.alias))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != tc.want || (unsupported != "") != tc.unsupported {
				t.Errorf("%d images %+v, unsupported %q; want %d", len(found), found, unsupported, tc.want)
			}
		})
	}
}

// The life of a class: everything is found, the trial passes, and everything that was made for it is gone
// afterwards.
func TestScoutLooksAfterAClass(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	ctx := t.Context()
	if err := s.InstanceTypes.Permitted(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.InstanceTypes.Update(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdatePrices(ctx); err != nil {
		t.Fatal(err)
	}
	class := survey(t, s, nodeClass("al2023@latest"))
	verdict, err := s.Try(ctx, class, nil)
	if err != nil || !verdict.Passed {
		t.Fatalf("verdict %+v, %v", verdict, err)
	}
	offer, err := s.Catalogs.Offer(class)
	if err != nil {
		t.Fatal(err)
	}
	buyable := 0
	for _, o := range offer.Catalog.Types {
		for _, way := range o.Offerings {
			if way.Available {
				buyable++
			}
		}
	}
	if len(offer.Catalog.Types) < 1000 || buyable < 5000 {
		t.Errorf("%d types, %d ways to buy", len(offer.Catalog.Types), buyable)
	}
	if again, _ := s.Catalogs.Offer(class); again.Catalog != offer.Catalog {
		t.Error("the catalogue is another one although nothing has changed")
	}
	if err := s.Retire(ctx, class); err != nil {
		t.Fatal(err)
	}
	left, err := s.Clients.EC2.DescribeLaunchTemplates(ctx, nil)
	if err != nil || len(left.LaunchTemplates) != 0 {
		t.Errorf("%d launch templates are left, %v", len(left.LaunchTemplates), err)
	}
	profiles, err := s.Clients.IAM.ListInstanceProfiles(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range profiles.InstanceProfiles {
		if sdkaws.ToString(p.InstanceProfileName) == class.Status.InstanceProfile {
			t.Errorf("profile %s is left", class.Status.InstanceProfile)
		}
	}
}

// survey fills in the status of a class.
func survey(t *testing.T, s *inventory.Inventory, class *awsv1.EC2NodeClass) *awsv1.EC2NodeClass {
	t.Helper()
	ctx := t.Context()
	class.Status.Subnets = got(s.FindSubnets(ctx, class))(t)
	class.Status.SecurityGroups = got(s.FindSecurityGroups(ctx, class))(t)
	images, _, err := s.FindImages(ctx, class)
	class.Status.AMIs = must(t, images, err)
	class.Status.InstanceProfile = got(s.EnsureProfile(ctx, class))(t)
	if len(class.Status.Subnets) == 0 || len(class.Status.SecurityGroups) == 0 || len(class.Status.AMIs) == 0 {
		t.Fatalf("status %+v", class.Status)
	}
	return class
}
