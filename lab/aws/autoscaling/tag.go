package autoscaling

import (
	"cmp"
	"slices"
	"strconv"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type tagItem struct {
	Resource string `query:"ResourceId" xml:"ResourceId"`
	Kind     string `query:"ResourceType" xml:"ResourceType"`
	Key      string `xml:"Key"`
	Value    string `xml:"Value"`
	AtLaunch bool   `query:"PropagateAtLaunch" xml:"PropagateAtLaunch"`
}

func tagsOf(g *accounts.ScalingGroup) (items []tagItem) {
	for _, t := range g.Tags {
		items = append(items, tagItem{g.Name, "auto-scaling-group", t.Key, t.Value, t.AtLaunch})
	}
	return items
}

func groupTags(items []tagItem) (tags []accounts.GroupTag) {
	for _, t := range items {
		tags = append(tags, accounts.GroupTag{Tag: wire.Tag{Key: t.Key, Value: t.Value}, AtLaunch: t.AtLaunch})
	}
	return tags
}

type tagsInput struct {
	paging
	Filters []filter
}

type tagsOutput struct {
	Tags []tagItem `xml:"Tags>member"`
	Next string    `xml:"NextToken,omitempty"`
}

// tags lists the tags that pass the filters on group, key, value and propagation.
func tags(r *accounts.Region, in *tagsInput) (*tagsOutput, error) {
	filters := filtersOf(in.Filters)
	var found []tagItem
	for _, g := range r.ScalingGroups(nil) {
		for _, t := range tagsOf(g) {
			ok, err := wire.Match(filters, wire.Attributes{
				"auto-scaling-group": {g.Name}, "key": {t.Key}, "value": {t.Value}, "propagate-at-launch": {strconv.FormatBool(t.AtLaunch)},
			}, nil)
			if err != nil {
				return nil, wire.Errorf("ValidationError", "Filter type is not correct. Allowed Filter types are: auto-scaling-group key value propagate-at-launch")
			}
			if ok {
				found = append(found, t)
			}
		}
	}
	key := func(t tagItem) string { return t.Resource + " " + t.Key }
	slices.SortFunc(found, func(a, b tagItem) int { return cmp.Compare(key(a), key(b)) })
	cut, next, err := page(found, key, in.paging)
	return &tagsOutput{cut, next}, err
}

type changeTagsInput struct {
	Tags []tagItem
}

// eachTagged visits the tags of a request, after it has found all groups that they name.
func (in *changeTagsInput) eachTagged(r *accounts.Region, do func(tagItem) error) error {
	for _, t := range in.Tags {
		if _, err := r.ScalingGroup(t.Resource); err != nil {
			return err
		}
	}
	for _, t := range in.Tags {
		if err := do(t); err != nil {
			return err
		}
	}
	return nil
}

func putTags(r *accounts.Region, in *changeTagsInput) (*done, error) {
	return nothing(in.eachTagged(r, func(t tagItem) error { return r.PutGroupTags(t.Resource, groupTags([]tagItem{t})) }))
}

func removeTags(r *accounts.Region, in *changeTagsInput) (*done, error) {
	return nothing(in.eachTagged(r, func(t tagItem) error {
		return r.RemoveGroupTags(t.Resource, []wire.Tag{{Key: t.Key, Value: t.Value}})
	}))
}
