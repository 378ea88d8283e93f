// Package ec2 is the wire interface of EC2: which parameters its operations take, what their answers look
// like, which filters and pages they have. Package accounts decides what happens.
package ec2

import (
	"cmp"
	"slices"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// Service serves EC2 on the given world.
func Service(w *accounts.World) *wire.Service {
	s := &wire.Service{
		Name: "ec2", Protocol: wire.EC2Query, Version: "2016-11-15", Namespace: "http://ec2.amazonaws.com/doc/2016-11-15/",
		Operations: map[string]wire.Handler{},
	}
	add := func(name string, h wire.Handler) { s.Operations[name] = h }
	add("DescribeRegions", on(w, describeRegions))
	add("DescribeAvailabilityZones", on(w, describeZones))
	add("DescribeVpcs", on(w, describeNetworks))
	add("DescribeSubnets", on(w, describeSubnets))
	add("DescribeSecurityGroups", on(w, describeGroups))
	add("ModifySubnetAttribute", on(w, changeSubnet))
	add("CreateSecurityGroup", on(w, createGroup))
	add("DeleteSecurityGroup", on(w, deleteGroup))
	add("DescribeNetworkInterfaces", on(w, describeInterfaces))
	add("DescribeVolumes", on(w, describeVolumes))
	add("DeleteVolume", on(w, deleteVolume))
	add("DescribeImages", on(w, describeImages))
	add("CopyImage", on(w, copyImage))
	add("DeregisterImage", on(w, deregisterImage))
	add("EnableImageDeprecation", on(w, enableDeprecation))
	add("DisableImageDeprecation", on(w, disableDeprecation))
	add("DescribeInstanceTypes", on(w, describeTypes))
	add("DescribeInstanceTypeOfferings", on(w, describeOfferings))
	add("DescribeSpotPriceHistory", on(w, describePrices))
	add("CreateLaunchTemplate", on(w, createTemplate))
	add("CreateLaunchTemplateVersion", on(w, addVersion))
	add("ModifyLaunchTemplate", on(w, modifyTemplate))
	add("DeleteLaunchTemplate", on(w, deleteTemplate))
	add("DescribeLaunchTemplates", on(w, describeTemplates))
	add("DescribeLaunchTemplateVersions", on(w, describeVersions))
	add("CreateFleet", on(w, createFleet))
	add("RunInstances", on(w, runInstances))
	add("DescribeInstances", on(w, describeInstances))
	add("DescribeInstanceStatus", on(w, describeStatus))
	add("DescribeInstanceAttribute", on(w, describeAttribute))
	add("DescribeSpotInstanceRequests", on(w, describeSpotRequests))
	add("TerminateInstances", on(w, terminateInstances))
	add("StopInstances", on(w, stopInstances))
	add("GetConsoleOutput", on(w, consoleOutput))
	add("CreateTags", on(w, createTags))
	add("DeleteTags", on(w, deleteTags))
	add("CreateCapacityReservation", on(w, createReservation))
	add("CancelCapacityReservation", on(w, cancelReservation))
	add("CreateInterruptibleCapacityReservationAllocation", on(w, allocateInterruptible))
	add("UpdateInterruptibleCapacityReservationAllocation", on(w, reallocateInterruptible))
	add("DescribeCapacityReservations", on(w, describeReservations))
	add("CreatePlacementGroup", on(w, createPlacement))
	add("DeletePlacementGroup", on(w, deletePlacement))
	add("DescribePlacementGroups", on(w, describePlacements))
	return s
}

// on makes a handler from a function on a region. A dry run ends after its parameters are read, unless
// the request handles dry runs itself.
func on[In, Out any](w *accounts.World, do func(*accounts.Region, *In) (*Out, error)) wire.Handler {
	return wire.Operation(func(c *wire.Call, in *In) (out *Out, err error) {
		if d, ok := any(in).(interface{ rehearsal() bool }); ok && d.rehearsal() {
			return nil, wire.DryRun()
		}
		err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
			out, err = do(r, in)
			return err
		})
		return out, err
	})
}

// dry is embedded by requests that allow dry runs.
type dry struct{ DryRun bool }

func (d dry) rehearsal() bool { return d.DryRun }

// listing holds the parameters that all Describe operations with pages share.
type listing struct {
	dry
	Filters    []wire.Filter `query:"Filter"`
	MaxResults *int
	NextToken  string
}

// listed says how a kind of resource is listed.
type listed[T any] struct {
	key        func(T) string // unique; the list is sorted by it
	attributes func(T) (wire.Attributes, []wire.Tag)
	limits     wire.Limits
}

// list filters and sorts a list, and cuts a page from it.
func list[T any](in listing, all []T, s listed[T]) (page []T, next string, err error) {
	var found []T
	for _, item := range all {
		attributes, tags := s.attributes(item)
		ok, err := wire.Match(in.Filters, attributes, tags)
		if err != nil {
			return nil, "", err
		}
		if ok {
			found = append(found, item)
		}
	}
	slices.SortFunc(found, func(a, b T) int { return cmp.Compare(s.key(a), s.key(b)) })
	return wire.Page(found, s.key, in.MaxResults, in.NextToken, s.limits)
}

// whole refuses a page size together with identifiers, as EC2 does.
func whole(in listing, ids []string, name string) error {
	if len(ids) > 0 && in.MaxResults != nil {
		return wire.Errorf("InvalidParameterCombination", "The parameter %s cannot be used with the parameter maxResults", name)
	}
	return nil
}

// pick finds resources by identifiers, and returns all of them without identifiers.
func pick[T any](ids []string, all []T, find func(string) (T, error)) ([]T, error) {
	if len(ids) == 0 {
		return all, nil
	}
	var found []T
	for _, id := range ids {
		item, err := find(id)
		if err != nil {
			return nil, err
		}
		found = append(found, item)
	}
	return found, nil
}

func one(value string) []string { return []string{value} }

func truth(b bool) []string {
	if b {
		return []string{"true"}
	}
	return []string{"false"}
}

// stamp writes a time as EC2 does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func optionalStamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return stamp(t)
}

// done is the answer of operations without another result.
type done struct {
	Return bool `xml:"return"`
}
