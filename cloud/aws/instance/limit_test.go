package instance

import "testing"

// TestCallsKeepToTheLimitsOfEC2: no call names more instances than the comments of the AWS SDK's client
// for EC2, v1.344.0, allow. Each case quotes them.
func TestCallsKeepToTheLimitsOfEC2(t *testing.T) {
	t.Parallel()
	for quote, c := range map[string]struct{ ours, most int }{
		`TerminateInstancesInput.InstanceIds: "Constraints: Up to 1000 instance IDs. We recommend breaking up this request into smaller batches."`: {mostEnded, 1000},
		`CreateTagsInput.Resources: "Constraints: Up to 1000 resource IDs. We recommend breaking up this request into smaller batches."`:           {mostTagged, 1000},
	} {
		if c.ours < 1 || c.ours > c.most {
			t.Errorf("a call names up to %d, but %s", c.ours, quote)
		}
	}
}
