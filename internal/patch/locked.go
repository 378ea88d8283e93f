package patch

import "sigs.k8s.io/controller-runtime/pkg/client"

// lock is a patch from an object as it was looked at, which the API server refuses if the object has
// changed since. Unlike a patch of the client library, it gives its version without being encoded: see
// internal/versionguard.
func lock(base client.Object) client.Patch {
	return locked{client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}), base}
}

type locked struct {
	client.Patch
	base client.Object
}

// ForVersion is the version of the object that the patch is for.
func (l locked) ForVersion() string { return l.base.GetResourceVersion() }

// Plain is the patch as the client library makes it.
func (l locked) Plain() client.Patch { return l.Patch }
