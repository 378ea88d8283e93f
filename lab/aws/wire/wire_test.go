package wire

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Key   string
	Count int
}

type input struct {
	Names   []string `query:"Name"`
	Filters []Filter `query:"Filter"`
	Items   []inner
	Limit   *int
	On      *bool
	Start   time.Time
	Weight  float64
	Inner   *inner
}

func decodeQuery(text string) (input, error) {
	form, err := url.ParseQuery(text)
	if err != nil {
		return input{}, err
	}
	c := &Call{form: parseForm(form)}
	var in input
	return in, c.Decode(&in)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	three, no := 3, false
	cases := map[string]input{
		"":                                   {},
		"Name.2=b&Name.10=c&Name.1=a":        {Names: []string{"a", "b", "c"}},
		"Items.member.1.Key=a":               {Items: []inner{{Key: "a"}}},
		"Filter.1.Name=x&Filter.1.Value.1=y": {Filters: []Filter{{"x", []string{"y"}}}},
		"Limit=3&On=false&Weight=0.5":        {Limit: &three, On: &no, Weight: 0.5},
		"Start=2026-08-21T12:00:00.5Z":       {Start: time.Date(2026, 8, 21, 12, 0, 0, 5e8, time.UTC)},
		"Inner.Count=7":                      {Inner: &inner{Count: 7}},
	}
	for text, want := range cases {
		got, err := decodeQuery(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"Limit=many": "InvalidParameterValue", "Start=today": "InvalidParameterValue", "Weight=NaN": "InvalidParameterValue", "On=perhaps": "InvalidParameterValue",
		"Colour=red": "UnknownParameter", "Filter.1.Colour=red": "UnknownParameter", "Limit.1=3": "InvalidParameterValue",
	} {
		if _, err := decodeQuery(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("Filter.1.Name=x&Filter.1.Value.1=y&Limit=3")
	f.Add("Items.member.1.Key=a&Items.member.1.Key.x=b")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := decodeQuery(text)
		if err != nil {
			return
		}
		again, err := decodeQuery(text)
		if diff := cmp.Diff(first, again); diff != "" || err != nil {
			t.Errorf("read twice: %v\n%s", err, diff)
		}
	})
}

// EC2: "Filter your resources": * is zero or more characters, ? is one, and a
// backslash makes either literal.
func TestGlob(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "A", false}, {"a*", "a", true}, {"a*c", "abbc", true}, {"a*c", "abb", false}, {"?", "", false}, {"?", "é", true},
		{"*a*b*", "xxaxxbxx", true}, {`\*`, "*", true}, {`\*`, "x", false}, {`a\?`, "a?", true}, {"", "", true}, {"", "a", false}, {"**", "", true},
	} {
		if got := Glob(tc.pattern, tc.text); got != tc.want {
			t.Errorf("%q on %q: %t, want %t", tc.pattern, tc.text, got, tc.want)
		}
	}
}

// A pattern without wildcards matches itself; stars at both ends find every part.
func FuzzGlob(f *testing.F) {
	f.Add("a*b", "b")
	f.Fuzz(func(t *testing.T, text, part string) {
		if strings.ContainsAny(text+part, "*?\\") || !utf8.ValidString(text) || !utf8.ValidString(part) {
			return
		}
		if Glob(part, text) != (part == text) || Glob("*"+part+"*", text) != strings.Contains(text, part) {
			t.Errorf("%q in %q", part, text)
		}
	})
}

// Names are ANDed, values ORed; the same name may occur twice (as tag-key does).
func TestMatch(t *testing.T) {
	t.Parallel()
	tags := []Tag{{"a", "1"}, {"b", "2"}}
	attributes := Attributes{"state": {"running"}, "group": nil}
	for _, tc := range []struct {
		filters []Filter
		want    bool
	}{
		{nil, true},
		{[]Filter{{"state", []string{"pending", "running"}}}, true},
		{[]Filter{{"tag-key", []string{"a"}}, {"tag-key", []string{"b"}}}, true},
		{[]Filter{{"tag-key", []string{"a"}}, {"tag-key", []string{"c"}}}, false},
		{[]Filter{{"tag:a", []string{"2", "1"}}, {"tag:b", []string{"2"}}}, true},
		{[]Filter{{"tag:a", []string{"2"}}}, false},
		{[]Filter{{"tag-value", []string{"2"}}}, true},
		{[]Filter{{"group", []string{"*"}}}, false},
	} {
		if got, err := Match(tc.filters, attributes, tags); got != tc.want || err != nil {
			t.Errorf("%v: %t, %v, want %t", tc.filters, got, err, tc.want)
		}
	}
	if _, err := Match([]Filter{{"colour", []string{"red"}}}, attributes, tags); err == nil {
		t.Error("an unknown filter is taken")
	}
}

// Elements that come and go between two pages neither hide nor repeat others.
func TestPagesOfAChangingList(t *testing.T) {
	t.Parallel()
	two := 2
	key := func(s string) string { return s }
	first, token, err := Page([]string{"b", "d", "f"}, key, &two, "", Limits{1, 10})
	if diff := cmp.Diff([]string{"b", "d"}, first); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	second, token, err := Page([]string{"a", "c", "e", "f"}, key, &two, token, Limits{1, 10})
	if diff := cmp.Diff([]string{"e", "f"}, second); diff != "" || err != nil || token != "" {
		t.Errorf("second page, token %q, %v:\n%s", token, err, diff)
	}
}

func TestRouting(t *testing.T) {
	t.Parallel()
	r := NewRouter("000000000009", map[string]string{"KEY": "000000000008"},
		&Service{Name: "ec2", Protocol: EC2Query, Version: "2016-11-15"}, &Service{Name: "iam", Protocol: Query, Version: "2010-05-08"},
		&Service{Name: "ssm", Protocol: JSON11, Target: "AmazonSSM"}, &Service{Name: "eks", Protocol: RESTJSON, Routes: map[string]string{"GET /clusters/{name}": "DescribeCluster"}})
	signed := func(method, path, body, key, service string, header ...string) *http.Request {
		h := httptest.NewRequest(method, path, strings.NewReader(body))
		h.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20260821/eu-west-1/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
		for i := 0; i+1 < len(header); i += 2 {
			h.Header.Set(header[i], header[i+1])
		}
		return h
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for name, tc := range map[string]struct {
		request *http.Request
		want    string
	}{
		"by action":              {signed("POST", "/", "Action=A&Version=2016-11-15", "KEY", "ec2", form...), "ec2:A 000000000008 eu-west-1"},
		"the scope goes before":  {signed("POST", "/", "Action=A&Version=2016-11-15", "123456789012", "iam", form...), "iam:A 123456789012 eu-west-1"},
		"by version, in the URL": {signed("GET", "/?Action=A&Version=2010-05-08", "", "OTHER", "moon"), "iam:A 000000000009 eu-west-1"},
		"by target":              {signed("POST", "/", "{}", "KEY", "ssm", "X-Amz-Target", "AmazonSSM.GetParameter"), "ssm:GetParameter 000000000008 eu-west-1"},
		"by path":                {signed("GET", "/clusters/lab", "", "KEY", "eks"), "eks:DescribeCluster 000000000008 eu-west-1"},
	} {
		c, err := r.Parse(tc.request)
		if got := c.String() + " " + c.Account + " " + c.Region; got != tc.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", name, got, err, tc.want)
		}
	}
}
