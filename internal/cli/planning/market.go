package planning

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"

	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/ingest"
)

// market is where pools buy: a catalogue file, or EC2 of a region as far as it is built in.
type market struct {
	vocabulary       requirement.Vocabulary
	reservationLabel string
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

func newMarket(j *job) (*market, error) {
	if j.Catalog != "" {
		return fileMarket(j.Catalog)
	}
	if !regionName.MatchString(j.Region) {
		return nil, fmt.Errorf("--region %s is no name of a region; known are %s", j.Region, strings.Join(facts.Regions(), ", "))
	}
	m := &market{
		vocabulary: instancetype.Vocabulary(), reservationLabel: awsv1.LabelCapacityReservationID,
		region: j.Region, defaults: instancetype.Defaults(j.Region), classes: map[string]*catalog.Catalog{},
	}
	m.defaults.MemoryOverhead = j.Settings.AWS.VMMemoryOverheadPercent
	m.defaults.ReservedENIs = int64(j.Settings.AWS.ReservedENIs)
	return m, nil
}

func fileMarket(path string) (*market, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	offers, words, err := ingest.ReadCatalog(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &market{vocabulary: requirement.Core().With(words), file: offers}, nil
}

// catalogOf finds what a pool may buy.
func (m *market) catalogOf(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error) {
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
func (m *market) remarks() []string {
	if m.file != nil || !m.used {
		return nil
	}
	var out []string
	if len(m.unknown) > 0 {
		slices.Sort(m.unknown)
		out = append(out, fmt.Sprintf("EC2NodeClass %s was not given: nodes of its pools are taken to run AL2023 with default settings, in every zone of %s", strings.Join(m.unknown, ", "), m.region))
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
