package ec2

import (
	"strings"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/policy"
	"tenon/lab/aws/wire"
)

type tagsInput struct {
	dry
	IDs  []string   `query:"ResourceId"`
	Tags []wire.Tag `query:"Tag"`
}

// Asks returns the action on each of the resources, with the tags that they have and get.
func (in *tagsInput) Asks(action string, r *accounts.Region) []policy.Request {
	return r.OnExisting(action, in.IDs, in.Tags)
}

func createTags(r *accounts.Region, in *tagsInput) (*done, error) {
	for _, t := range in.Tags {
		switch {
		case t.Key == "" || len(t.Key) > 128 || len(t.Value) > 256:
			return nil, wire.Errorf("InvalidParameterValue", "Tag key %q must have 1 to 128 characters, its value at most 256.", t.Key)
		case strings.HasPrefix(t.Key, "aws:"):
			return nil, wire.Errorf("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		}
	}
	return &done{true}, r.PutTags(in.IDs, in.Tags)
}

func deleteTags(r *accounts.Region, in *tagsInput) (*done, error) {
	return &done{true}, r.RemoveTags(in.IDs, in.Tags)
}
