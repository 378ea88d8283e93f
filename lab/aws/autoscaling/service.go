// Package autoscaling is the wire interface of Auto Scaling: which parameters its operations take, and
// what their answers look like. Package accounts says what groups do.
package autoscaling

import (
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// Service serves Auto Scaling on the given world.
func Service(w *accounts.World) *wire.Service {
	return &wire.Service{
		Name: "autoscaling", Protocol: wire.Query, Version: "2011-01-01", Namespace: "http://autoscaling.amazonaws.com/doc/2011-01-01/",
		Operations: map[string]wire.Handler{
			"CreateAutoScalingGroup":              on(w, createGroup),
			"UpdateAutoScalingGroup":              on(w, updateGroup),
			"DeleteAutoScalingGroup":              on(w, deleteGroup),
			"DescribeAutoScalingGroups":           on(w, groups),
			"SetDesiredCapacity":                  on(w, setDesired),
			"SuspendProcesses":                    on(w, suspend),
			"ResumeProcesses":                     on(w, resume),
			"DescribeAutoScalingInstances":        on(w, instances),
			"TerminateInstanceInAutoScalingGroup": on(w, terminate),
			"SetInstanceProtection":               on(w, protect),
			"SetInstanceHealth":                   on(w, setHealth),
			"DescribeScalingActivities":           on(w, activities),
			"CreateLaunchConfiguration":           on(w, createConfiguration),
			"DeleteLaunchConfiguration":           on(w, deleteConfiguration),
			"DescribeLaunchConfigurations":        on(w, configurations),
			"PutLifecycleHook":                    on(w, putHook),
			"DeleteLifecycleHook":                 on(w, deleteHook),
			"DescribeLifecycleHooks":              on(w, hooks),
			"CompleteLifecycleAction":             on(w, completeHook),
			"RecordLifecycleActionHeartbeat":      on(w, extendHook),
			"StartInstanceRefresh":                on(w, startRefresh),
			"CancelInstanceRefresh":               on(w, cancelRefresh),
			"DescribeInstanceRefreshes":           on(w, refreshes),
			"PutWarmPool":                         on(w, putWarm),
			"DeleteWarmPool":                      on(w, deleteWarm),
			"DescribeWarmPool":                    on(w, warm),
			"DescribeTags":                        on(w, tags),
			"CreateOrUpdateTags":                  on(w, putTags),
			"DeleteTags":                          on(w, removeTags),
		},
	}
}

func on[In, Out any](w *accounts.World, do func(*accounts.Region, *In) (*Out, error)) wire.Handler {
	return wire.Operation(func(c *wire.Call, in *In) (out *Out, err error) {
		err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
			out, err = do(r, in)
			return err
		})
		return out, err
	})
}

// done is the answer of operations without a result.
type done struct{}

func nothing(err error) (*done, error) { return &done{}, err }

type filter struct {
	Name   string
	Values []string
}

func filtersOf(list []filter) (filters []wire.Filter) {
	for _, f := range list {
		filters = append(filters, wire.Filter(f))
	}
	return filters
}

type paging struct {
	MaxRecords *int
	NextToken  string
}

// page cuts a page from a list that is sorted by its keys.
func page[T any](list []T, key func(T) string, p paging) ([]T, string, error) {
	cut, next, err := wire.Page(list, key, p.MaxRecords, p.NextToken, wire.Limits{Min: 1, Max: 100})
	if err != nil {
		err = wire.Errorf("ValidationError", "1 validation error detected: MaxRecords must be between 1 and 100, and NextToken one that was given")
	}
	return cut, next, err
}

// stamp writes a time as Auto Scaling does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func optionalStamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return stamp(t)
}
