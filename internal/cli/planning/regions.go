package planning

import (
	"regexp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/ingest"
	"tenon/internal/settings"
)

// Regions are the markets of the regions that pools are for: files of one repository may be for several.
type Regions struct {
	file, region string
	settings     settings.Settings
	made         map[string]*Market
}

// NewRegions takes a file of offers or, without one, EC2. Without a region each pool's is that of the zones
// that it names, and us-west-2 if it names none.
func NewRegions(file, region string, s settings.Settings) *Regions {
	return &Regions{file: file, region: region, settings: s, made: map[string]*Market{}}
}

// Options are how objects in files are read for decisions in these markets.
func (r *Regions) Options(now time.Time) (ingest.Options, error) {
	first, err := r.market(nil)
	if err != nil {
		return ingest.Options{}, err
	}
	options := first.Options(now, r.settings)
	options.Catalog = func(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error) {
		m, err := r.market(pool)
		if err != nil {
			return nil, err
		}
		return m.CatalogOf(pool, class)
	}
	return options, nil
}

// market is where a pool buys.
func (r *Regions) market(pool *karpenterv1.NodePool) (*Market, error) {
	region := r.region
	if region == "" {
		region = regionOf(pool)
	}
	if r.made[region] == nil {
		made, err := NewMarket(r.file, region, r.settings)
		if err != nil {
			return nil, err
		}
		r.made[region] = made
	}
	return r.made[region], nil
}

var zoneName = regexp.MustCompile(`^([a-z]+(?:-[a-z]+)+-[0-9]+)[a-z]$`)

// regionOf is the region of the first zone that a pool names.
func regionOf(pool *karpenterv1.NodePool) string {
	if pool != nil {
		for _, r := range pool.Spec.Template.Spec.Requirements {
			if r.Key != requirement.KeyZone || len(r.Values) == 0 {
				continue
			}
			if found := zoneName.FindStringSubmatch(r.Values[0]); found != nil {
				return found[1]
			}
		}
	}
	return "us-west-2"
}
