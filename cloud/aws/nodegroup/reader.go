package nodegroup

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/clock"

	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
)

const (
	// sizesHold is how long the reader trusts sizes and instances, as in Cluster Autoscaler.
	sizesHold = time.Minute
	// changesHold is the same while a group has more or fewer instances than it should have.
	changesHold = 10 * time.Second
	// templateHolds is how long the reader trusts what a group launches, as long as the group's own settings
	// stay the same.
	templateHolds = 20 * time.Minute
	// lookups is how many templates a minute looks up at most. A template takes up to four
	// calls, so five hundred groups cost at most a hundred calls a minute, at the start and later.
	lookups = 25
)

// Options configure a reader.
type Options struct {
	Clients   api.GroupClients
	Clock     clock.PassiveClock
	Discovery Discovery
	Region    string
	// Types returns the known instance types; Prices returns their current prices.
	Types          func() []facts.Type
	Prices         func() instancetype.Prices
	MemoryOverhead float64
	ReservedENIs   int64
}

// Reader reads groups, and changes their sizes. It may be used by many goroutines; one of them asks AWS at a time.
type Reader struct {
	Options

	mu        sync.Mutex
	groups    []cloud.Group
	looked    time.Time
	lookedUp  time.Time           // when templates were looked up last
	templates map[string]template // by the group's name
	asked     map[string]asked    // of groups that lack instances
}

// New makes a reader that has not read anything yet.
func New(o Options) *Reader { return &Reader{Options: o, templates: map[string]template{}} }

var _ cloud.Groups = (*Reader)(nil)

// Named implements cloud.GroupReader.
func (r *Reader) Named() []string {
	names := make([]string, 0, len(r.Discovery.Static))
	for _, s := range r.Discovery.Static {
		names = append(names, s.Name)
	}
	return names
}

// Groups implements cloud.GroupReader.
func (r *Reader) Groups(ctx context.Context) ([]cloud.Group, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Clock.Now()
	if !r.looked.IsZero() && now.Before(r.looked.Add(r.holds())) {
		return r.groups, nil
	}
	described, err := r.describe(ctx)
	if err != nil {
		return nil, err
	}
	if r.lookedUp.IsZero() || !now.Before(r.lookedUp.Add(sizesHold)) {
		r.refreshTemplates(ctx, described, now)
		r.lookedUp = now
	}
	out := make([]cloud.Group, 0, len(described))
	for i := range described {
		out = append(out, r.group(&described[i]))
	}
	r.findFailures(ctx, out, now)
	for _, s := range r.Discovery.Static {
		if !slices.ContainsFunc(out, func(g cloud.Group) bool { return g.Name == s.Name }) {
			out = append(out, cloud.Group{Name: s.Name, Missing: true, Min: s.Min, Max: s.Max})
		}
	}
	slices.SortFunc(out, func(a, b cloud.Group) int { return strings.Compare(a.Name, b.Name) })
	r.groups, r.looked = out, now
	return out, nil
}

// holds is how long what was read last is trusted.
func (r *Reader) holds() time.Duration {
	if slices.ContainsFunc(r.groups, func(g cloud.Group) bool { return g.Desired != int64(len(g.Instances)) }) {
		return changesHold
	}
	return sizesHold
}

// refreshTemplates looks up unknown and expired templates, those with the oldest look-up first. It forgets
// the templates of groups that are gone.
func (r *Reader) refreshTemplates(ctx context.Context, described []types.AutoScalingGroup, now time.Time) {
	var due []*types.AutoScalingGroup
	kept := map[string]template{}
	for i := range described {
		g := &described[i]
		name := *g.AutoScalingGroupName
		known, is := r.templates[name]
		if is {
			kept[name] = known
		}
		if !is || known.of != launchKey(g) || !now.Before(known.at.Add(templateHolds)) {
			due = append(due, g)
		}
	}
	r.templates = kept
	slices.SortStableFunc(due, func(a, b *types.AutoScalingGroup) int {
		return kept[*a.AutoScalingGroupName].at.Compare(kept[*b.AutoScalingGroupName].at)
	})
	for _, g := range due[:min(len(due), lookups)] {
		found := r.lookUp(ctx, g)
		found.of, found.at = launchKey(g), now
		if before, known := kept[*g.AutoScalingGroupName]; known && found.throttled && before.of == found.of {
			before.at = now // keep the last result
			found = before
		}
		kept[*g.AutoScalingGroupName] = found
	}
}
