package launch

import (
	"testing"

	"tenon/cloud"
	"tenon/cloud/aws/api"
)

// Launches for waiting pods have a higher priority than launches that only make a cluster cheaper.
func TestPriority(t *testing.T) {
	t.Parallel()
	if wanted, replacing := priority(&cloud.Claim{}), priority(&cloud.Claim{Replaces: true}); wanted <= replacing || wanted >= api.Terminate {
		t.Errorf("for pods %d, for replacements %d", wanted, replacing)
	}
}
