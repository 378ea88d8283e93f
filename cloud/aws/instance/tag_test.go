package instance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"

	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instance"
)

// tagger fakes EC2's tagging; one instance is missing.
type tagger struct {
	api.EC2Instances
	mu    sync.Mutex
	calls int
	tags  map[string]string // the tags that each instance got
}

func (g *tagger) CreateTags(_ context.Context, in *ec2.CreateTagsInput, _ ...api.EC2Options) (*ec2.CreateTagsOutput, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	if slices.Contains(in.Resources, "i-gone") {
		return nil, &smithy.GenericAPIError{Code: "InvalidInstanceID.NotFound"}
	}
	for _, id := range in.Resources {
		for _, tag := range in.Tags {
			g.tags[id] += aws.ToString(tag.Key) + "=" + aws.ToString(tag.Value) + ";"
		}
	}
	return &ec2.CreateTagsOutput{}, nil
}

// Instances that get the same tags share a call, a missing instance does not stop the tagging of the others,
// and odd characters survive.
func TestTag(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		tags  func(n int) map[string]string
		gone  bool
		want  string // of the instance 3
		calls int    // at most
	}{
		"the same for all":         {func(int) map[string]string { return map[string]string{"b": "2", "a": "1"} }, false, "a=1;b=2;", 2},
		"names of their own":       {func(n int) map[string]string { return map[string]string{"Name": fmt.Sprint("node-", n)} }, false, "Name=node-3;", 8},
		"one of many is gone":      {func(int) map[string]string { return map[string]string{"a": "1"} }, true, "a=1;", 12},
		"quotes, spaces and signs": {func(int) map[string]string { return map[string]string{`a "b"`: "=;\n é"} }, false, "a \"b\"==;\n é;", 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &tagger{tags: map[string]string{}}
			y := instance.NewClient(g, instance.Options{Cluster: "lab"})
			var group sync.WaitGroup
			for n := range 8 {
				id := fmt.Sprint("i-", n)
				if tc.gone && n == 5 {
					id = "i-gone"
				}
				group.Go(func() {
					if err := y.Tag(t.Context(), id, tc.tags(n)); errors.Is(err, instance.ErrGone) != (id == "i-gone") || id != "i-gone" && err != nil {
						t.Errorf("%s: error %v", id, err)
					}
				})
			}
			group.Wait()
			if g.tags["i-3"] != tc.want || g.calls > tc.calls {
				t.Errorf("tagged %q with %d calls, want %q with %d at most", g.tags["i-3"], g.calls, tc.want, tc.calls)
			}
		})
	}
}
