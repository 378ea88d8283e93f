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

func TestIsShortage(t *testing.T) {
	t.Parallel()
	if !api.IsShortage("UnfulfillableCapacity") || api.IsShortage("InvalidParameterValue") || api.IsShortage("") {
		t.Error("shortages are not told from other errors")
	}
}
