package patch

import "sigs.k8s.io/controller-runtime/pkg/client"

// lock is a patch from an object as it was read, which the API server refuses if the object has
// changed since. Unlike a patch of the client library, it returns its version without being encoded:
// see internal/versionguard.
func lock(base client.Object) client.Patch {
	return locked{client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}), base}
}

type locked struct {
	client.Patch
	base client.Object
}

// ForVersion is the version of the object to which the patch applies.
func (l locked) ForVersion() string { return l.base.GetResourceVersion() }

// Plain is the patch of the client library.
func (l locked) Plain() client.Patch { return l.Patch }
