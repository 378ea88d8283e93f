package api_test

import (
	"testing"

	"tenon/cloud/aws/api"
)

// Every text that people may search for maps to its reason.
func TestOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"AuthFailure.ServiceLinkedRoleCreationNotPermitted: x":                   "SpotSLRCreationFailed",
		"UnauthorizedOperation: with an explicit deny in a permissions boundary": "Unauthorized",
		"AccessDenied: Not authorized for images: [ami-1]":                       "AMIAuthorizationFailure",
		"AuthFailure: x": "Unauthorized",
		"InvalidParameter: Security group sg and subnet s belong to different networks.":     "SecurityGroupSubnetVPCMismatch",
		"InvalidParameterValue: Value (x) for parameter iamInstanceProfile.name is invalid.": "InstanceProfileNameInvalid",
		"InvalidLaunchTemplateId.NotFound":                                                   "LaunchTemplateNotFound",
		"InvalidUserData.Malformed: User data is limited to 16384 bytes":                     "UserDataSizeLimitExceeded",
		"InvalidAMIID.Malformed": "InvalidAMIID",
		"InvalidAMIID.NotFound":  "AMINotFound",
		"RequestLimitExceeded":   "RequestLimitExceeded",
		"InternalError":          "InternalError",
		"The specified instance type is not eligible for Free Tier.": "FreeTierIneligible",
		"MaxFleetCountExceeded":             "FleetQuotaExceeded",
		"PendingVerification":               "AccountPendingVerification",
		"MaxSpotInstanceCountExceeded":      "SpotQuotaExceeded",
		"VcpuLimitExceeded":                 "VCPULimitExceeded",
		"InsufficientFreeAddressesInSubnet": "InsufficientFreeAddressesInSubnet",
		"a code that is not known":          "LaunchFailed",
	} {
		if got := api.ReasonOf(text); got.Reason != want || got.Message == "" {
			t.Errorf("%s is %+v, want %s", text, got, want)
		}
	}
}

// Shortages pass, or end with a larger quota; what a person has to mend is none. The texts are AWS's own (EC2 API Reference, "Error
// codes for the Amazon EC2 API").
func TestIsShortage(t *testing.T) {
	t.Parallel()
	for code, short := range map[string]bool{
		"InsufficientInstanceCapacity":      true,  // "There is not enough capacity to fulfill your request. … wait for additional capacity to become available."
		"UnfulfillableCapacity":             true,  // "At this time there isn't enough spare capacity to fulfill your request for Spot Instances."
		"MaxSpotInstanceCountExceeded":      true,  // "You've reached the limit on the number of Spot Instances that you can launch. The limit depends on the instance type."
		"InsufficientFreeAddressesInSubnet": true,  // "The specified subnet does not contain enough free private IP addresses to fulfill your request."
		"VcpuLimitExceeded":                 true,  // "You've reached the limit on the number of vCPUs (virtual processing units) assigned to the running instances in your account."
		"ReservationCapacityExceeded":       true,  // "The targeted Capacity Reservation does not enough available instance capacity to fulfill your request."
		"Unsupported":                       true,  // "For example, you might be trying to launch an instance in an Availability Zone that currently has constraints on that instance type."
		"MaxFleetCountExceeded":             true,  // The page does not list it; Karpenter v1.9 knows it, and the fleet quota that it speaks of can be raised.
		"PendingVerification":               false, // "Your account is pending verification. Until the verification process is complete, you may not be able to carry out requests with this account."
		"IdempotentParameterMismatch":       false, // "The request uses the same client token as a previous, but non-identical request."
		"RequestLimitExceeded":              false, // "The maximum request rate permitted by the Amazon EC2 APIs has been exceeded for your account."
		"InternalError":                     false, // "An internal error has occurred. Retry your request"
		"InvalidParameterValue":             false,
		"":                                  false,
	} {
		if got := api.IsShortage(code); got != short {
			t.Errorf("%q is a shortage: %t, want %t", code, got, short)
		}
	}
}
