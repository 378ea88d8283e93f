package v1_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/label"
)

func TestParseAlias(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]v1.Alias{
		"al2@v20240625":        {Family: "AL2", Version: "v20240625"},
		"al2023@latest":        {Family: "AL2023", Version: "latest"},
		"bottlerocket@v1.10.0": {Family: "Bottlerocket", Version: "v1.10.0"},
		"windows2019@latest":   {Family: "Windows2019", Version: "latest"},
		"windows2022@latest":   {Family: "Windows2022", Version: "latest"},
		"windows2025@latest":   {Family: "Windows2025", Version: "latest"},
	} {
		if got, err := v1.ParseAlias(text); err != nil || got != want {
			t.Errorf("%s is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "al2023", "al2023@", "@latest", "AL2@latest", "custom@latest", "al2@a@b"} {
		if got, err := v1.ParseAlias(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

// FuzzParseAlias checks that an alias that can be parsed has the parts that were written.
func FuzzParseAlias(f *testing.F) {
	f.Add("al2023@latest")
	f.Add("bottlerocket@v1.10.0")
	f.Add("@@")
	f.Fuzz(func(t *testing.T, text string) {
		alias, err := v1.ParseAlias(text)
		if err == nil && strings.ToLower(alias.Family)+"@"+alias.Version != text {
			t.Errorf("%q is %v", text, alias)
		}
	})
}

func TestFamily(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		family *string
		terms  []v1.AMISelectorTerm
		want   string
	}{
		"by name":         {pointer("AL2"), []v1.AMISelectorTerm{{ID: "ami-1"}}, "AL2"},
		"name over alias": {pointer("Custom"), []v1.AMISelectorTerm{{Alias: "al2@latest"}}, "Custom"},
		"by alias":        {nil, []v1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}, "Bottlerocket"},
		"neither":         {nil, []v1.AMISelectorTerm{{ID: "ami-1"}}, "Custom"},
	}
	for name, tc := range cases {
		spec := v1.EC2NodeClassSpec{AMIFamily: tc.family, AMISelectorTerms: tc.terms}
		if got, err := spec.Family(); err != nil || got != tc.want {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, tc.want)
		}
	}
}

func TestValidateTags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		keys []string
		want string
	}{
		"no tags":          {nil, ""},
		"tags of the user": {[]string{"Name", "team", "kubernetes.io/other", "karpenter.sh/other"}, ""},
		"a prefix with nothing after it is no cluster": {[]string{"kubernetes.io/cluster/"}, ""},
		"a cluster": {[]string{"kubernetes.io/cluster/demo"}, `tags failed validation requirements (tags=["kubernetes.io/cluster/demo"])`},
		"all of them, sorted": {
			[]string{"karpenter.sh/nodepool", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass", "eks:eks-cluster-name", "team"},
			`tags failed validation requirements (tags=["eks:eks-cluster-name" "karpenter.k8s.aws/ec2nodeclass" "karpenter.sh/nodeclaim" "karpenter.sh/nodepool"])`,
		},
	}
	for name, tc := range cases {
		spec := v1.EC2NodeClassSpec{Tags: map[string]string{}}
		for _, key := range tc.keys {
			spec.Tags[key] = "a"
		}
		got := ""
		if err := spec.ValidateTags(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	rules := label.Join(karpenterv1.Labels(), v1.Labels())
	if got, want := len(rules.WellKnown()), 8+28; got != want {
		t.Errorf("got %d well-known labels, want %d", got, want)
	}
	if got := rules.Normalize("topology.ebs.csi.aws.com/zone"); got != "topology.kubernetes.io/zone" {
		t.Errorf("the EBS driver's zone is %s", got)
	}
	for key, want := range map[string]bool{
		"karpenter.k8s.aws/instance-family": false,
		"topology.k8s.aws/zone-id":          false,
		"karpenter.k8s.aws/ec2nodeclass":    true,
		"karpenter.k8s.aws/other":           true,
		"karpenter.sh/other":                true,
	} {
		if got := rules.IsRestricted(key); got != want {
			t.Errorf("%s is restricted: %v, want %v", key, got, want)
		}
	}
	if got := karpenterv1.NodeClassLabel(v1.Group, v1.KindEC2NodeClass); got != v1.LabelNodeClass {
		t.Errorf("the class's label is %s by rule and %s by name", got, v1.LabelNodeClass)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	for _, reserved := range []bool{false, true} {
		class := &v1.EC2NodeClass{}
		conditions := class.Conditions(reserved, now)
		for _, name := range []string{
			v1.ConditionAMIsReady, v1.ConditionSubnetsReady, v1.ConditionSecurityGroupsReady,
			v1.ConditionInstanceProfileReady, v1.ConditionValidationSucceeded, v1.ConditionPlacementGroupReady,
		} {
			if conditions.IsReady() {
				t.Errorf("ready before %s", name)
			}
			conditions.SetTrue(name)
		}
		if conditions.IsReady() == reserved {
			t.Errorf("with reservations %v, ready without them: %v", reserved, conditions.IsReady())
		}
		conditions.SetTrue(v1.ConditionCapacityReservationsReady)
		if !conditions.IsReady() {
			t.Error("not ready with everything found")
		}
	}
}

func TestStatusDefaults(t *testing.T) {
	t.Parallel()
	class := &v1.EC2NodeClass{}
	class.Status.CapacityReservations = []v1.CapacityReservation{{}, {ReservationType: "capacity-block", State: "expiring"}}
	class.SetDefaults()
	first, second := class.Status.CapacityReservations[0], class.Status.CapacityReservations[1]
	if first.ReservationType != "default" || first.State != "active" || second.ReservationType != "capacity-block" || second.State != "expiring" {
		t.Errorf("got %v and %v", first, second)
	}
}

func TestAddToScheme(t *testing.T) {
	t.Parallel()
	s := runtime.NewScheme()
	if err := v1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"EC2NodeClass", "EC2NodeClassList"} {
		if !s.Recognizes(v1.GroupVersion.WithKind(kind)) {
			t.Errorf("%s is unknown", kind)
		}
	}
}
