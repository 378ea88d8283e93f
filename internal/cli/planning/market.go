package planning

import (
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/ingest"
	"tenon/internal/provider"
	"tenon/internal/settings"
)

// NewMarket is what pools can buy: the offers of a file or, without one, the built-in catalogue of a cloud.
// Without a region each pool buys in its own.
func NewMarket(file, region string, cloud provider.Cloud) (provider.Market, error) {
	if file != "" {
		return readMarket(file)
	}
	if cloud.Builtin.Market == nil {
		return nil, errors.New("no catalogue is built in: name a file of offers with --catalog")
	}
	return cloud.Builtin.Market(region)
}

// fileMarket sells the same to every pool.
type fileMarket struct {
	words  requirement.Vocabulary
	offers *catalog.Catalog
}

func readMarket(path string) (provider.Market, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	offers, words, err := ingest.ReadCatalog(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return fileMarket{requirement.Core().With(words), offers}, nil
}

// Vocabulary implements provider.Market.
func (m fileMarket) Vocabulary() requirement.Vocabulary { return m.words }

// ReservationLabel implements provider.Market.
func (m fileMarket) ReservationLabel() string { return "" }

// Catalog implements provider.Market.
func (m fileMarket) Catalog(*karpenterv1.NodePool, metav1.Object) (*catalog.Catalog, error) {
	return m.offers, nil
}

// Currency implements provider.Market: a file does not tell.
func (m fileMarket) Currency() string { return "" }

// Remarks implements provider.Market.
func (m fileMarket) Remarks() []string { return nil }

// IngestOptions are how objects in files are read for a decision in a market.
func IngestOptions(m provider.Market, now time.Time, s settings.Settings) ingest.Options {
	return ingest.Options{
		Now:              now,
		Settings:         s.Decision(),
		Vocabulary:       m.Vocabulary(),
		Catalog:          m.Catalog,
		NodePrice:        s.NodePrice,
		ReservationLabel: m.ReservationLabel(),
		DefaultSpreads:   s.SchedulerConfig.PodTopologySpread.DefaultConstraints,
		Overlays:         s.FeatureGates.NodeOverlay,
		Buffers:          s.FeatureGates.CapacityBuffer,
		Bookings:         ingest.Bookings{Enabled: s.ProvisioningRequests.Enabled, Instance: s.ProvisioningRequests.Instance},
		ScaleDown:        &s.ScaleDown,
		GroupTaints:      s.GroupTaints,
		Schedulers:       s.AllowedSchedulers,
		Files:            true,
	}
}
