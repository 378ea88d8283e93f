package cloud_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"tenon/cloud"
)

// Prefixes are those that users find in events and conditions today.
func TestErrorsSpeakTheUsersWords(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	offers := []cloud.Offer{
		{InstanceType: "m5.large", Zone: "a", CapacityType: "spot"},
		{InstanceType: "m5.large", Zone: "b", CapacityType: "reserved", Reservation: "cr-1"},
	}
	cases := map[string]struct {
		err  error
		want string
	}{
		"gone":                         {&cloud.NotFound{ProviderID: "x://1"}, `nodeclaim not found, instance "x://1" is gone`},
		"gone, with a cause":           {&cloud.NotFound{Err: boom}, "nodeclaim not found, boom"},
		"nothing left to try":          {&cloud.NoCapacity{}, "insufficient capacity, all requested instance types were unavailable during launch"},
		"one offering short":           {&cloud.NoCapacity{Offers: offers[:1]}, "insufficient capacity, m5.large/a/spot cannot be had at the moment"},
		"several offerings short":      {&cloud.NoCapacity{Offers: offers}, "insufficient capacity, m5.large/a/spot and 1 other(s) cannot be had at the moment"},
		"a reserved offering short":    {&cloud.NoCapacity{Offers: offers[1:]}, "insufficient capacity, m5.large/b/reserved/cr-1 cannot be had at the moment"},
		"no capacity, with a cause":    {&cloud.NoCapacity{Offers: offers, Err: boom}, "insufficient capacity, boom"},
		"class not ready":              {&cloud.ClassNotReady{Class: cloud.ClassRef{Kind: "EC2NodeClass", Name: "default"}}, "NodeClassRef not ready, EC2NodeClass/default cannot be used yet"},
		"class not ready with a cause": {&cloud.ClassNotReady{Err: boom}, "NodeClassRef not ready, boom"},
		"rejected":                     {&cloud.Rejected{Reason: "Unauthorized", Message: "not allowed"}, "creating nodeclaim, not allowed"},
		"rejected with a cause":        {&cloud.Rejected{Reason: "Unauthorized", Message: "not allowed", Err: boom}, "creating nodeclaim, boom"},
		"throttled":                    {&cloud.Throttled{RetryAfter: 2 * time.Second}, "too many requests, retry after 2s"},
		"throttled with a cause":       {&cloud.Throttled{RetryAfter: time.Second, Err: boom}, "too many requests, retry after 1s: boom"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.err.Error(); got != tc.want {
				t.Errorf("text %q, want %q", got, tc.want)
			}
		})
	}
}

func TestErrorsAreFoundThroughWrapping(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	cases := map[string]struct {
		err           error
		nothingBought bool
		label         string
	}{
		"not found":       {&cloud.NotFound{Err: boom}, false, "NodeClaimNotFoundError"},
		"no capacity":     {&cloud.NoCapacity{Err: boom}, true, "InsufficientCapacityError"},
		"class not ready": {&cloud.ClassNotReady{Err: boom}, true, "NodeClassNotReadyError"},
		"rejected":        {&cloud.Rejected{Err: boom}, true, ""},
		"throttled":       {&cloud.Throttled{Err: boom}, true, ""},
		"throttled where people have to see it": {
			&cloud.Throttled{Err: &cloud.Rejected{Reason: "RequestLimitExceeded", Err: boom}}, true, ""},
		"anything else": {boom, false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrapped := fmt.Errorf("launch claim web-1: %w", errors.Join(errors.New("aside"), tc.err))
			if !errors.Is(wrapped, boom) {
				t.Error("the cause is lost")
			}
			if got := cloud.NothingBought(wrapped); got != tc.nothingBought {
				t.Errorf("NothingBought %t, want %t", got, tc.nothingBought)
			}
			if got := cloud.MetricLabel(wrapped); got != tc.label {
				t.Errorf("MetricLabel %q, want %q", got, tc.label)
			}
			if got := cloud.IsNotFound(wrapped); got != (tc.label == "NodeClaimNotFoundError") {
				t.Errorf("IsNotFound %t", got)
			}
		})
	}
	if cloud.NothingBought(nil) || cloud.IsNotFound(nil) || cloud.MetricLabel(nil) != "" {
		t.Error("success is taken for an error")
	}
}
