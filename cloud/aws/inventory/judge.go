package inventory

import (
	"fmt"
	"strings"

	"tenon/cloud/aws/api"
)

// judgeTemplate interprets an error from making a launch template.
func judgeTemplate(err error) (DryRunResult, error) {
	// EC2 has given this message with the codes InvalidUserData.Malformed and InvalidParameterValue.
	if strings.Contains(api.Message(err), "User data is limited to") {
		return DryRunResult{
			Reason:  "UserDataSizeLimitExceeded",
			Message: "ec2:CreateLaunchTemplate rejected the rendered user data as too large: " + api.ReasonOf(err.Error()).Message,
		}, nil
	}
	return judge(err, "CreateLaunchTemplate")
}

// judge interprets an error of a dry run. Only a missing permission fails the class. A transient error makes
// the caller try again soon; any other is returned as an error, because it may have nothing to do with the
// class. (As in Karpenter.)
func judge(err error, operation string) (DryRunResult, error) {
	switch {
	case api.IsUnauthorized(err):
		return DryRunResult{
			Reason:  operation + "AuthCheckFailed",
			Message: fmt.Sprintf("Controller isn't authorized to call ec2:%s: %s", operation, api.ReasonOf(err.Error()).Message),
		}, nil
	case api.IsThrottled(err), api.IsServerFault(err), lacksProfile(err):
		return DryRunResult{}, fmt.Errorf("%w: %w", ErrAgain, err)
	}
	return DryRunResult{}, fmt.Errorf("try out %s: %w", operation, err)
}

// lacksProfile reports whether EC2 does not know an instance profile. IAM takes a while to spread a new one.
func lacksProfile(err error) bool {
	return api.Code(err) == "InvalidParameterValue" && strings.Contains(api.Message(err), "Invalid IAM Instance Profile name")
}
