package api

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
)

// Code is the service's name for an error; empty when no service answered.
func Code(err error) string {
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		return known.ErrorCode()
	}
	return ""
}

// Message is the service's message about an error, without the text that the SDK puts around it.
func Message(err error) string {
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		return known.ErrorMessage()
	}
	return ""
}

// Explain says what went wrong in the same words each time, without request IDs and addresses, so that the
// text can be written into a status.
func Explain(err error) string {
	if code := Code(err); code != "" {
		return code + ": " + Message(err)
	}
	return "AWS does not answer"
}

// notFound lists the codes for things that do not exist. (As in Karpenter.)
var notFound = []string{
	"InvalidCapacityReservationId.NotFound", "InvalidInstanceID.NotFound",
	"InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFound",
	// The same condition in the spelling of the Query protocols.
	"InvalidLaunchTemplateId.NotFoundException", "AWS.SimpleQueueService.NonExistentQueue",
	"QueueDoesNotExist", "NoSuchEntity", "NoSuchEntityException", "ParameterNotFound",
	"InvalidPlacementGroup.Unknown",
}

// IsNotFound reports whether the subject of a call does not exist.
func IsNotFound(err error) bool { return slices.Contains(notFound, Code(err)) }

// IsDryRun reports whether a dry run would have succeeded: EC2 reports that as an error.
func IsDryRun(err error) bool { return err == nil || Code(err) == "DryRunOperation" }

// IsUnauthorized reports whether a permission is missing.
func IsUnauthorized(err error) bool { return Code(err) == "UnauthorizedOperation" }

// IsThrottled reports whether the service throttled the call.
func IsThrottled(err error) bool {
	_, throttle := retry.DefaultThrottleErrorCodes[Code(err)]
	return throttle
}

// serverFaults lists EC2's codes for errors of the service. (EC2 API Reference, "Server error codes".) The SDK
// does not say for errors of EC2 which side is to blame.
var serverFaults = []string{"InternalFailure", "ServerInternal", "ServiceUnavailable", "Unavailable"}

// IsServerFault reports whether the service blames itself for the error.
func IsServerFault(err error) bool {
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		code := known.ErrorCode()
		return known.ErrorFault() == smithy.FaultServer || strings.HasPrefix(code, "InternalError") || slices.Contains(serverFaults, code)
	}
	return false
}
