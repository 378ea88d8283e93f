package aws

import (
	"context"

	"k8s.io/utils/clock"

	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/nodegroup"
)

// convertGroup is provider.ConvertGroup.
func convertGroup(ctx context.Context, build, group string) (cloud.GroupConversion, error) {
	clients, err := api.Connect(ctx, api.Options{Version: build, Clock: clock.RealClock{}, ReadOnly: true})
	if err != nil {
		return cloud.GroupConversion{}, err
	}
	original, err := nodegroup.New(nodegroup.Options{Clients: clients.Groups, Clock: clock.RealClock{}, Region: clients.Region}).Original(ctx, group)
	if err != nil {
		return cloud.GroupConversion{}, err
	}
	return original.ToPool(), nil
}
