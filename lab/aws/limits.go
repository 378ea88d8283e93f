package aws

import "tenon/lab/aws/fault"

// RealLimits returns approximately the request limits that AWS puts on an account's calls in a region: a
// bucket for every operation. They are faults like others; an emulator has none of them by default.
func RealLimits() []fault.Fault {
	limit := func(id string, rate, burst float64, operations ...string) fault.Fault {
		return fault.Fault{ID: "limit-" + id, Kind: fault.Throttle, Service: "ec2", Operations: operations, Rate: rate, Burst: burst}
	}
	return []fault.Fault{
		limit("reads", 20, 100, "Describe*"),
		limit("writes", 5, 50, "CreateFleet", "CreateLaunchTemplate", "DeleteLaunchTemplate", "DeleteTags", "StopInstances"),
		limit("runs", 2, 5, "RunInstances"),
		limit("terminations", 5, 100, "TerminateInstances"),
		limit("tags", 10, 100, "CreateTags"),
	}
}
