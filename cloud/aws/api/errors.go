package api

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
)

// Code is how a service names an error; empty when no service answered.
func Code(err error) string {
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		return known.ErrorCode()
	}
	return ""
}

// Message is what a service says of an error, without the SDK's words around it.
func Message(err error) string {
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		return known.ErrorMessage()
	}
	return ""
}

// Explain says what went wrong in words that are the same each time: without numbers of
// requests and addresses, so that it can be written into a status.
func Explain(err error) string {
	if code := Code(err); code != "" {
		return code + ": " + Message(err)
	}
	return "AWS does not answer"
}

// notFound are the codes of things that are not there. (As in Karpenter.)
var notFound = []string{
	"InvalidCapacityReservationId.NotFound", "InvalidInstanceID.NotFound",
	"InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFound",
	// The same condition in the spelling of the Query protocols.
	"InvalidLaunchTemplateId.NotFoundException", "AWS.SimpleQueueService.NonExistentQueue",
	"QueueDoesNotExist", "NoSuchEntity", "NoSuchEntityException", "ParameterNotFound",
	"InvalidPlacementGroup.Unknown",
}

// IsNotFound reports whether the thing that a call was about is not there.
func IsNotFound(err error) bool { return slices.Contains(notFound, Code(err)) }

// IsDryRun reports whether a dry run would have worked: EC2 says so in an error.
func IsDryRun(err error) bool { return err == nil || Code(err) == "DryRunOperation" }

// IsUnauthorized reports whether a permission is missing.
func IsUnauthorized(err error) bool { return Code(err) == "UnauthorizedOperation" }

// IsThrottled reports whether there were too many calls.
func IsThrottled(err error) bool {
	_, throttle := retry.DefaultThrottleErrorCodes[Code(err)]
	return throttle
}

// IsServerFault reports whether the service says that the fault is its own.
func IsServerFault(err error) bool {
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		return known.ErrorFault() == smithy.FaultServer || strings.HasPrefix(known.ErrorCode(), "InternalError")
	}
	return false
}
