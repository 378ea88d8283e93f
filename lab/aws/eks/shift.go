package eks

import (
	"strconv"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// ShiftService serves ARC's zonal shift. It knows the region's cluster and no other resource.
func ShiftService(w *accounts.World) *wire.Service {
	return &wire.Service{
		Name: "arc-zonal-shift", Protocol: wire.RESTJSON,
		Routes: map[string]string{"GET /managedresources/{id}": "GetManagedResource"},
		Operations: map[string]wire.Handler{
			"GetManagedResource": wire.Operation(func(c *wire.Call, _ *none) (out *managedOutput, err error) {
				err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
					out, err = managed(r, c.HTTP.PathValue("id"))
					return err
				})
				return out, err
			}),
		},
	}
}

type managedOutput struct {
	ARN     string             `json:"arn"`
	Name    string             `json:"name"`
	Weights map[string]float64 `json:"appliedWeights"`
	Auto    []struct{}         `json:"autoshifts"` // the emulator has none
	Shifts  []shift            `json:"zonalShifts"`
}

type shift struct {
	ID       string  `json:"zonalShiftId"`
	Resource string  `json:"resourceIdentifier"`
	From     string  `json:"awayFrom"`
	Status   string  `json:"appliedStatus"`
	Start    float64 `json:"startTime"`
	Expiry   float64 `json:"expiryTime"`
	Comment  string  `json:"comment"`
}

// longShift is how long a shift without a given end lasts; AWS requires an end.
const longShift = 3 * 24 * time.Hour

func managed(r *accounts.Region, id string) (*managedOutput, error) {
	arn := r.ARN("eks", "cluster/"+r.Cluster().Name)
	if id != arn {
		return nil, wire.StatusErrorf(404, "ResourceNotFoundException", "The resource %s is not registered.", id)
	}
	out := &managedOutput{ARN: arn, Name: r.Cluster().Name, Weights: map[string]float64{}, Auto: []struct{}{}, Shifts: []shift{}}
	for _, z := range r.Zones {
		out.Weights[z.ID] = 1
	}
	for number, s := range r.Shifts() {
		zone := s.Zone
		if id := r.ZoneID(zone); id != "" {
			zone = id
		}
		until := s.Until
		if until.IsZero() {
			until = s.Since.Add(longShift)
		}
		out.Weights[zone] = 0
		out.Shifts = append(out.Shifts, shift{"shift-" + strconv.Itoa(number+1), arn, zone, "APPLIED", float64(s.Since.Unix()), float64(until.Unix()), "lab"})
	}
	return out, nil
}
