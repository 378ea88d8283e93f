package aws

import (
	"strings"
	"testing"
)

// TestRegionNames: a word that cannot be the name of a region is refused, with the regions that are known. A region that is not in the
// tables may be new.
func TestRegionNames(t *testing.T) {
	t.Parallel()
	for region, good := range map[string]bool{
		"": true, "us-west-2": true, "us-gov-east-1": true, "xx-new-9": true,
		"mars": false, "us-west": false, "us-west-2a": false, "US-WEST-2": false, "-1": false,
	} {
		var s Settings
		_, err := s.market(region)
		if (err == nil) != good {
			t.Errorf("region %q: error %v", region, err)
		}
		if err != nil && !strings.Contains(err.Error(), "us-west-2") {
			t.Errorf("region %q: the error names no known region: %v", region, err)
		}
	}
}
