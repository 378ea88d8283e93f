package dryrun

import (
	"fmt"
	"strings"

	"tenon/cloud/aws/api"
	"tenon/cloud/aws/awserror"
)

// judgeTemplate says what it means that a launch template could not be made.
func judgeTemplate(err error) (Result, error) {
	if api.Code(err) == "InvalidUserData.Malformed" && strings.Contains(api.Message(err), "User data is limited to") {
		return Result{
			Reason:  "UserDataSizeLimitExceeded",
			Message: "ec2:CreateLaunchTemplate rejected the rendered user data as too large: " + awserror.Of(err.Error()).Message,
		}, nil
	}
	return judge(err, "CreateLaunchTemplate")
}

// judge says what an error of a trial means. Only a missing permission is a verdict: what
// passes by itself is tried again at once, and anything else is an error, because it may
// say nothing of the class. (As in Karpenter.)
func judge(err error, operation string) (Result, error) {
	switch {
	case api.IsUnauthorized(err):
		return Result{
			Reason:  operation + "AuthCheckFailed",
			Message: fmt.Sprintf("Controller isn't authorized to call ec2:%s: %s", operation, awserror.Of(err.Error()).Message),
		}, nil
	case api.IsThrottled(err), api.IsServerFault(err), awaitsProfile(err):
		return Result{}, fmt.Errorf("%w: %w", ErrAgain, err)
	}
	return Result{}, fmt.Errorf("try out %s: %w", operation, err)
}

// awaitsProfile: a new instance profile is not known everywhere at once.
func awaitsProfile(err error) bool {
	return api.Code(err) == "InvalidParameterValue" && strings.Contains(api.Message(err), "Invalid IAM Instance Profile name")
}
