package nodegroup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/cloud/aws/nodegroup"
)

// Flags mean the same as in Cluster Autoscaler: a group must have every tag of every text, and the last value
// of a key counts.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		nodes, discoveries []string
		want               nodegroup.Discovery
		wrong              string
	}{
		"nothing":            {},
		"a named group":      {nodes: []string{"0:10:web"}, want: nodegroup.Discovery{Static: []nodegroup.Static{{Name: "web", Max: 10}}}},
		"a name with colons": {nodes: []string{"1:1:a:b"}, want: nodegroup.Discovery{Static: []nodegroup.Static{{Name: "a:b", Min: 1, Max: 1}}}},
		"named twice":        {nodes: []string{"1:2:web", "3:4:web"}, want: nodegroup.Discovery{Static: []nodegroup.Static{{Name: "web", Min: 3, Max: 4}}}},
		"tags": {discoveries: []string{"asg:tag=k8s.io/cluster-autoscaler/enabled,k8s.io/cluster-autoscaler/shop=owned"},
			want: nodegroup.Discovery{Tags: map[string]string{"k8s.io/cluster-autoscaler/enabled": "", "k8s.io/cluster-autoscaler/shop": "owned"}}},
		"tags of two flags join": {discoveries: []string{"asg:tag=a=1,b", "asg:tag=a=2,c"}, want: nodegroup.Discovery{Tags: map[string]string{"a": "2", "b": "", "c": ""}}},
		"no name":                {nodes: []string{"1:2"}, wrong: "<min>:<max>:<name>"},
		"blank name":             {nodes: []string{"1:2:"}, wrong: "blank"},
		"no number":              {nodes: []string{"x:2:web"}, wrong: `min size "x"`},
		"no number either":       {nodes: []string{"1:x:web"}, wrong: `max size "x"`},
		"below nothing":          {nodes: []string{"-1:2:web"}, wrong: ">= 0"},
		"upside down":            {nodes: []string{"3:2:web"}, wrong: "greater or equal"},
		"another discoverer":     {discoveries: []string{"mig:namePrefix=a"}, wrong: `unsupported discoverer "mig"`},
		"another parameter":      {discoveries: []string{"asg:name=a"}, wrong: `unsupported parameter "name"`},
		"no parameter":           {discoveries: []string{"asg"}, wrong: "unsupported parameter"},
		"no key":                 {discoveries: []string{"asg:tag=a,,b"}, wrong: "no key"},
		"no tags":                {discoveries: []string{"asg:tag="}, wrong: "no key"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := nodegroup.NewDiscovery(tc.nodes, tc.discoveries)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Fatalf("error %v, want %s", err, tc.wrong)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("error %v, discovery (-want +got):\n%s", err, diff)
			}
		})
	}
}

// NewDiscovery reads every text or returns an error, and the sizes that it reads are possible ones.
func FuzzDiscovery(f *testing.F) {
	f.Add("1:2:web", "asg:tag=a=b,c")
	f.Fuzz(func(t *testing.T, nodes, discovery string) {
		if s, err := nodegroup.ParseStatic(nodes); err == nil && (s.Min < 0 || s.Max < s.Min || s.Name == "") {
			t.Errorf("%q was read as %+v", nodes, s)
		}
		if tags, err := nodegroup.ParseTags([]string{discovery}); err == nil && len(tags) == 0 {
			t.Errorf("%q asks for no tag", discovery)
		}
	})
}
