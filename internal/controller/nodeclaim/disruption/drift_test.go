package disruption

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/catalog"
)

func stamped(hash, version string) map[string]string {
	out := map[string]string{}
	if hash != "" {
		out[karpenterv1.AnnotationNodePoolHash] = hash
	}
	if version != "" {
		out[karpenterv1.AnnotationNodePoolHashVersion] = version
	}
	return out
}

func TestAnotherTemplate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pool, claim map[string]string
		want        bool
	}{
		"the same hash":             {stamped("1", "v3"), stamped("1", "v3"), false},
		"another hash":              {stamped("2", "v3"), stamped("1", "v3"), true},
		"hashes of two versions":    {stamped("2", "v3"), stamped("1", "v2"), false},
		"a claim made by hand":      {stamped("2", "v3"), nil, false},
		"a pool not yet stamped":    {nil, stamped("1", "v3"), false},
		"hashes without a version":  {stamped("2", ""), stamped("1", ""), false},
		"a version without a hash":  {stamped("2", "v3"), stamped("", "v3"), false},
		"drifted before an upgrade": {stamped("9", "v3"), stamped("old", "v3"), true},
	} {
		pool, claim := &karpenterv1.NodePool{}, &karpenterv1.NodeClaim{}
		pool.Annotations, claim.Annotations = tc.pool, tc.claim
		if got := isOfAnotherTemplate(pool, claim); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	words := memory.New(memory.Options{}).Connect().Describe().Vocabulary()
	labels := map[string]string{corev1.LabelArchStable: "amd64", "team": "red", memory.LabelCPU: "4"}
	for name, tc := range map[string]struct {
		key      string
		operator corev1.NodeSelectorOperator
		values   []string
		want     bool
	}{
		"a value that it has":                      {"team", "In", []string{"blue", "red"}, true},
		"a value that it has not":                  {"team", "In", []string{"blue"}, false},
		"an older spelling":                        {"beta.kubernetes.io/arch", "In", []string{"amd64"}, true},
		"a label that it lacks":                    {"rack", "Exists", nil, false},
		"a well-known label that it lacks":         {corev1.LabelTopologyZone, "In", []string{"a"}, false},
		"a label that it lacks and should":         {"rack", "DoesNotExist", nil, true},
		"a label that it lacks and may":            {"rack", "NotIn", []string{"7"}, true},
		"a label that it has and should not":       {"team", "DoesNotExist", nil, false},
		"a number within bounds":                   {memory.LabelCPU, "Gt", []string{"3"}, true},
		"a number that is now too small":           {memory.LabelCPU, "Gt", []string{"4"}, false},
		"a number that is not below the new bound": {memory.LabelCPU, "Lt", []string{"4"}, false},
	} {
		pool, claim := &karpenterv1.NodePool{}, &karpenterv1.NodeClaim{}
		claim.Labels = labels
		pool.Spec.Template.Labels = map[string]string{"rack": "7"} // no excuse
		pool.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{{Key: tc.key, Operator: tc.operator, Values: tc.values}}
		if got, err := meetsRequirements(words, pool, claim); err != nil || got != tc.want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}

func TestOffered(t *testing.T) {
	t.Parallel()
	about := memory.New(memory.Options{}).Connect().Describe()
	sample := memory.Sample()
	without := func(gone func(catalog.Offering) bool) *catalog.Catalog {
		out := &catalog.Catalog{}
		for _, kind := range memory.Sample().Types {
			var kept []catalog.Offering
			for _, o := range kind.Offerings {
				if !gone(o) {
					kept = append(kept, o)
				}
			}
			kind.Offerings = kept
			out.Types = append(out.Types, kind)
		}
		return out
	}
	soldOut := memory.Sample()
	for i := range soldOut.Types {
		for j := range soldOut.Types[i].Offerings {
			soldOut.Types[i].Offerings[j].Available = false
		}
	}
	isReserved := func(o catalog.Offering) bool { return o.CapacityType == catalog.Reserved }
	bought := func(kind, zone, capacity string) map[string]string {
		labels := map[string]string{corev1.LabelInstanceTypeStable: kind, corev1.LabelTopologyZone: zone, karpenterv1.LabelCapacityType: capacity}
		if capacity == catalog.Reserved {
			labels[memory.LabelReservation] = memory.ReservationID
		}
		return labels
	}
	for name, tc := range map[string]struct {
		labels map[string]string
		offers *catalog.Catalog
		want   bool
	}{
		"on the list":                         {bought("general-4", "memory-1b", catalog.Spot), sample, true},
		"sold out":                            {bought("general-4", "memory-1b", catalog.Spot), soldOut, true},
		"a type that is gone":                 {bought("general-3", "memory-1b", catalog.Spot), sample, false},
		"a zone that is gone":                 {bought("general-4", "memory-1d", catalog.Spot), sample, false},
		"no longer sold as spot":              {bought("general-4", "memory-1b", catalog.Spot), without(func(o catalog.Offering) bool { return o.CapacityType == catalog.Spot }), false},
		"a reservation":                       {bought("general-4", "memory-1a", catalog.Reserved), sample, true},
		"a reservation that ended":            {bought("general-4", "memory-1a", catalog.Reserved), without(isReserved), true},
		"a reservation, and the type is gone": {bought("general-4", "memory-1a", catalog.Reserved), without(func(catalog.Offering) bool { return true }), false},
		"on demand where only a reserved is":  {bought("general-4", "memory-1a", catalog.OnDemand), without(func(o catalog.Offering) bool { return !isReserved(o) }), false},
		"a claim that does not know its type": {map[string]string{}, sample, true},
		"a claim that does not know its zone": {map[string]string{corev1.LabelInstanceTypeStable: "general-4"}, sample, true},
	} {
		if got := isOffered(tc.labels, tc.offers, about, about.Vocabulary().WellKnown()); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
