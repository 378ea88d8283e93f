package inventory

import (
	"fmt"
	"strings"

	"tenon/cloud/aws/api"
)

// judgeTemplate says what it means that a launch template could not be made.
func judgeTemplate(err error) (DryRunResult, error) {
	if api.Code(err) == "InvalidUserData.Malformed" && strings.Contains(api.Message(err), "User data is limited to") {
		return DryRunResult{
			Reason:  "UserDataSizeLimitExceeded",
			Message: "ec2:CreateLaunchTemplate rejected the rendered user data as too large: " + api.ReasonOf(err.Error()).Message,
		}, nil
	}
	return judge(err, "CreateLaunchTemplate")
}

// judge says what an error of a dry run means. Only a missing permission counts: what
// passes by itself is tried again at once, and anything else is an error, because it may
// say nothing of the class. (As in Karpenter.)
func judge(err error, operation string) (DryRunResult, error) {
	switch {
	case api.IsUnauthorized(err):
		return DryRunResult{
			Reason:  operation + "AuthCheckFailed",
			Message: fmt.Sprintf("Controller isn't authorized to call ec2:%s: %s", operation, api.ReasonOf(err.Error()).Message),
		}, nil
	case api.IsThrottled(err), api.IsServerFault(err), awaitsProfile(err):
		return DryRunResult{}, fmt.Errorf("%w: %w", ErrAgain, err)
	}
	return DryRunResult{}, fmt.Errorf("try out %s: %w", operation, err)
}

// awaitsProfile: a new instance profile is not known everywhere at once.
func awaitsProfile(err error) bool {
	return api.Code(err) == "InvalidParameterValue" && strings.Contains(api.Message(err), "Invalid IAM Instance Profile name")
}
