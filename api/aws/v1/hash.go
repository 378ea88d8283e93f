package v1

import (
	"fmt"

	"tenon/api/fingerprint"
)

// HashVersion changes when equal classes would get another hash than before. Claims of another
// version are then stamped anew instead of being replaced.
const HashVersion = "v5"

// Hash returns the fingerprint of what, when it changes, drifts every node of the class: the
// settings that are not selectors, the family that they resolve to, and the cluster's certificate
// authority, which is part of the nodes' user data (base64, empty if it is not known).
func (c *EC2NodeClass) Hash(certificateAuthority string) (string, error) {
	family, err := c.Spec.Family()
	if err != nil {
		return "", fmt.Errorf("hash EC2NodeClass %s: %w", c.Name, err)
	}
	return fingerprint.Of([]any{c.Spec, family, certificateAuthority}), nil
}
