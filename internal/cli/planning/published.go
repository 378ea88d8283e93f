package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/order"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/class"
	"tenon/internal/cli/document"
	"tenon/internal/market/publication"
	"tenon/internal/provider"
)

// publishedMarket sells what the controller of a cluster says, and to pools of classes of which it says
// nothing what is built in.
type publishedMarket struct {
	provider.Market
	publication *publication.Publication
	// guessed are classes of which it says nothing.
	guessed []string
}

// Catalog implements provider.Market.
func (m *publishedMarket) Catalog(pool *karpenterv1.NodePool, object metav1.Object) (*catalog.Catalog, error) {
	ref := class.Of(pool)
	if sells := m.publication.Catalogs[ref]; sells != nil {
		return sells, nil
	}
	if !slices.Contains(m.guessed, ref.Name) {
		m.guessed = append(m.guessed, ref.Name)
	}
	return m.Market.Catalog(pool, object)
}

// Remarks implements provider.Market.
func (m *publishedMarket) Remarks() []string {
	if len(m.guessed) == 0 {
		return nil
	}
	slices.Sort(m.guessed)
	return append([]string{fmt.Sprintf("the controller does not publish what class %s sells: prices of its pools are estimates", strings.Join(m.guessed, ", "))}, m.Market.Remarks()...)
}

// stale is how old a publication may be until it is doubted that its controller runs: it is written
// twice an hour at least.
const stale = 2 * time.Hour

// readPublication looks for what the cluster's controller knows. What cannot be read is no error: the
// plan has estimates then, and says so.
func (j *job) readPublication(ctx context.Context, config *rest.Config) {
	if j.Catalog != "" || j.Given("region") {
		return
	}
	p, err := publication.Read(ctx, config, publication.Namespaces(j.Lookup)...)
	if err != nil {
		if !errors.Is(err, publication.ErrNone) {
			j.note("%s", err)
		}
		j.note("prices are estimates, and stock is not known: no controller publishes its market in ConfigMap %s, or this user may not read it", publication.Name)
		return
	}
	if age := j.now().Sub(p.At); age > stale {
		j.note("the market was published %s ago: its controller may not run any more", age.Round(time.Minute))
	}
	j.published = p
	j.takeSettings(p.Settings)
}

// takeSettings plans with the controller's settings, unless they are given here.
func (j *job) takeSettings(published map[string]string) {
	if j.Under == nil || len(published) == 0 {
		return
	}
	s, err := j.Under(published)
	if err != nil {
		j.note("the controller's settings are not used, because this program cannot read them: %s", err)
		return
	}
	var used []string
	for _, flag := range order.Keys(published) {
		if s.ForPlans[flag] == published[flag] {
			used = append(used, flag+"="+published[flag])
		}
	}
	j.Settings = s
	if len(used) > 0 {
		j.note("with the controller's settings: %s", strings.Join(used, ", "))
	}
}

// market is what pools can buy.
func (j *job) market() (provider.Market, error) {
	if j.published == nil {
		return NewMarket(j.Catalog, j.Region, j.Cloud)
	}
	builtin, err := NewMarket("", cmp.Or(j.published.Region(), j.Region), j.Cloud)
	if err != nil {
		return nil, err
	}
	return &publishedMarket{Market: builtin, publication: j.published}, nil
}

// pricesOf says where prices come from.
func pricesOf(m provider.Market, p *publication.Publication) document.Prices {
	out := document.Prices{Currency: m.Currency()}
	if p != nil {
		out.Published = p.At
	}
	return out
}

// closePools leaves out the pools for which the controller buys nothing now.
func (j *job) closePools(s *snapshot.Snapshot) {
	if j.published == nil {
		return
	}
	for i := range s.Pools {
		if pool := &s.Pools[i]; pool.MayLaunch() {
			if why := j.published.Closed[pool.Name]; why != "" {
				pool.Unready = reason.Unready{Code: reason.CatalogFailed, Message: why}
			}
		}
	}
}
