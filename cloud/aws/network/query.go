package network

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/core/order"
)

// TagFilters ask for all of some tags. The value * is any value.
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

// Filter asks for one of some values.
func Filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}
