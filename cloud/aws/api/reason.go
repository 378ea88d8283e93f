package api

import (
	"slices"
	"strings"
)

// Reason is the reason of a condition, with a sentence for people.
type Reason struct{ Reason, Message string }

// CodeSpotRole is EC2's code for an account that has never bought spot instances and in which Tenon may not
// create the service-linked role for them.
const CodeSpotRole = "AuthFailure.ServiceLinkedRoleCreationNotPermitted"

// CodeNoAddresses is EC2's code for a full subnet.
const CodeNoAddresses = "InsufficientFreeAddressesInSubnet"

// SpreadLimit is part of the message for a spread placement group that already has its seven instances in a
// zone.
const SpreadLimit = "limit of instances in this spread placement group"

var denied = []string{"UnauthorizedOperation", "AccessDenied", "AuthFailure"}

// ReasonOf tries reasons in this order and takes the first whose texts are all in the error. (As in
// Karpenter.)
var reasons = []struct {
	texts []string
	why   Reason
}{
	{[]string{CodeSpotRole}, Reason{"SpotSLRCreationFailed", "User does not have sufficient permission to create the Spot ServiceLinkedRole to launch spot instances"}},
	{[]string{"InvalidParameter", "belong to different networks"}, Reason{"SecurityGroupSubnetVPCMismatch", "Security groups and subnets must be in the same VPC."}},
	{[]string{"iamInstanceProfile.name is invalid"}, Reason{"InstanceProfileNameInvalid", "Instance profile name used from EC2NodeClass status does not exist"}},
	{[]string{"InvalidLaunchTemplateId.NotFound"}, Reason{"LaunchTemplateNotFound", "Launch template used for instance launch wasn't found"}},
	{[]string{"User data is limited to"}, Reason{"UserDataSizeLimitExceeded", "Rendered user data exceeds the EC2 user data size limit"}},
	{[]string{"InvalidAMIID.Malformed"}, Reason{"InvalidAMIID", "AMI used for instance launch is invalid"}},
	{[]string{"InvalidAMIID.NotFound"}, Reason{"AMINotFound", "AMI used for instance launch either does not exist or you don't have permissions to use it"}},
	{[]string{"RequestLimitExceeded"}, Reason{"RequestLimitExceeded", "Request limit exceeded"}},
	{[]string{"InternalError"}, Reason{"InternalError", "An internal error has occurred"}},
	{[]string{"not eligible for Free Tier"}, Reason{"FreeTierIneligible", "The specified instance type is not eligible for Free Tier"}},
	{[]string{"MaxFleetCountExceeded"}, Reason{"FleetQuotaExceeded", "A fleet launch was requested but this would exceed your fleet request quota"}},
	{[]string{"PendingVerification"}, Reason{"AccountPendingVerification", "An instance launch was requested but the request for launching resources in this region is still being verified"}},
	{[]string{"MaxSpotInstanceCountExceeded"}, Reason{"SpotQuotaExceeded", "A spot instance launch was requested but this would exceed your spot instance quota"}},
	{[]string{"VcpuLimitExceeded"}, Reason{"VCPULimitExceeded", "An instance was requested that would exceed your VCPU quota"}},
	{[]string{CodeNoAddresses}, Reason{CodeNoAddresses, "There are not enough free IP addresses to launch an instance in this subnet"}},
}

// unauthorized lists the ways in which a permission can be missing.
var unauthorized = []struct {
	text string
	why  Reason
}{
	{"with an explicit deny in a permissions boundary", Reason{"Unauthorized", "User is not authorized to perform this operation due to a permission boundary"}},
	{"with an explicit deny in a service control policy", Reason{"Unauthorized", "User is not authorized to perform this operation due to a service control policy"}},
	{"Not authorized for images", Reason{"AMIAuthorizationFailure", "User is not authorized for AMI used in instance launch"}},
	{"with an explicit deny in a resource control policy", denies("a resource control policy")},
	{"with an explicit deny in a VPC endpoint policy", denies("a VPC endpoint policy")},
	{"with an explicit deny in a session", denies("a session policy")}, // AWS writes "session policy" and "sessions policy"
	{"with an explicit deny in a resource-based policy", denies("a resource-based policy")},
	{"with an explicit deny in an identity-based policy", denies("an identity-based policy")},
	{"because no permissions boundary allows", lacks("permissions boundary")},
	{"because no service control policy allows", lacks("service control policy")},
	{"because no VPC endpoint policy allows", lacks("VPC endpoint policy")},
	{"because no session policy allows", lacks("session policy")},
	{"because no resource-based policy allows", lacks("resource-based policy")},
	{"because no identity-based policy allows", lacks("identity-based policy")},
	{"", Reason{"Unauthorized", "User is not authorized to perform this operation; AWS does not say which policy denies it"}},
}

func denies(policy string) Reason {
	return Reason{"Unauthorized", "User is not authorized to perform this operation due to " + policy + " that denies it"}
}

func lacks(policy string) Reason {
	return Reason{"Unauthorized", "User is not authorized to perform this operation because no " + policy + " allows it"}
}

// ReasonOf says what the text of an error means.
func ReasonOf(text string) Reason {
	if why, found := firstReason(text); found && why.Reason == "SpotSLRCreationFailed" {
		return why
	}
	if slices.ContainsFunc(denied, func(word string) bool { return strings.Contains(text, word) }) {
		for _, way := range unauthorized {
			if strings.Contains(text, way.text) {
				return way.why
			}
		}
	}
	if why, found := firstReason(text); found {
		return why
	}
	return Reason{"LaunchFailed", "Instance launch failed"}
}

func firstReason(text string) (Reason, bool) {
	for _, w := range reasons {
		if !slices.ContainsFunc(w.texts, func(part string) bool { return !strings.Contains(text, part) }) {
			return w.why, true
		}
	}
	return Reason{}, false
}

// shortageCodes are the error codes by which a fleet says that an offer is not available at the moment. (As
// in Karpenter.)
var shortageCodes = []string{
	"InsufficientInstanceCapacity", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "UnfulfillableCapacity",
	"Unsupported", CodeNoAddresses, "MaxFleetCountExceeded", "ReservationCapacityExceeded",
}

// IsShortage reports whether a fleet's error says that an offer is not available.
func IsShortage(code string) bool { return slices.Contains(shortageCodes, code) }
