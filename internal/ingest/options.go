package ingest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/label"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/clusterautoscaler"
)

// Options are what a translation depends on besides the objects.
type Options struct {
	// Now is the time of the snapshot.
	Now time.Time
	// Settings are copied into the snapshot, except the vocabulary.
	Settings snapshot.Settings
	// Vocabulary says how labels are read and which ones users may write. It must know
	// the words of the cloud; see requirement.Core.
	Vocabulary requirement.Vocabulary
	// Catalog finds the offerings of a pool. class is nil when the pool's node class was not given. An
	// error is the reason why the pool cannot be used. Pools that share a catalogue should get the
	// same pointer: it is stored once. Without this function no pool can be used.
	Catalog func(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error)
	// Managed says whether node classes of this group and kind are ours. Nil means all.
	Managed func(group, kind string) bool
	// NodePrice is what a node costs an hour beyond its machine, unless its pool says it.
	NodePrice model.Money
	// ReservationLabel is the cloud's label that holds the ID of a capacity reservation.
	ReservationLabel string
	// DefaultSpreads are the cluster's default topology spread constraints.
	DefaultSpreads []corev1.TopologySpreadConstraint
	// UnsupportedDrivers and UnsupportedTopologyKeys of volumes make a pod unplaceable.
	UnsupportedDrivers      requirement.KeySet
	UnsupportedTopologyKeys requirement.KeySet
	// Overlays turns NodeOverlays on.
	Overlays bool
	// Buffers turns CapacityBuffers on.
	Buffers bool
	// Bookings says which ProvisioningRequests are read.
	Bookings Bookings
	// ScaleDown holds the rules for removing nodes of groups in mode cas that set none; nil if there are no such
	// groups.
	ScaleDown *snapshot.ScaleDown
	// GroupTaints are those that nodes of groups have for a while.
	GroupTaints clusterautoscaler.Taints
	// OwnersUnread says that the controllers of pods are not among the objects, so that the absence of one
	// means nothing.
	OwnersUnread bool
	// Schedulers are those of which pods get new nodes; none means all.
	Schedulers []string
	// Unjudged counts pods that no scheduler has looked at yet as pending, if the scheduler's answer
	// can be foreseen.
	Unjudged bool
	// Files says that the objects come from manifests rather than from an API server, so that
	// statuses, provider IDs, default values and claims for volumes may be missing: a pod without a
	// node is pending, a pool without status is ready, and a missing volume claim is as its
	// template says.
	Files bool
}

// labelRules returns the vocabulary in the form that package api reads.
func labelRules(v requirement.Vocabulary) label.Rules {
	words := v.Words()
	return label.Join(label.Data{
		WellKnown:         words.WellKnown,
		RestrictedDomains: words.RestrictedDomains,
		RestrictedKeys:    words.RestrictedKeys,
		Aliases:           words.Aliases,
		KnownValues:       words.KnownValues,
	})
}
