package launch

import (
	"testing"

	"tenon/cloud"
	"tenon/cloud/aws/api"
)

// What pods wait for is bought before what only makes a cluster cheaper.
func TestPriority(t *testing.T) {
	t.Parallel()
	if wanted, replacing := priority(&cloud.Claim{}), priority(&cloud.Claim{Replaces: true}); wanted <= replacing || wanted >= api.Terminate {
		t.Errorf("for pods %d, for replacements %d", wanted, replacing)
	}
}
