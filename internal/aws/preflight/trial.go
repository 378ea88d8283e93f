// Package preflight says what an AWS account lacks for the controller to work: credentials, permissions, subnets
// and security groups, quotas, the interruption queue and its rules.
//
// It changes nothing. It tries permissions with calls that read, or with dry runs of EC2, and names the
// actions that cannot be tried without creating something.
package preflight

import (
	"context"
	"slices"

	"tenon/cloud/aws/api"
	"tenon/internal/preflight"
)

const checkPermissions = "aws-permissions"

// trial is an action that is tried out.
type trial struct {
	action string // as policies name it
	means  string // what does not work without it
	call   func(context.Context) error
}

// refusals are what services call a permission that is missing.
var refusals = []string{"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthorizationError"}

// harmless are errors that only a caller with the permission gets: the object of the call does not exist.
var harmless = []string{"ResourceNotFoundException"}

// run tries all out, and tells of what is denied one by one, and of what is allowed in one finding.
func run(ctx context.Context, trials []trial) []preflight.Finding {
	var findings []preflight.Finding
	allowed := 0
	for _, t := range trials {
		err := t.call(ctx)
		switch code := api.Code(err); {
		case api.IsDryRun(err), api.IsNotFound(err), slices.Contains(harmless, code):
			allowed++
		case slices.Contains(refusals, code):
			findings = append(findings, preflight.Finding{Check: checkPermissions, Level: preflight.Failed, Text: t.action + " is denied: " + api.Message(err),
				Means: t.means, Remedy: "attach the policies that the controller needs to its role (docs/reference/preflight.md says which)"})
		default:
			findings = append(findings, preflight.Finding{Check: checkPermissions, Level: preflight.Warning, Text: t.action + " could not be tried: " + api.Explain(err),
				Means: "whether it is allowed is not known; " + t.means + " if it is not", Remedy: "see what AWS says, and run the preflight again"})
		}
	}
	if allowed > 0 {
		findings = append(findings, ok(checkPermissions, "%d of %d actions that were tried are allowed", allowed, len(trials)))
	}
	return findings
}
