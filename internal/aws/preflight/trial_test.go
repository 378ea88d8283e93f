package preflight

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/smithy-go"

	"tenon/internal/preflight"
)

// An answer of AWS says whether the caller has the permission, has it not, or that it is not known.
func TestTrials(t *testing.T) {
	t.Parallel()
	api := func(code string) error { return &smithy.GenericAPIError{Code: code, Message: "because"} }
	for name, tc := range map[string]struct {
		err  error
		want preflight.Level
	}{
		"it worked":                  {nil, preflight.OK},
		"the rehearsal worked":       {api("DryRunOperation"), preflight.OK},
		"there is nothing like it":   {api("NoSuchEntity"), preflight.OK},
		"EC2 refuses":                {api("UnauthorizedOperation"), preflight.Failed},
		"IAM refuses":                {api("AccessDenied"), preflight.Failed},
		"SSM refuses":                {api("AccessDeniedException"), preflight.Failed},
		"a parameter is wrong":       {api("InvalidParameterValue"), preflight.Warning},
		"AWS cannot be reached":      {errors.New("no route to host"), preflight.Warning},
		"there were too many calls ": {api("RequestLimitExceeded"), preflight.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t.Context(), []trial{{"ec2:RunInstances", "no node can be launched", func(context.Context) error { return tc.err }}})
			if len(got) != 1 || got[0].Level != tc.want {
				t.Errorf("%+v, want %s", got, tc.want)
			}
		})
	}
}
