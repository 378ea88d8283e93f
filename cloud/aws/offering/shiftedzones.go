package offering

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"k8s.io/utils/clock"

	"tenon/cloud/aws/api"
)

// ShiftedZones are the zones that traffic is led away from, as ARC zonal shift said last: no
// node is launched there until the shift is over. It may be used by many goroutines.
type ShiftedZones struct {
	client  api.ZonalShift
	cluster func(context.Context) (arn string, err error)
	clock   clock.PassiveClock

	mu       sync.Mutex
	ends     map[string]time.Time // by ID of the zone
	shifted  map[string]bool
	told     map[string]bool // by the last Update
	revision uint64
}

// NewShiftedZones watches a cluster, of which no zone is shifted yet.
func NewShiftedZones(client api.ZonalShift, c clock.PassiveClock, cluster func(context.Context) (arn string, err error)) *ShiftedZones {
	return &ShiftedZones{client: client, cluster: cluster, clock: c, ends: map[string]time.Time{}, shifted: map[string]bool{}, told: map[string]bool{}}
}

// ZoneShift is a zone that traffic is led away from since the last look, or no longer is.
type ZoneShift struct {
	ZoneID string
	Active bool
}

// Update asks ARC, and returns what has changed, in the order of the zones. A shift that ARC does not list
// any more is over.
func (w *ShiftedZones) Update(ctx context.Context) ([]ZoneShift, error) {
	arn, err := w.cluster(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := w.client.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: aws.String(arn)})
	if err != nil {
		return nil, fmt.Errorf("ask for zonal shifts of %s: %w", arn, err)
	}
	ends := map[string]time.Time{}
	for _, s := range answer.ZonalShifts {
		if s.AppliedStatus == types.AppliedStatusApplied && s.ExpiryTime != nil {
			ends[aws.ToString(s.AwayFrom)] = *s.ExpiryTime
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.told
	w.ends = ends
	w.turn()
	w.told = w.shifted
	return zoneShifts(before, w.told), nil
}

// Shifted are the zones that traffic is led away from now, by ID, and a number that is
// another one after every change. The map must not be changed.
func (w *ShiftedZones) Shifted() (zoneIDs map[string]bool, revision uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn()
	return w.shifted, w.revision
}

// turn updates the shifted zones: shifts expire. The caller holds the lock.
func (w *ShiftedZones) turn() {
	now := w.clock.Now()
	shifted := map[string]bool{}
	for zone, end := range w.ends {
		if now.Before(end) {
			shifted[zone] = true
		}
	}
	if !maps.Equal(shifted, w.shifted) {
		w.shifted = shifted
		w.revision++
	}
}

func zoneShifts(before, after map[string]bool) []ZoneShift {
	var all []ZoneShift
	for zone := range after {
		if !before[zone] {
			all = append(all, ZoneShift{zone, true})
		}
	}
	for zone := range before {
		if !after[zone] {
			all = append(all, ZoneShift{zone, false})
		}
	}
	slices.SortFunc(all, func(a, b ZoneShift) int {
		if a.ZoneID < b.ZoneID {
			return -1
		}
		return 1 // no zone is there twice
	})
	return all
}
