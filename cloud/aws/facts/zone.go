package facts

import (
	"maps"
	"slices"
	"strings"
)

// Zone is an availability zone. In the oldest regions AWS gives each account its own mapping of names to IDs;
// the mapping here is a common one, because no mapping holds for all accounts.
type Zone struct {
	Name string
	ID   string // empty when not known
}

// regionZones lists, for each region, the prefix of its zone IDs, and for each zone its letter and the number
// in its ID.
var regionZones = map[string]string{
	"af-south-1":     "afs1 a1 b2 c3",
	"ap-east-1":      "ape1 a1 b2 c3",
	"ap-east-2":      "ape2 a1 b2 c3",
	"ap-northeast-1": "apne1 a4 c1 d2",
	"ap-northeast-2": "apne2 a1 b2 c3 d4",
	"ap-northeast-3": "apne3 a3 b1 c2",
	"ap-south-1":     "aps1 a1 b3 c2",
	"ap-south-2":     "aps2 a1 b2 c3",
	"ap-southeast-1": "apse1 a1 b2 c3",
	"ap-southeast-2": "apse2 a1 b3 c2",
	"ap-southeast-3": "apse3 a1 b2 c3",
	"ap-southeast-4": "apse4 a1 b2 c3",
	"ap-southeast-5": "apse5 a1 b2 c3",
	"ap-southeast-6": "apse6 a1 b2 c3",
	"ap-southeast-7": "apse7 a1 b2 c3",
	"ca-central-1":   "cac1 a1 b2 d4",
	"ca-west-1":      "caw1 a1 b2 c3",
	"cn-north-1":     "cnn1 a1 b2 d4",
	"cn-northwest-1": "cnnw1 a1 b2 c3",
	"eu-central-1":   "euc1 a2 b3 c1",
	"eu-central-2":   "euc2 a1 b2 c3",
	"eu-north-1":     "eun1 a1 b2 c3",
	"eu-south-1":     "eus1 a1 b2 c3",
	"eu-south-2":     "eus2 a1 b2 c3",
	"eu-west-1":      "euw1 a3 b1 c2",
	"eu-west-2":      "euw2 a2 b3 c1",
	"eu-west-3":      "euw3 a1 b2 c3",
	"il-central-1":   "ilc1 a1 b2 c3",
	"me-central-1":   "mec1 a1 b2 c3",
	"me-south-1":     "mes1 a1 b2 c3",
	"mx-central-1":   "mxc1 a1 b2 c3",
	"sa-east-1":      "sae1 a1 b2 c3",
	"us-east-1":      "use1 a6 b1 c2 d4 e3 f5",
	"us-east-2":      "use2 a1 b2 c3",
	"us-gov-east-1":  "usge1 a1 b2 c3",
	"us-gov-west-1":  "usgw1 a1 b2 c3",
	"us-west-1":      "usw1 b3 c1",
	"us-west-2":      "usw2 a2 b1 c3 d4",
}

// Regions returns the names of the regions whose zones are known, sorted.
func Regions() []string { return slices.Sorted(maps.Keys(regionZones)) }

// ZonesOf returns the zones of a region, in the order of their letters. For a region that this table does not
// have, it assumes the zones a, b and c, which nearly every region has, without IDs; known is false then.
func ZonesOf(region string) (zones []Zone, known bool) {
	entry, known := regionZones[region]
	if !known {
		return []Zone{{Name: region + "a"}, {Name: region + "b"}, {Name: region + "c"}}, false
	}
	prefix, pairs, _ := strings.Cut(entry, " ")
	for pair := range strings.FieldsSeq(pairs) {
		zones = append(zones, Zone{Name: region + pair[:1], ID: prefix + "-az" + pair[1:]})
	}
	return zones, true
}
