package capacityreservation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instancetype"
	"tenon/cloud/aws/network"
)

const (
	// holds is how long the finder remembers the answer to a query. (As in Karpenter.)
	holds = time.Minute
	// warning is how long before its end a capacity block stops taking new instances: EC2 reclaims instances
	// half an hour before the end, and pods need time to leave.
	warning = 40 * time.Minute
)

// Finder finds reservations and updates Counts.
type Finder struct {
	ec2     api.EC2Reservations
	clock   clock.PassiveClock
	counts  *Counts
	queries *api.Cache[string, []types.CapacityReservation]
}

// New makes a finder.
func New(ec2 api.EC2Reservations, c clock.PassiveClock, counts *Counts) *Finder {
	return &Finder{ec2: ec2, clock: c, counts: counts, queries: api.NewCache[string, []types.CapacityReservation](c, holds)}
}

// Find returns the reservations that a class selects, in the form of the class's status.
func (f *Finder) Find(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.CapacityReservation, error) {
	var found []types.CapacityReservation
	for _, q := range queriesOf(class.Spec.CapacityReservationSelectorTerms) {
		answer, err := f.queries.Get(ctx, q.key, func(ctx context.Context) ([]types.CapacityReservation, error) { return f.ask(ctx, q) })
		if err != nil {
			return nil, fmt.Errorf("find the capacity reservations of class %s: %w", class.Name, err)
		}
		found = append(found, answer...)
	}
	return f.status(ctx, found), nil
}

// ByID returns the reservation with the ID; false if it does not exist or has ended.
func (f *Finder) ByID(ctx context.Context, id string) (awsv1.CapacityReservation, bool, error) {
	found, err := f.queries.Get(ctx, id, func(ctx context.Context) ([]types.CapacityReservation, error) { return f.ask(ctx, query{id: id}) })
	if err != nil {
		return awsv1.CapacityReservation{}, false, fmt.Errorf("find capacity reservation %s: %w", id, err)
	}
	all := f.status(ctx, found)
	if len(all) == 0 {
		return awsv1.CapacityReservation{}, false, nil
	}
	return all[0], true, nil
}

// query is one question to EC2: an ID, or filters.
type query struct {
	id      string
	filters []types.Filter
	key     string
}

// queriesOf returns a query for each term, and two for a term with an ID and other fields.
func queriesOf(terms []awsv1.CapacityReservationSelectorTerm) []query {
	var all []query
	for _, t := range terms {
		if t.ID != "" {
			all = append(all, query{id: t.ID, key: t.ID})
		}
		filters := network.TagFilters(t.Tags)
		if t.InstanceMatchCriteria != "" {
			filters = append(filters, network.Filter("instance-match-criteria", t.InstanceMatchCriteria))
		}
		if len(filters) == 0 {
			continue
		}
		if t.OwnerID != "" {
			filters = append(filters, network.Filter("owner-id", t.OwnerID))
		}
		key := ""
		for _, filter := range filters {
			key += fmt.Sprintf("%q=%q;", aws.ToString(filter.Name), filter.Values)
		}
		all = append(all, query{filters: filters, key: key})
	}
	return all
}

func (f *Finder) ask(ctx context.Context, q query) ([]types.CapacityReservation, error) {
	input := &ec2.DescribeCapacityReservationsInput{Filters: append(slices.Clone(q.filters), network.Filter("state", "active"))}
	if q.id != "" {
		input.CapacityReservationIds = []string{q.id}
	} else {
		input.MaxResults = aws.Int32(1000)
	}
	var found []types.CapacityReservation
	pages := ec2.NewDescribeCapacityReservationsPaginator(f.ec2, input)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if api.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, page.CapacityReservations...)
	}
	for _, r := range found {
		f.counts.Synced(aws.ToString(r.CapacityReservationId), int64(aws.ToInt32(r.AvailableInstanceCount)))
	}
	return found, nil
}

// status converts the reservations that have not ended, each once, sorted by ID.
func (f *Finder) status(ctx context.Context, found []types.CapacityReservation) []awsv1.CapacityReservation {
	now := f.clock.Now()
	var all []awsv1.CapacityReservation
	for _, r := range found {
		if r.EndDate != nil && !r.EndDate.After(now) {
			continue
		}
		made, err := reservationOf(r, now)
		if err != nil {
			logr.FromContextOrDiscard(ctx).Error(err, "capacity reservation is left out", "reservation", aws.ToString(r.CapacityReservationId))
			continue
		}
		all = append(all, made)
	}
	slices.SortFunc(all, func(a, b awsv1.CapacityReservation) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b awsv1.CapacityReservation) bool { return a.ID == b.ID })
}

func reservationOf(r types.CapacityReservation, now time.Time) (awsv1.CapacityReservation, error) {
	kind, criteria := string(r.ReservationType), string(r.InstanceMatchCriteria)
	if kind == "" {
		kind = awsv1.ReservationDefault
	}
	if kind != awsv1.ReservationDefault && kind != awsv1.ReservationCapacityBlock {
		return awsv1.CapacityReservation{}, fmt.Errorf("unknown type %q", kind)
	}
	if criteria != awsv1.ReservationOpen && criteria != awsv1.ReservationTargeted {
		return awsv1.CapacityReservation{}, fmt.Errorf("unknown match criteria %q", criteria)
	}
	made := awsv1.CapacityReservation{
		AvailabilityZone: aws.ToString(r.AvailabilityZone), ID: aws.ToString(r.CapacityReservationId),
		InstanceMatchCriteria: criteria, InstanceType: aws.ToString(r.InstanceType),
		Interruptible: aws.ToBool(r.Interruptible), OwnerID: aws.ToString(r.OwnerId),
		ReservationType: kind, State: awsv1.ReservationActive,
	}
	if r.EndDate != nil {
		end := metav1.NewTime(*r.EndDate)
		made.EndTime = &end
	}
	if Expiring(made, now) {
		made.State = awsv1.ReservationExpiring
	}
	return made, nil
}

// Expiring reports whether a capacity block ends so soon that its instances must go.
func Expiring(r awsv1.CapacityReservation, now time.Time) bool {
	return r.ReservationType == awsv1.ReservationCapacityBlock && r.EndTime != nil && !now.Before(r.EndTime.Add(-warning))
}

// Again returns when to look again: in a minute, or when the first reservation ends if that is sooner.
func Again(all []awsv1.CapacityReservation, now time.Time) time.Duration {
	next := holds
	for _, r := range all {
		if r.EndTime != nil {
			next = min(next, max(r.EndTime.Sub(now), 0))
		}
	}
	return next
}

// Offered converts the reservations of a class's status to those from which instancetype makes offers.
func (c *Counts) Offered(all []awsv1.CapacityReservation) []instancetype.Reservation {
	var offered []instancetype.Reservation
	for _, r := range all {
		offered = append(offered, instancetype.Reservation{
			ID: r.ID, InstanceType: r.InstanceType, Zone: r.AvailabilityZone, Kind: r.ReservationType,
			Interruptible: r.Interruptible, Available: c.Available(r.ID),
			Expiring: r.State == awsv1.ReservationExpiring,
		})
	}
	return offered
}
