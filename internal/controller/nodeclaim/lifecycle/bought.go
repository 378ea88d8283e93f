package lifecycle

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
)

// bought are the claims on which this process has written what it bought for them, until the cache shows that. A launch takes
// two writes, and the watch tells of the first before the second is done: without this, every claim would be
// read again from the API server, to find out that it needs nothing.
type bought struct {
	mu   sync.Mutex
	uids map[string]types.UID
}

func (b *bought) note(claim *karpenterv1.NodeClaim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.uids == nil {
		b.uids = map[string]types.UID{}
	}
	b.uids[claim.Name] = claim.UID
}

func (b *bought) holds(claim *karpenterv1.NodeClaim) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.uids[claim.Name] == claim.UID && claim.UID != ""
}

func (b *bought) forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.uids, name)
}
