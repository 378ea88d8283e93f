package instancetype_test

import (
	"slices"
	"testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/requirement"
)

func TestVocabularyKnowsTheProvidersWords(t *testing.T) {
	t.Parallel()
	v := instancetype.Vocabulary()
	cases := map[string]struct {
		key        string
		wellKnown  bool
		restricted bool
	}{
		"a core label":                            {requirement.KeyZone, true, false},
		"the family":                              {"karpenter.k8s.aws/instance-family", true, false},
		"the zone's ID":                           {"topology.k8s.aws/zone-id", true, false},
		"the tenancy":                             {"karpenter.k8s.aws/instance-tenancy", true, false},
		"the name of the class":                   {awsv1.LabelNodeClass, false, true},
		"an invented label in the domain":         {"karpenter.k8s.aws/instance-colour", false, true},
		"an invented label in a domain beneath":   {"eu.karpenter.k8s.aws/colour", false, true},
		"a label of another domain at AWS":        {"topology.k8s.aws/network-node-layer-1", false, false},
		"a domain that merely ends in the same":   {"mykarpenter.k8s.aws/colour", false, false},
		"a custom label":                          {"example.com/team", false, false},
		"the core's own domain stays restricted":  {"karpenter.sh/registered", false, true},
		"the hostname cannot be asked for either": {"kubernetes.io/hostname", false, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := v.IsWellKnown(tc.key); got != tc.wellKnown {
				t.Errorf("well-known %t, want %t", got, tc.wellKnown)
			}
			if got := v.IsRestricted(tc.key); got != tc.restricted {
				t.Errorf("restricted %t, want %t", got, tc.restricted)
			}
		})
	}
}

func TestVolumeZoneIsAnotherSpellingOfZone(t *testing.T) {
	t.Parallel()
	if got := instancetype.Vocabulary().Key("topology.ebs.csi.aws.com/zone"); got != "topology.kubernetes.io/zone" {
		t.Errorf("spelled %q", got)
	}
	if got := instancetype.Vocabulary().Key("beta.kubernetes.io/arch"); got != "kubernetes.io/arch" {
		t.Errorf("the core's alias became %q", got)
	}
}

func TestTenancyHasTwoValues(t *testing.T) {
	t.Parallel()
	entry := requirement.Entry{Key: awsv1.LabelInstanceTenancy, Operator: requirement.In, Values: []string{"dedicated", "host"}}
	if got := instancetype.Vocabulary().UnknownValues(entry); !slices.Equal(got, []string{"host"}) {
		t.Errorf("unknown values %q, want host alone", got)
	}
}
