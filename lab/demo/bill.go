package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// InstanceInfo is what the emulated AWS says of an instance.
type InstanceInfo struct {
	ID           string `json:"id"`
	Type         string `json:"type"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	State        string `json:"state"`
	Hourly       string `json:"hourly"`
	Why          string `json:"why"`
}

func (s InstanceInfo) dead() bool { return s.State == "shutting-down" || s.State == "terminated" }

// price returns the price of an hour. An instance in a reservation has no price itself.
func (s InstanceInfo) price() float64 {
	price, err := strconv.ParseFloat(s.Hourly, 64)
	if err != nil {
		return 0
	}
	return price
}

// sightings are the instances that the demo has already reported, by their identifiers.
type sightings map[string]InstanceInfo

// news returns the lines about what has changed since the last report. The instances come in the order of
// their launches.
func (told sightings) news(now []InstanceInfo, why causes) []string {
	var lines []string
	for _, s := range now {
		before, known := told[s.ID]
		told[s.ID] = s
		switch {
		case !known && !s.dead():
			lines = append(lines, fmt.Sprintf("  + %s  %s in %s, %s, %.3f USD an hour", s.ID, s.Type, s.Zone, s.CapacityType, s.price()))
		case known && !before.dead() && s.dead():
			lines = append(lines, fmt.Sprintf("  - %s  %s in %s, %s: %s", s.ID, s.Type, s.Zone, s.CapacityType, cmp.Or(why[s.ID], s.Why)))
		}
	}
	if len(lines) > 0 {
		lines = append(lines, bill(now))
	}
	return lines
}

func bill(now []InstanceInfo) string {
	machines, sum := 0, 0.0
	for _, s := range now {
		if s.dead() {
			continue
		}
		machines++
		sum += s.price()
	}
	return fmt.Sprintf("    machines: %d, together %.3f USD an hour", machines, sum)
}

// tell reports what has changed.
func (d *Demo) tell(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.aws+"/lab/instances", nil)
	if err != nil {
		return fmt.Errorf("ask for instances: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err // it names the URL already
	}
	defer response.Body.Close()
	var now []InstanceInfo
	if err := json.NewDecoder(response.Body).Decode(&now); err != nil {
		return fmt.Errorf("read instances: %w", err)
	}
	if err := d.causes.learn(ctx, d.clients); err != nil {
		return err
	}
	for _, line := range d.told.news(now, d.causes) {
		d.say(line)
	}
	return nil
}
