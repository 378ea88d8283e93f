package v1_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	v1 "tenon/api/karpenter/v1"
	"tenon/api/label"
)

// cloud is a cloud that is not EC2, so that the texts stay short.
func cloud() label.Rules {
	return label.Join(v1.Labels(), label.Data{
		WellKnown: []string{"cloud.example/size"}, RestrictedDomains: []string{"cloud.example"},
	})
}

const restricted = "using label %s is not allowed as it might interfere with the internal provisioning logic; " +
	"specify a well known label: [cloud.example/size karpenter.sh/capacity-type karpenter.sh/nodepool kubernetes.io/arch " +
	"kubernetes.io/os node.kubernetes.io/instance-type node.kubernetes.io/windows-build topology.kubernetes.io/region " +
	"topology.kubernetes.io/zone], or a custom label that does not use a restricted domain: [cloud.example karpenter.sh]"

func restrictedText(key string) string { return strings.ReplaceAll(restricted, "%s", key) }

const (
	qualifiedText = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
		"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
		"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	valueText = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start " +
		"and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
		"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

func withLabels(labels ...string) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		p.Spec.Template.Labels = map[string]string{}
		for i := 0; i < len(labels); i += 2 {
			p.Spec.Template.Labels[labels[i]] = labels[i+1]
		}
	}
}

func withTaints(taints, startup []corev1.Taint) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		p.Spec.Template.Spec.Taints, p.Spec.Template.Spec.StartupTaints = taints, startup
	}
}

func requirement(key string, operator corev1.NodeSelectorOperator, values ...string) v1.Requirement {
	return v1.Requirement{Key: key, Operator: operator, Values: values}
}

func minimum(r v1.Requirement, n int) v1.Requirement {
	r.MinValues = &n
	return r
}

func withRequirements(list ...v1.Requirement) func(*v1.NodePool) {
	return func(p *v1.NodePool) { p.Spec.Template.Spec.Requirements = list }
}

func wrapped(text string) string { return "invalid value: " + text + " in requirements, restricted" }

func TestValidate(t *testing.T) {
	t.Parallel()
	taint := func(key, value string, effect corev1.TaintEffect) []corev1.Taint {
		return []corev1.Taint{{Key: key, Value: value, Effect: effect}}
	}
	cases := map[string]struct {
		pool func(*v1.NodePool)
		want []string
	}{
		"nothing wrong": {pool: func(*v1.NodePool) {}},
		"labels that are allowed": {pool: withLabels(
			"team", "a", "empty", "", "karpenter.sh/capacity-type", "spot", "cloud.example/size", "1",
			"kops.k8s.io/group", "a", "mykarpenter.sh/x", "a", "kubernetes.io/custom", "a",
		)},
		"the pool's label": {
			pool: withLabels("karpenter.sh/nodepool", "a"),
			want: []string{`invalid key name "karpenter.sh/nodepool" in labels, restricted`},
		},
		"a label that is no name": {
			pool: withLabels("team!", "a"),
			want: []string{`invalid key name "team!" in labels, "` + qualifiedText + `"`},
		},
		"a label's value": {
			pool: withLabels("team", "-"),
			want: []string{"invalid value: - for label[team], " + valueText},
		},
		"labels in restricted domains": {
			pool: withLabels("karpenter.sh/x", "a", "sub.cloud.example/x", "a", "kubernetes.io/hostname", "a"),
			want: []string{
				`invalid key name "karpenter.sh/x" in labels, ` + restrictedText("karpenter.sh/x"),
				`invalid key name "kubernetes.io/hostname" in labels, ` + restrictedText("kubernetes.io/hostname"),
				`invalid key name "sub.cloud.example/x" in labels, ` + restrictedText("sub.cloud.example/x"),
			},
		},
		"taints that are allowed": {pool: withTaints(
			[]corev1.Taint{{Key: "a", Effect: "NoSchedule"}, {Key: "a", Effect: "NoExecute"}, {Key: "b", Value: "c"}},
			taint("a", "", "PreferNoSchedule"),
		)},
		"a taint without a key": {
			pool: withTaints(taint("", "", "NoSchedule"), nil),
			want: []string{"invalid value: a taint needs a key in taints"},
		},
		"a taint's key": {
			pool: withTaints(nil, taint("a b", "", "NoSchedule")),
			want: []string{"invalid value: " + qualifiedText + " in startupTaints"},
		},
		"a taint's value": {
			pool: withTaints(taint("a", "b c", "NoSchedule"), nil),
			want: []string{"invalid value: " + qualifiedText + " in taints"},
		},
		"a taint's effect": {
			pool: withTaints(taint("a", "", "Never"), nil),
			want: []string{"invalid value: unknown effect Never in taints"},
		},
		"a taint twice in a list": {
			pool: withTaints([]corev1.Taint{{Key: "a", Value: "1", Effect: "NoSchedule"}, {Key: "a", Value: "2", Effect: "NoSchedule"}}, nil),
			want: []string{"duplicate taint Key/Effect pair a=NoSchedule"},
		},
		"a taint in both lists": {
			pool: withTaints(taint("a", "", "NoSchedule"), taint("a", "", "NoSchedule")),
			want: []string{"duplicate taint Key/Effect pair a=NoSchedule"},
		},
		"requirements that are allowed": {pool: withRequirements(
			requirement("team", "In", "a"),
			requirement("team", "NotIn", "a"),
			requirement("team", "Exists"),
			requirement("team", "DoesNotExist"),
			requirement("size", "Gt", "0"),
			requirement("size", "Lte", "9"),
			requirement("beta.kubernetes.io/arch", "In", "amd64"),
			requirement("karpenter.sh/capacity-type", "In", "spot", "cheap"),
			requirement("karpenter.sh/capacity-type", "NotIn", "cheap"),
			minimum(requirement("cloud.example/size", "Exists"), 5),
		)},
		"the pool as requirement": {
			pool: withRequirements(requirement("karpenter.sh/nodepool", "In", "a")),
			want: []string{`invalid key: "karpenter.sh/nodepool" in requirements, restricted`},
		},
		"an unknown operator": {
			pool: withRequirements(requirement("team", "Like", "a")),
			want: []string{wrapped("key team has an unsupported operator Like not in [DoesNotExist Exists Gt Gte In Lt Lte NotIn]")},
		},
		"a restricted requirement": {
			pool: withRequirements(requirement("cloud.example/color", "Exists")),
			want: []string{wrapped(restrictedText("cloud.example/color"))},
		},
		"a requirement that is no name": {
			pool: withRequirements(requirement("team!", "Exists")),
			want: []string{wrapped("key team! is not a qualified name, " + qualifiedText)},
		},
		"a requirement's value": {
			pool: withRequirements(requirement("team", "NotIn", "-")),
			want: []string{wrapped("invalid value - for key team, " + valueText)},
		},
		"In without a value": {
			pool: withRequirements(requirement("team", "In")),
			want: []string{wrapped("key team with operator In must have a value defined")},
		},
		"In with too few values": {
			pool: withRequirements(minimum(requirement("team", "In", "a"), 2)),
			want: []string{wrapped("key team with operator In must have at least minimum number of values defined in 'values' field")},
		},
		"numbers": {
			pool: withRequirements(
				requirement("size", "Gt", "1", "2"), requirement("size", "Lt", "-1"),
				requirement("size", "Gte"), requirement("size", "Lte", "many"),
			),
			want: []string{
				wrapped("key size with operator Gt must have a single positive integer value"),
				wrapped("invalid value -1 for key size, " + valueText),
				wrapped("key size with operator Lt must have a single positive integer value"),
				wrapped("key size with operator Gte must have a single positive integer value"),
				wrapped("key size with operator Lte must have a single positive integer value"),
			},
		},
		"no capacity type that there is": {
			pool: withRequirements(requirement("karpenter.sh/capacity-type", "In", "cheap", "free")),
			want: []string{wrapped("no valid values found in [cheap free] for karpenter.sh/capacity-type, " +
				"expected one of: [on-demand reserved spot], got: [cheap free]")},
		},
		"too few capacity types that there are": {
			pool: withRequirements(minimum(requirement("karpenter.sh/capacity-type", "In", "spot", "cheap"), 2)),
			want: []string{wrapped("not enough valid values found in [spot cheap] for karpenter.sh/capacity-type, " +
				"expected at least 2 valid values from: [on-demand reserved spot], got: [spot]")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := samplePool()
			tc.pool(pool)
			err := pool.Validate(cloud())
			var got []string
			var problems v1.Problems
			if errors.As(err, &problems) {
				for _, problem := range problems {
					got = append(got, problem.Error())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if err != nil && err.Error() != strings.Join(tc.want, "; ") {
				t.Errorf("joined: %s", err)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	pool := samplePool()
	withRequirements(
		requirement("karpenter.sh/capacity-type", "In", "spot", "cheap"),
		requirement("team", "In", "a"),
	)(pool)
	want := []string{"please correct found invalid values, proceeding with valid values (key=karpenter.sh/capacity-type, " +
		"valid-values=[spot], invalid-values=[cheap], expected-values=[on-demand reserved spot])"}
	if diff := cmp.Diff(want, pool.Warnings(cloud())); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := samplePool().Warnings(cloud()); got != nil {
		t.Errorf("got %v for a pool in order", got)
	}
}

// TestValidateRequirement checks what a pod may ask for with EC2's labels.
func TestValidateRequirement(t *testing.T) {
	t.Parallel()
	rules := label.Join(v1.Labels(), awsv1.Labels())
	for _, tc := range []struct {
		requirement v1.Requirement
		accepted    bool
	}{
		{requirement("karpenter.sh/nodepool", "In", "default"), true}, // restricted for pools only
		{requirement("karpenter.k8s.aws/instance-cpu", "Gt", "3"), true},
		{requirement("karpenter.k8s.aws/ec2nodeclass", "In", "default"), false},
		{requirement("topology.ebs.csi.aws.com/zone", "In", "us-west-2a"), true},
		{requirement("karpenter.k8s.aws/instance-tenancy", "In", "dedicated"), true},
		{requirement("karpenter.k8s.aws/instance-tenancy", "In", "host"), false},
		{requirement("kubernetes.io/hostname", "In", "a"), false},
	} {
		if err := v1.ValidateRequirement(tc.requirement, rules); (err == nil) != tc.accepted {
			t.Errorf("%v: got %v, want accepted: %v", tc.requirement, err, tc.accepted)
		}
	}
}
