package network

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/core/order"
)

// TagFilters returns filters that together require all of the tags. The value * allows any value.
func TagFilters(tags map[string]string) []types.Filter {
	var filters []types.Filter
	for _, key := range order.Keys(tags) {
		if tags[key] == "*" {
			filters = append(filters, Filter("tag-key", key))
			continue
		}
		filters = append(filters, Filter("tag:"+key, tags[key]))
	}
	return filters
}

// Filter returns a filter that accepts any of the values.
func Filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}
