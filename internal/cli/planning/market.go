package planning

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"

	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/ingest"
	"tenon/internal/settings"
)

// Market is where pools buy: a catalogue file, or EC2 of a region as far as it is built in.
type Market struct {
	Vocabulary       requirement.Vocabulary
	ReservationLabel string
	// file is the catalogue of --catalog, nil if EC2's is used.
	file *catalog.Catalog

	region   string
	defaults instancetype.Params
	// classes are catalogues that were made already, by the name of the node class; pools of
	// one class share one.
	classes map[string]*catalog.Catalog
	// unknown are names of classes that were not among the objects.
	unknown []string
	// used is set when some pool buys here.
	used bool
}

// regionName is how AWS calls regions. One that is not in the table is used all the same: there may
// be new ones.
var regionName = regexp.MustCompile(`^[a-z]+(-[a-z]+)+-[0-9]+$`)

// NewMarket is the market of a file of offers or, without one, of a region of EC2.
func NewMarket(file, region string, s settings.Settings) (*Market, error) {
	if file != "" {
		return fileMarket(file)
	}
	if !regionName.MatchString(region) {
		return nil, fmt.Errorf("--region %s is no name of a region; known are %s", region, strings.Join(facts.Regions(), ", "))
	}
	m := &Market{
		Vocabulary: instancetype.Vocabulary(), ReservationLabel: awsv1.LabelCapacityReservationID,
		region: region, defaults: instancetype.Defaults(region), classes: map[string]*catalog.Catalog{},
	}
	m.defaults.MemoryOverhead = s.AWS.VMMemoryOverheadPercent
	m.defaults.ReservedENIs = int64(s.AWS.ReservedENIs)
	return m, nil
}

func fileMarket(path string) (*Market, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	offers, words, err := ingest.ReadCatalog(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Market{Vocabulary: requirement.Core().With(words), file: offers}, nil
}

// Options are how objects in files are read for a decision in this market.
func (m *Market) Options(now time.Time, s settings.Settings) ingest.Options {
	return ingest.Options{
		Now:              now,
		Settings:         s.Decision(),
		Vocabulary:       m.Vocabulary,
		Catalog:          m.CatalogOf,
		NodePrice:        s.NodePrice,
		ReservationLabel: m.ReservationLabel,
		DefaultSpreads:   s.SchedulerConfig.PodTopologySpread.DefaultConstraints,
		Overlays:         s.FeatureGates.NodeOverlay,
		Buffers:          s.FeatureGates.CapacityBuffer,
		Files:            true,
	}
}

// CatalogOf finds what a pool may buy.
func (m *Market) CatalogOf(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error) {
	if m.file != nil {
		return m.file, nil
	}
	ref := pool.Spec.Template.Spec.NodeClassRef
	if ref.Group != awsv1.Group || ref.Kind != "EC2NodeClass" {
		return nil, fmt.Errorf("the catalogue for %s of %s is not built in: name a file of offers with --catalog", ref.Kind, ref.Group)
	}
	m.used = true
	params := m.defaults
	if ec2, ok := class.(*awsv1.EC2NodeClass); ok {
		var err error
		if params, err = params.ForClass(ec2); err != nil {
			return nil, err
		}
	} else if !slices.Contains(m.unknown, ref.Name) {
		m.unknown = append(m.unknown, ref.Name)
	}
	found, made := m.classes[ref.Name]
	if !made {
		result := instancetype.Build(params)
		found = &result.Catalog
		m.classes[ref.Name] = found
	}
	return found, nil
}

// remarks say what was assumed.
func (m *Market) remarks() []string {
	if m.file != nil || !m.used {
		return nil
	}
	var out []string
	if len(m.unknown) > 0 {
		slices.Sort(m.unknown)
		out = append(out, fmt.Sprintf("EC2NodeClass %s was not given: nodes of its pools are assumed to run AL2023 with default settings, in every zone of %s", strings.Join(m.unknown, ", "), m.region))
	}
	zones, known := facts.ZonesOf(m.region)
	if !known {
		names := make([]string, len(zones))
		for i, z := range zones {
			names[i] = z.Name
		}
		out = append(out, fmt.Sprintf("region %s is not in the built-in table: it is taken to have the zones %s", m.region, strings.Join(names, ", ")))
	}
	list := facts.PricesFor(m.region)
	date := list.Date
	if date == "" {
		date = "an unknown date"
	}
	return append(out, fmt.Sprintf("on-demand prices are those of %s in %s of %s; spot is estimated at %d %% of them", list.Region, list.Currency, date, instancetype.DefaultSpotPercent))
}
