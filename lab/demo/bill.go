package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
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
	Console      string `json:"console"`
	Claim        string `json:"claim"`
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
type sightings map[string]sighting

type sighting struct {
	InstanceInfo
	since  time.Time // when the demo first saw it
	joined bool      // it has had a node
	late   bool      // its node is reported as missing
}

// patience is how long the node of an instance may take before the demo reports that it is missing.
const patience = time.Minute

// fleet is what there is at a time. The instances come in the order of their launches.
type fleet struct {
	at        time.Time
	instances []InstanceInfo
	nodes     map[string]string // instances that have nodes, by the names of the nodes
	why       causes
}

// news returns the lines about what has changed since the last report.
func (told sightings) news(now fleet) []string {
	var lines []string
	for _, s := range now.instances {
		before, known := told[s.ID]
		seen := before
		seen.InstanceInfo = s
		where := fmt.Sprintf("%s  %s in %s, %s", s.ID, s.Type, s.Zone, s.CapacityType)
		switch {
		case !known:
			seen.since = now.at
			if !s.dead() {
				line := fmt.Sprintf("  + %s, %.3f USD an hour", where, s.price())
				if s.Claim != "" {
					line += ", for NodeClaim " + s.Claim
				}
				lines = append(lines, line)
			}
		case !before.dead() && s.dead():
			lines = append(lines, fmt.Sprintf("  - %s: %s", where, cmp.Or(now.why[s.ID], s.Why)))
		}
		told[s.ID] = seen
	}
	if len(lines) > 0 {
		lines = append(lines, bill(now.instances))
	}
	return append(lines, told.missing(now)...)
}

// missing returns the lines about instances whose nodes take long to join, and about those that join after all.
func (told sightings) missing(now fleet) []string {
	joined := map[string]bool{}
	for _, instance := range now.nodes {
		joined[instance] = true
	}
	var lines []string
	for _, s := range now.instances {
		seen := told[s.ID]
		waits := now.at.Sub(seen.since).Truncate(time.Second)
		switch {
		case s.dead():
		case !seen.late && !joined[s.ID] && waits >= patience && !seen.joined:
			seen.late = true
			lines = append(lines, fmt.Sprintf("  ! %s  has no node %s after its launch: %s", s.ID, waits, cmp.Or(s.Console, "its console says nothing")))
		case seen.late && joined[s.ID]:
			seen.late = false
			lines = append(lines, fmt.Sprintf("  = %s  has joined, %s after its launch", s.ID, waits))
		}
		seen.joined = seen.joined || joined[s.ID]
		told[s.ID] = seen
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
	nodes, err := instancesOf(ctx, d.clients)
	if err != nil {
		return err
	}
	if err := d.causes.learn(ctx, d.clients, nodes); err != nil {
		return err
	}
	for _, line := range d.told.news(fleet{at: time.Now(), instances: now, nodes: nodes, why: d.causes}) {
		d.say(line)
	}
	return nil
}
