package inventory

import (
	"context"
	"fmt"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/ami"
	"tenon/cloud/aws/capacityreservation"
	"tenon/cloud/aws/offering"
)

// LearnMemory notes the memory of a node, and reports whether that is news. It counts only nodes that run the
// image that their type boots now: another image may leave more or less memory.
func (s *Inventory) LearnMemory(class *awsv1.EC2NodeClass, instanceType, imageID string, bytes int64) (news bool, err error) {
	offer, err := s.Catalogs.Offer(class)
	if err != nil {
		return false, fmt.Errorf("note the memory of a node of type %s: %w", instanceType, err)
	}
	for i := range offer.Catalog.Types {
		t := &offer.Catalog.Types[i]
		if t.Name != instanceType {
			continue
		}
		current, found := ami.NewChooser(class.Status.AMIs).For(t.Requirements)
		if !found || current.ID != imageID || bytes <= 0 {
			return false, nil
		}
		return s.Memory.Seen(offering.ImagesOf(class.Status.AMIs), instanceType, bytes), nil
	}
	return false, nil
}

// Encode returns all learned memory figures as text.
func (s *Inventory) Encode() map[string]string { return s.Memory.Encode() }

// Restore loads what Encode wrote.
func (s *Inventory) Restore(texts map[string]string) { s.Memory.Restore(texts) }

// Expiring reports whether a capacity block ends so soon that its instances must go.
func (s *Inventory) Expiring(ctx context.Context, reservation string) (bool, error) {
	found, there, err := s.Reservations.ByID(ctx, reservation)
	return there && capacityreservation.Expiring(found, s.Clock.Now()), err
}
