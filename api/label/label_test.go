package label_test

import (
	"testing"

	"tenon/api/label"
)

func rules() label.Rules {
	return label.Join(
		label.Data{
			WellKnown:         []string{"karpenter.sh/capacity-type", "kubernetes.io/arch"},
			RestrictedDomains: []string{"karpenter.sh"},
			RestrictedKeys:    []string{"kubernetes.io/hostname"},
			Aliases:           map[string]string{"beta.kubernetes.io/arch": "kubernetes.io/arch"},
			KnownValues:       map[string][]string{"karpenter.sh/capacity-type": {"spot", "on-demand"}},
		},
		label.Data{
			WellKnown:         []string{"cloud.example/size", "kubernetes.io/arch"},
			RestrictedDomains: []string{"cloud.example"},
		},
	)
}

func TestIsRestricted(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		"karpenter.sh/capacity-type": false, // well-known wins over its domain
		"karpenter.sh/other":         true,
		"sub.karpenter.sh/other":     true,
		"mykarpenter.sh/other":       false, // a different domain that only ends alike
		"karpenter.sh":               false, // a bare name has no domain
		"cloud.example/size":         false,
		"cloud.example/color":        true,
		"kubernetes.io/hostname":     true,
		"kubernetes.io/custom":       false,
		"team":                       false,
	}
	for key, want := range cases {
		if got := rules().IsRestricted(key); got != want {
			t.Errorf("IsRestricted(%q) = %v, want %v", key, got, want)
		}
		if err := rules().CheckAllowed(key); (err != nil) != want {
			t.Errorf("CheckAllowed(%q) = %v, want an error: %v", key, err, want)
		}
	}
}

func TestCheckAllowedText(t *testing.T) {
	t.Parallel()
	const want = "using label karpenter.sh/x is not allowed as it might interfere with the internal provisioning logic; " +
		"specify a well known label: [cloud.example/size karpenter.sh/capacity-type kubernetes.io/arch], " +
		"or a custom label that does not use a restricted domain: [cloud.example karpenter.sh]"
	if got := rules().CheckAllowed("karpenter.sh/x").Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"beta.kubernetes.io/arch": "kubernetes.io/arch",
		"kubernetes.io/arch":      "kubernetes.io/arch",
		"team":                    "team",
	} {
		if got := rules().Normalize(key); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", key, got, want)
		}
	}
}

// TestRulesAreImmutable checks that a caller can change a returned list, or the data that it passed in, without
// changing the rules.
func TestRulesAreImmutable(t *testing.T) {
	t.Parallel()
	data := label.Data{WellKnown: []string{"b", "a"}, KnownValues: map[string][]string{"a": {"y", "x"}}}
	r := label.Join(data)
	r.WellKnown()[0] = "changed"
	values, known := r.KnownValues("a")
	values[0] = "changed"
	if again, _ := r.KnownValues("a"); !known || again[0] != "x" || !r.IsWellKnown("a") {
		t.Error("a caller could change the rules through a returned list")
	}
	if data.WellKnown[0] != "b" || data.KnownValues["a"][0] != "y" {
		t.Error("Join changed the data it was given")
	}
}
