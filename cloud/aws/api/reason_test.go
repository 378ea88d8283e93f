package api_test

import (
	"strings"
	"testing"

	"tenon/cloud/aws/api"
)

// Every text that people may search for maps to its reason. The quotes are AWS's own: of the EC2 API Reference, "Error codes for the Amazon EC2
// API", where no other document is named.
func TestOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// AWS ParallelCluster User Guide, "Troubleshooting": "An error occurred (AuthFailure.ServiceLinkedRoleCreationNotPermitted) when calling the
		// RunInstances operation: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances."
		"AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.": "SpotSLRCreationFailed",
		// "You are not authorized to perform this operation. Check your IAM policies, and ensure that you are using the correct credentials."
		"UnauthorizedOperation: You are not authorized to perform this operation.": "Unauthorized",
		// "The provided credentials could not be validated. You might not be authorized to carry out the request; for example, … trying to use an AMI
		// for which you do not have permissions."
		"AuthFailure: AWS was not able to validate the provided access credentials": "Unauthorized",
		"AuthFailure: Not authorized for images: [ami-1]":                           "AMIAuthorizationFailure",
		"AccessDenied: Not authorized for images: [ami-1]":                          "AMIAuthorizationFailure",
		// "A parameter specified in a request is not valid … For example, if you are launching an instance, you can't specify a security group and
		// subnet that are in different VPCs."
		"InvalidParameter: Security group sg and subnet s belong to different networks.": "SecurityGroupSubnetVPCMismatch",
		// "A value specified in a parameter is not valid, is unsupported, or cannot be used. … The returned message provides an explanation of the error
		// value." The message is as accounts have seen it; AWS's documents do not have it.
		"InvalidParameterValue: Value (x) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name": "InstanceProfileNameInvalid",
		// "The specified launch template ID does not exist. Ensure that you specify the AWS Region in which the launch template is located."
		"InvalidLaunchTemplateId.NotFound": "LaunchTemplateNotFound",
		// EC2 User Guide, "Run commands when you launch an EC2 instance": "User data is limited to 16 KB, in raw form, before it is base64-encoded."
		// Accounts have seen this message with both codes.
		"InvalidUserData.Malformed: User data is limited to 16384 bytes": "UserDataSizeLimitExceeded",
		"InvalidParameterValue: User data is limited to 16384 bytes":     "UserDataSizeLimitExceeded",
		// "The specified AMI ID is malformed. Ensure that you provide the full AMI ID, in the form ami-xxxxxxxxxxxxxxxxx."
		"InvalidAMIID.Malformed": "InvalidAMIID",
		// "The specified AMI doesn't exist. … This error might also occur if the AMI doesn't meet your Allowed AMIs criteria."
		"InvalidAMIID.NotFound": "AMINotFound",
		// "The maximum request rate permitted by the Amazon EC2 APIs has been exceeded for your account."
		"RequestLimitExceeded": "RequestLimitExceeded",
		// "An internal error has occurred. Retry your request"
		"InternalError": "InternalError",
		// As accounts on AWS's free plan have seen it; AWS's documents do not have it.
		"InvalidParameterCombination: The specified instance type is not eligible for Free Tier.": "FreeTierIneligible",
		// The page does not list it; Karpenter v1.9 knows it.
		"MaxFleetCountExceeded": "FleetQuotaExceeded",
		// "Your account is pending verification. Until the verification process is complete, you may not be able to carry out requests with this account."
		"PendingVerification": "AccountPendingVerification",
		// "You've reached the limit on the number of Spot Instances that you can launch. The limit depends on the instance type."
		"MaxSpotInstanceCountExceeded": "SpotQuotaExceeded",
		// "You've reached the limit on the number of vCPUs (virtual processing units) assigned to the running instances in your account."
		"VcpuLimitExceeded": "VCPULimitExceeded",
		// "The specified subnet does not contain enough free private IP addresses to fulfill your request."
		"InsufficientFreeAddressesInSubnet": "InsufficientFreeAddressesInSubnet",
		"a code that is not known":          "LaunchFailed",
	} {
		if got := api.ReasonOf(text); got.Reason != want || got.Message == "" {
			t.Errorf("%s is %+v, want %s", text, got, want)
		}
	}
}

// The message names the policy that AWS names. IAM User Guide, "Troubleshoot access denied error messages": "When a policy explicitly denies access
// because the policy contains a Deny statement, then AWS includes the phrase with an explicit deny in a type policy in the access denied error
// message. When the policy implicitly denies access, then AWS includes the phrase because no type policy allows the action action". The texts are
// that page's examples.
func TestDenyingPolicyIsNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"with an explicit deny in a permissions boundary":                                            "due to a permission boundary",
		"with an explicit deny in a permissions boundary: arn:aws:iam::1:policy/b":                   "due to a permission boundary", // as EC2 says it today
		"because no permissions boundary allows the codedeploy:ListDeployments action":               "because no permissions boundary allows it",
		"with an explicit deny in a service control policy":                                          "due to a service control policy",
		"because no service control policy allows the codecommit:ListRespositories action":           "because no service control policy allows it",
		"with an explicit deny in a resource control policy":                                         "due to a resource control policy that denies it",
		"with an explicit deny in a VPC endpoint policy":                                             "due to a VPC endpoint policy that denies it",
		"because no VPC endpoint policy allows the codecommit:ListRepositories action":               "because no VPC endpoint policy allows it",
		"with an explicit deny in a sessions policy":                                                 "due to a session policy that denies it",
		"because no session policy allows the codecommit:ListRepositories action":                    "because no session policy allows it",
		"with an explicit deny in a resource-based policy":                                           "due to a resource-based policy that denies it",
		"because no resource-based policy allows the secretsmanager:GetSecretValue action":           "because no resource-based policy allows it",
		"with an explicit deny in an identity-based policy":                                          "due to an identity-based policy that denies it",
		"because no identity-based policy allows the codecommit:ListRepositories action":             "because no identity-based policy allows it",
		"You are not authorized to perform this operation. Encoded authorization failure message: x": "; AWS does not say which policy denies it",
	} {
		got := api.ReasonOf("UnauthorizedOperation: User: arn:aws:iam::1:role/r is not authorized to perform: ec2:CreateFleet " + text)
		if got.Reason != "Unauthorized" || !strings.HasSuffix(got.Message, "to perform this operation "+want) && !strings.HasSuffix(got.Message, "to perform this operation"+want) {
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
