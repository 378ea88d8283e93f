package ingest

import (
	"strings"
	"testing"

	"tenon/core/model"
	"tenon/core/requirement"
)

const twoTypes = `[
 {"name": "small", "architecture": "amd64", "operatingSystems": ["linux"],
  "capacity": {"cpu": "4", "memory": "8Gi", "pods": "32", "ephemeral-storage": "20Gi"},
  "overhead": {"cpu": "100m", "memory": "10Mi"},
  "labels": {"example.com/family": "s"},
  "offerings": [
    {"zone": "zone-a", "capacityType": "spot", "price": 0.05, "available": true},
    {"zone": "zone-b", "capacityType": "on-demand", "price": 0.07, "available": false},
    {"zone": "zone-b", "capacityType": "reserved", "price": 0, "reservationID": "cr-1", "reservationCapacity": 3}]},
 {"name": "plain", "architecture": "arm64", "operatingSystems": ["linux", "windows"],
  "capacity": {"cpu": 2, "memory": "4Gi", "pods": 10}, "offerings": []}]`

func TestReadCatalog(t *testing.T) {
	t.Parallel()
	offers, words, err := ReadCatalog([]byte(twoTypes))
	if err != nil {
		t.Fatal(err)
	}
	small, plain := &offers.Types[0], &offers.Types[1]
	if got := small.Allocatable(&small.Offerings[0]); got.CPU != 3900 || got.Memory != 8<<30-10<<20 || got.Pods != 32 {
		t.Errorf("allocatable of small: %+v", got)
	}
	if o := small.Offerings[0]; o.Price != 50_000 || !o.Available || o.Zone != "zone-a" {
		t.Errorf("first offering: %+v", o)
	}
	if small.Offerings[1].Available || !small.Offerings[2].Available || small.Offerings[2].ReservationCapacity != 3 {
		t.Errorf("availability: %+v", small.Offerings)
	}
	if got := small.Requirements.Get(requirement.KeyZone).String(); got != "topology.kubernetes.io/zone In [zone-a zone-b]" {
		t.Errorf("zones: %s", got)
	}
	if got := plain.Requirements.Get("example.com/family").Operator(); got != requirement.DoesNotExist {
		t.Errorf("a label that only another type carries: %s, want DoesNotExist", got)
	}
	if len(words.WellKnown) != 1 || words.WellKnown[0] != "example.com/family" {
		t.Errorf("well-known labels of the file: %v", words.WellKnown)
	}
	if want := (model.Resources{CPU: 2000, Memory: 4 << 30, Pods: 10}); !plain.Capacity.Equal(want) {
		t.Errorf("capacity of plain: %+v", plain.Capacity)
	}
}

// "errors name index, type and field"
func TestReadCatalogRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ replace, with, want string }{
		"not a list":              {twoTypes, `{}`, "want a list of instance types"},
		"an unknown field":        {`"overhead"`, `"overheads"`, `type 0 (small): json: unknown field "overheads"`},
		"no name":                 {`"name": "plain"`, `"name": ""`, "type 1 (): name: is missing"},
		"the same name twice":     {`"name": "plain"`, `"name": "small"`, "type 1 (small): name: type 0 has it already"},
		"no pods":                 {`"pods": "32", `, ``, "type 0 (small): capacity.pods: must be given and positive"},
		"negative overhead":       {`"100m"`, `"-100m"`, "type 0 (small): overhead.cpu: is negative"},
		"an unknown capacity":     {`"capacityType": "spot"`, `"capacityType": "cheap"`, `type 0 (small): offerings[0].capacityType: must be on-demand, spot or reserved, not "cheap"`},
		"no zone":                 {`"zone": "zone-a", `, ``, "type 0 (small): offerings[0].zone: is missing"},
		"no price":                {`"price": 0.07, `, ``, "type 0 (small): offerings[1].price: is missing"},
		"a negative price":        {`0.07`, `-1`, "type 0 (small): offerings[1].price: must be between 0 and 1000000, not -1"},
		"a reservation, no ID":    {`"reservationID": "cr-1", `, ``, "type 0 (small): offerings[2].reservationID: is missing"},
		"one offering twice":      {`"zone": "zone-a", "capacityType": "spot"`, `"zone": "zone-b", "capacityType": "on-demand"`, "type 0 (small): offerings[1].zone: on-demand zone-b is offered twice"},
		"a label that is derived": {`example.com/family`, `beta.kubernetes.io/arch`, "type 0 (small): labels[beta.kubernetes.io/arch]: follows from the other fields and cannot be given"},
		"a malformed quantity":    {`"8Gi"`, `"8 Gi"`, "type 0 (small): quantities must match"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := ReadCatalog([]byte(strings.Replace(twoTypes, tc.replace, tc.with, 1)))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}

func FuzzReadCatalog(f *testing.F) {
	f.Add([]byte(twoTypes))
	f.Add([]byte(`[{"name":"a","capacity":{"cpu":"1e400"}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		offers, _, err := ReadCatalog(data)
		if err != nil {
			return
		}
		for i := range offers.Types {
			for j := range offers.Types[i].Offerings {
				if room := offers.Types[i].Allocatable(&offers.Types[i].Offerings[j]); room.CPU < 0 || room.Memory < 0 {
					t.Errorf("negative room: %+v", room)
				}
			}
		}
	})
}
