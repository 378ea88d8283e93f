package aws_test

import (
	"testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/requirement"
)

// A node is on shared hardware unless the claim insists on dedicated hardware, and its label says what
// EC2 says.
func TestTenancy(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		asked []string
		want  string
	}{
		"nothing is asked":         {nil, awsv1.TenancyDefault},
		"both will do":             {[]string{awsv1.TenancyDedicated, awsv1.TenancyDefault}, awsv1.TenancyDefault},
		"dedicated is insisted on": {[]string{awsv1.TenancyDedicated}, awsv1.TenancyDedicated},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNear(t, classOf("ready", "al2023@latest"))
			p := n.connect()
			n.ready(p, "ready")
			claim := request("1")
			if tc.asked != nil {
				claim.Requirements = claim.Requirements.With(requirement.New(awsv1.LabelInstanceTenancy, requirement.In, tc.asked...))
			}
			bought := got(p.Create(t.Context(), claim))(t)
			seen := got(p.Get(t.Context(), bought.ProviderID))(t)
			if said, is := bought.Labels[awsv1.LabelInstanceTenancy], seen.Labels[awsv1.LabelInstanceTenancy]; said != tc.want || is != tc.want {
				t.Errorf("the label says %q, EC2 says %q, want %q", said, is, tc.want)
			}
		})
	}
}
