package requirement_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	. "tenon/core/requirement"
)

// provider are words as a cloud provider brings them.
func provider() Words {
	return Words{
		WellKnown:         []string{"cloud.example/instance-family", "cloud.example/instance-cpu"},
		RestrictedDomains: []string{"cloud.example"},
		RestrictedKeys:    []string{"example.com/internal"},
		Aliases:           map[string]string{"csi.cloud.example/zone": KeyZone},
		Translations:      map[string]map[string]string{KeyZone: {"zone-1": "region-1a", "zone-2": "region-1b"}},
		KnownValues:       map[string][]string{"cloud.example/instance-family": {"m", "c"}},
	}
}

func TestCoreWords(t *testing.T) {
	t.Parallel()
	// "Well-known set (core): the eight keys".
	want := []string{
		"karpenter.sh/capacity-type", "karpenter.sh/nodepool", "kubernetes.io/arch", "kubernetes.io/os",
		"node.kubernetes.io/instance-type", "node.kubernetes.io/windows-build",
		"topology.kubernetes.io/region", "topology.kubernetes.io/zone",
	}
	if got := Core().WellKnown().Sorted(); !slices.Equal(got, want) {
		t.Errorf("well-known are %q, want %q", got, want)
	}
	aliases := map[string]string{
		"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
		"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
		"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
		"beta.kubernetes.io/os":                    "kubernetes.io/os",
		"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
		"topology.kubernetes.io/zone":              "topology.kubernetes.io/zone",
		"example.com/custom":                       "example.com/custom",
	}
	for alias, want := range aliases {
		if got := Core().Key(alias); got != want {
			t.Errorf("Key(%q) = %q, want %q", alias, got, want)
		}
	}
}

func TestRestricted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ core, cloud bool }{
		"karpenter.sh/custom":              {true, true},
		"karpenter.sh/registered":          {true, true},
		"sub.karpenter.sh/custom":          {true, true},
		"a.b.karpenter.sh/custom":          {true, true},
		"karpenter.sh/capacity-type":       {false, false}, // well-known
		"karpenter.sh/nodepool":            {false, false},
		"notkarpenter.sh/custom":           {false, false},
		"karpenter.sh.example.com/x":       {false, false},
		"karpenter.sh":                     {false, false}, // no domain
		"kubernetes.io/hostname":           {true, true},
		"kubernetes.io/custom":             {false, false}, // "no longer restricted by core"
		"k8s.io/custom":                    {false, false},
		"kops.k8s.io/instancegroup":        {false, false},
		"team":                             {false, false},
		"":                                 {false, false},
		"cloud.example/custom":             {false, true},
		"sub.cloud.example/custom":         {false, true},
		"cloud.example/instance-family":    {false, false},
		"example.com/internal":             {false, true},
		"topology.kubernetes.io/zone":      {false, false},
		"node-restriction.kubernetes.io/x": {false, false},
	}
	core, cloud := Core(), Core().With(provider())
	for key, want := range cases {
		if got := core.IsRestricted(key); got != want.core {
			t.Errorf("core: IsRestricted(%q) = %v", key, got)
		}
		if key != "cloud.example/instance-family" {
			if got := cloud.IsRestricted(key); got != want.cloud {
				t.Errorf("cloud: IsRestricted(%q) = %v", key, got)
			}
		}
	}
	if cloud.IsRestricted("cloud.example/instance-family") || !cloud.IsWellKnown("cloud.example/instance-family") {
		t.Error("a provider's well-known label is restricted")
	}
}

func TestWithLeavesTheReceiver(t *testing.T) {
	t.Parallel()
	core := Core()
	words := provider()
	cloud := core.With(words)
	words.Translations[KeyZone]["zone-1"] = "changed"
	words.Aliases["csi.cloud.example/zone"] = "changed"
	cloud.Words().Translations[KeyZone]["zone-1"] = "changed"
	if got := cloud.Value(KeyZone, "zone-1"); got != "region-1a" {
		t.Errorf("the vocabulary kept the caller's map: %q", got)
	}
	if got := cloud.Key("csi.cloud.example/zone"); got != KeyZone {
		t.Errorf("the vocabulary kept the caller's map: %q", got)
	}
	if !reflect.DeepEqual(core.Words(), Core().Words()) {
		t.Errorf("With changed its receiver to %+v", core.Words())
	}
	if again := cloud.With(Words{}); !reflect.DeepEqual(again.Words(), cloud.Words()) {
		t.Errorf("no words changed the vocabulary to %+v", again.Words())
	}
}

func TestVocabularyJSON(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]Vocabulary{"nothing": {}, "core": Core(), "cloud": Core().With(provider())} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back Vocabulary
		if err := json.Unmarshal(data, &back); err != nil || back.IsZero() != v.IsZero() {
			t.Errorf("%s became %+v through %s: %v", name, back.Words(), data, err)
		}
		if again, err := json.Marshal(back); err != nil || string(again) != string(data) {
			t.Errorf("%s was written again as %s, %v", data, again, err)
		}
	}
	if !(Vocabulary{}).IsZero() || Core().IsZero() {
		t.Error("IsZero() is wrong")
	}
	var v Vocabulary
	if err := json.Unmarshal([]byte(`{"wellKnow":["a"]}`), &v); err == nil {
		t.Error("an unknown part was read")
	}
}

func TestParseInAnySpelling(t *testing.T) {
	t.Parallel()
	values := []string{"zone-2", "other"}
	set, err := Core().With(provider()).Parse(
		Entry{Key: "csi.cloud.example/zone", Operator: In, Values: values},
		Entry{Key: "failure-domain.beta.kubernetes.io/zone", Operator: NotIn, Values: []string{"other", "zone-1"}},
		Entry{Key: "beta.kubernetes.io/arch", Operator: Exists},
		Entry{Key: "cloud.example/instance-cpu", Operator: Gt, Values: []string{"3"}, MinValues: 2},
	)
	want := "cloud.example/instance-cpu Exists >=4 minValues 2, kubernetes.io/arch Exists, topology.kubernetes.io/zone In [region-1b]"
	if err != nil || set.String() != want {
		t.Errorf("read %q, %v, want %q", set, err, want)
	}
	if values[0] != "zone-2" {
		t.Errorf("the caller's values changed to %q", values)
	}
	if _, err := Core().Parse(Entry{Key: "a", Operator: Exists}, Entry{Key: "b", Operator: "Near"}); err == nil {
		t.Error("an unknown operator was read")
	}
}

func TestLabelsInAnySpelling(t *testing.T) {
	t.Parallel()
	cloud := Core().With(provider())
	cases := map[string]struct {
		labels map[string]string
		want   string
	}{
		"no labels": {nil, ""},
		"both spellings agree": {
			map[string]string{"beta.kubernetes.io/os": "linux", KeyOS: "linux", "a": "1"},
			"a In [1], kubernetes.io/os In [linux]",
		},
		"both spellings disagree": {
			map[string]string{"beta.kubernetes.io/os": "linux", KeyOS: "windows"},
			"kubernetes.io/os DoesNotExist",
		},
		"values have spellings too": {
			map[string]string{"csi.cloud.example/zone": "zone-1", "a": "zone-1"},
			"a In [zone-1], topology.kubernetes.io/zone In [region-1a]",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := cloud.FromLabels(tc.labels).String(); got != tc.want {
				t.Errorf("read %q, want %q", got, tc.want)
			}
		})
	}
	if !cloud.FromLabels(map[string]string{"beta.kubernetes.io/os": "linux", KeyOS: "windows"}).Impossible() {
		t.Error("labels that disagree can be satisfied")
	}
}

func TestCustomLabelsOfANewNode(t *testing.T) {
	t.Parallel()
	set := NewSet(
		New(KeyZone, In, "a"), New("karpenter.sh/registered", In, "true"), New(KeyHostname, In, "x"),
		New("cloud.example/instance-cpu", Gt, "3"), New("cloud.example/secret", In, "x"),
		New("team", In, "web", "api"), New("tier", Exists), New("rank", Gt, "2"), New("rank", NotIn, "3"),
		New("gone", DoesNotExist), New("below", Lt, "0"), New("kops.k8s.io/group", In, "g"),
	)
	want := map[string]string{"team": "api", "tier": "0", "rank": "4", "kops.k8s.io/group": "g"}
	if got := Core().With(provider()).Labels(set); !maps.Equal(got, want) {
		t.Errorf("Labels() = %v, want %v", got, want)
	}
}

func TestKeySet(t *testing.T) {
	t.Parallel()
	base := NewKeySet("b", "a", "b")
	more := base.With("c")
	if !slices.Equal(base.Sorted(), []string{"a", "b"}) || !slices.Equal(more.Sorted(), []string{"a", "b", "c"}) {
		t.Errorf("sets are %q and %q", base.Sorted(), more.Sorted())
	}
	if base.Contains("c") || !more.Contains("c") || base.Len() != 2 || base.Equal(more) || !base.Equal(NewKeySet("a", "b")) {
		t.Error("a key is where it should not be")
	}
	data, err := json.Marshal(more)
	var back KeySet
	if err != nil || string(data) != `["a","b","c"]` || json.Unmarshal(data, &back) != nil || !back.Equal(more) {
		t.Errorf("written as %s, %v, read as %q", data, err, back.Sorted())
	}
	if err := json.Unmarshal([]byte(`{"a":1}`), &back); err == nil {
		t.Error("an object was read as keys")
	}
	if !(KeySet{}).IsZero() || base.IsZero() {
		t.Error("IsZero() is wrong")
	}
}
