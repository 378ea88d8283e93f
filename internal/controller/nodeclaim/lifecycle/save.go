package lifecycle

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/patch"
)

// save writes what differs from before: metadata first, then the status, each only if the object is still
// the version that was looked at. A crash between the two repeats the step that was under way, because the
// status is what says that a step is done. Without the lock a late writer would undo what others have
// written into the list of conditions. Afterwards claim is what the API server has.
func (l *lifecycle) save(ctx context.Context, before, claim *karpenterv1.NodeClaim) error {
	wanted := claim.Status.DeepCopy()
	if !equality.Semantic.DeepEqual(before.ObjectMeta, claim.ObjectMeta) {
		before.Status.DeepCopyInto(&claim.Status)
		if err := patch.IfUnchanged(ctx, l.kit, before, claim); err != nil {
			return err
		}
	}
	if equality.Semantic.DeepEqual(before.Status, *wanted) {
		return nil
	}
	base := claim.DeepCopy()
	before.Status.DeepCopyInto(&base.Status)
	claim.Status = *wanted
	return patch.StatusIfUnchanged(ctx, l.kit, base, claim)
}
