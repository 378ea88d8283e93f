package v1

import (
	"fmt"

	"tenon/api/fingerprint"
)

// HashVersion changes when equal classes would get a different hash than before. Claims with an older
// version then get the new hash instead of being replaced.
const HashVersion = "v5"

// Hash returns the fingerprint of the settings whose change makes every node of the class drift: those that are
// not selectors, the family that they resolve to, and the cluster's certificate
// authority, which is part of the nodes' user data (base64, empty if it is not known).
func (c *EC2NodeClass) Hash(certificateAuthority string) (string, error) {
	family, err := c.Spec.Family()
	if err != nil {
		return "", fmt.Errorf("hash EC2NodeClass %s: %w", c.Name, err)
	}
	return fingerprint.Of([]any{c.Spec, family, certificateAuthority}), nil
}
