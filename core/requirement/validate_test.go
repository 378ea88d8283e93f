package requirement_test

import (
	"slices"
	"strings"
	"testing"

	. "tenon/core/requirement"
)

const (
	wellKnownText = "[karpenter.sh/capacity-type karpenter.sh/nodepool kubernetes.io/arch kubernetes.io/os " +
		"node.kubernetes.io/instance-type node.kubernetes.io/windows-build topology.kubernetes.io/region topology.kubernetes.io/zone]"
	nameText = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	valueText = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	domainText = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
		`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
)

func restrictedText(key string) string {
	return "using label " + key + " is not allowed as it might interfere with the internal provisioning logic; specify a well known label: " +
		wellKnownText + ", or a custom label that does not use a restricted domain: [karpenter.sh]"
}

func TestValidate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		entry Entry
		want  []string
	}{
		"a good in":      {Entry{Key: "team", Operator: In, Values: []string{"a", ""}}, nil},
		"a good exists":  {Entry{Key: "example.com/team", Operator: Exists}, nil},
		"a good gt":      {Entry{Key: "n", Operator: Gt, Values: []string{"0"}}, nil},
		"empty not in":   {Entry{Key: "n", Operator: NotIn}, nil},
		"enough values":  {Entry{Key: "n", Operator: In, Values: []string{"a", "b"}, MinValues: 2}, nil},
		"minimum exists": {Entry{Key: "n", Operator: Exists, MinValues: 50}, nil},
		"unsupported operator": {
			Entry{Key: "team", Operator: "Near", Values: []string{"a"}},
			[]string{"key team has an unsupported operator Near not in [DoesNotExist Exists Gt Gte In Lt Lte NotIn]"},
		},
		"restricted domain": {
			Entry{Key: "karpenter.sh/custom", Operator: Exists},
			[]string{restrictedText("karpenter.sh/custom")},
		},
		"hostname": {
			Entry{Key: "kubernetes.io/hostname", Operator: In, Values: []string{"n1"}},
			[]string{restrictedText("kubernetes.io/hostname")},
		},
		"malformed key": {
			Entry{Key: "te am", Operator: Exists},
			[]string{"key te am is not a qualified name, name part " + nameText},
		},
		"malformed value": {
			Entry{Key: "team", Operator: NotIn, Values: []string{"ok", "-x", "y z"}},
			[]string{"invalid value -x for key team, " + valueText, "invalid value y z for key team, " + valueText},
		},
		"in without values": {
			Entry{Key: "team", Operator: In},
			[]string{"key team with operator In must have a value defined"},
		},
		"in with too few values": {
			Entry{Key: "team", Operator: In, Values: []string{"a"}, MinValues: 2},
			[]string{"key team with operator In must have at least minimum number of values defined in 'values' field"},
		},
		"gt with a text":      {Entry{Key: "n", Operator: Gt, Values: []string{"many"}}, []string{"key n with operator Gt must have a single positive integer value"}},
		"lt without values":   {Entry{Key: "n", Operator: Lt}, []string{"key n with operator Lt must have a single positive integer value"}},
		"gte with two values": {Entry{Key: "n", Operator: Gte, Values: []string{"1", "2"}}, []string{"key n with operator Gte must have a single positive integer value"}},
		"lte below zero": {
			Entry{Key: "n", Operator: Lte, Values: []string{"-1"}},
			[]string{"invalid value -1 for key n, " + valueText, "key n with operator Lte must have a single positive integer value"},
		},
		"keys are judged in the right spelling": {
			Entry{Key: "beta.kubernetes.io/arch", Operator: In},
			[]string{"key kubernetes.io/arch with operator In must have a value defined"},
		},
		"capacity types": {Entry{Key: KeyCapacityType, Operator: In, Values: []string{"spot", "on-demand", "reserved"}, MinValues: 3}, nil},
		"unknown beside known capacity types only deserve a warning": {
			Entry{Key: KeyCapacityType, Operator: In, Values: []string{"spot", "sport"}}, nil,
		},
		"no known capacity type": {
			Entry{Key: KeyCapacityType, Operator: In, Values: []string{"sport", "demand"}},
			[]string{"no valid values found in [sport demand] for karpenter.sh/capacity-type, expected one of: [on-demand reserved spot], got: [sport demand]"},
		},
		"too few known capacity types": {
			Entry{Key: KeyCapacityType, Operator: In, Values: []string{"spot", "sport"}, MinValues: 2},
			[]string{"not enough valid values found in [spot sport] for karpenter.sh/capacity-type, expected at least 2 valid values from: [on-demand reserved spot], got: [spot]"},
		},
		"other operators may name any capacity type": {Entry{Key: KeyCapacityType, Operator: NotIn, Values: []string{"sport"}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Core().Validate(tc.entry)
			if !slices.Equal(got, tc.want) {
				t.Errorf("problems are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
			if err := got.Err(); (err == nil) != (len(tc.want) == 0) || err != nil && err.Error() != strings.Join(tc.want, "; ") {
				t.Errorf("as an error they are %v", err)
			}
		})
	}
}

func TestUnknownValues(t *testing.T) {
	t.Parallel()
	cloud := Core().With(provider())
	cases := map[string]struct {
		entry Entry
		want  []string
	}{
		"some":                 {Entry{Key: KeyCapacityType, Operator: In, Values: []string{"x", "spot", "y"}}, []string{"x", "y"}},
		"the provider's":       {Entry{Key: "cloud.example/instance-family", Operator: In, Values: []string{"m", "z"}}, []string{"z"}},
		"none":                 {Entry{Key: KeyCapacityType, Operator: In, Values: []string{"spot"}}, nil},
		"nothing is known":     {Entry{Key: KeyZone, Operator: In, Values: []string{"x"}}, nil},
		"others are not asked": {Entry{Key: KeyCapacityType, Operator: NotIn, Values: []string{"x"}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := cloud.UnknownValues(tc.entry); !slices.Equal(got, tc.want) {
				t.Errorf("UnknownValues() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestKeyProblems(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		key  string
		want []string
	}{
		"simple":              {"team", nil},
		"qualified":           {"sub-1.example.com/My_name.x-1", nil},
		"longest name":        {strings.Repeat("a", 63), nil},
		"longest domain":      {strings.Repeat("a", 253) + "/x", nil},
		"empty":               {"", []string{"name part must be non-empty", "name part " + nameText}},
		"empty name":          {"example.com/", []string{"name part must be non-empty", "name part " + nameText}},
		"empty domain":        {"/x", []string{"prefix part must be non-empty"}},
		"name too long":       {strings.Repeat("a", 64), []string{"name part must be no more than 63 bytes"}},
		"domain too long":     {strings.Repeat("a", 254) + "/x", []string{"prefix part must be no more than 253 bytes"}},
		"upper-case domain":   {"Example.com/x", []string{"prefix part " + domainText}},
		"two dots in domain":  {"a..b/x", []string{"prefix part " + domainText}},
		"dash ends a part":    {"a-.b/x", []string{"prefix part " + domainText}},
		"name begins with -":  {"-x", []string{"name part " + nameText}},
		"name ends with .":    {"x.", []string{"name part " + nameText}},
		"other letters":       {"größe", []string{"name part " + nameText}},
		"everything is wrong": {"_/_", []string{"prefix part " + domainText, "name part " + nameText}},
		"two slashes": {"a/b/c", []string{"a valid label key " + nameText +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := KeyProblems(tc.key); !slices.Equal(got, tc.want) {
				t.Errorf("KeyProblems(%q) =\n%s\nwant\n%s", tc.key, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

func TestValueProblems(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		value string
		want  []string
	}{
		"empty":       {"", nil},
		"simple":      {"m5.large", nil},
		"longest":     {strings.Repeat("9", 63), nil},
		"too long":    {strings.Repeat("9", 64), []string{"must be no more than 63 bytes"}},
		"a slash":     {"a/b", []string{valueText}},
		"a minus":     {"-1", []string{valueText}},
		"a new line":  {"a\n", []string{valueText}},
		"both faults": {strings.Repeat(".", 64), []string{"must be no more than 63 bytes", valueText}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ValueProblems(tc.value); !slices.Equal(got, tc.want) {
				t.Errorf("ValueProblems(%q) = %q, want %q", tc.value, got, tc.want)
			}
		})
	}
}
