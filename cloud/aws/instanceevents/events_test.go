package instanceevents_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/cloud/aws/instanceevents"
)

func message(source, kind, detail string) string {
	return fmt.Sprintf(`{"version":"0","id":"1","detail-type":%q,"source":%q,"account":"1","time":"2026-08-21T12:00:00Z","region":"us-west-2","resources":[],"detail":%s}`, kind, source, detail)
}

// Parse understands every event that concerns Tenon, and no others.
func TestParse(t *testing.T) {
	t.Parallel()
	state := func(s string) string {
		return message("aws.ec2", "EC2 Instance State-change Notification", `{"instance-id":"i-1","state":"`+s+`"}`)
	}
	health := func(service, category string) string {
		return message("aws.health", "AWS Health Event", `{"service":"`+service+`","eventTypeCategory":"`+category+`","affectedEntities":[{"entityValue":"i-1"},{"entityValue":"i-2"}]}`)
	}
	affected := func(ids ...string) string {
		return message("aws.health", "AWS Health Event",
			`{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"`+strings.Join(ids, `"},{"entityValue":"`)+`"}]}`)
	}
	scheduled := func(status, entity string) string {
		return message("aws.health", "AWS Health Event", `{"service":"EC2","eventTypeCategory":"scheduledChange","statusCode":"`+status+`","affectedEntities":[{"entityValue":"i-1","status":"`+entity+`"},{"entityValue":"i-2"}]}`)
	}
	cases := map[string]struct {
		body      string
		kind      instanceevents.Kind
		instances []string
	}{
		// EC2 User Guide, "Spot Instance interruption notices": "The possible values for instance-action are hibernate, stop, or terminate."
		"spot interruption": {message("aws.ec2", "EC2 Spot Instance Interruption Warning", `{"instance-id":"i-1","instance-action":"terminate"}`), instanceevents.SpotInterrupted, []string{"i-1"}},
		"rebalance":         {message("aws.ec2", "EC2 Instance Rebalance Recommendation", `{"instance-id":"i-1"}`), instanceevents.RebalanceRecommended, []string{"i-1"}},
		// EC2 User Guide, "Monitor interruptible Capacity Reservations": "detail-type": "EC2 Capacity Reservation Instance Interruption Warning".
		"reservation interruption": {message("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", `{"instance-id":"i-1"}`), instanceevents.ReservationInterrupted, []string{"i-1"}},
		// EC2 User Guide, "State change events for Amazon EC2 instances": "The possible values for state are: pending running stopping stopped
		// shutting-down terminated".
		"stopping":                        {state("stopping"), instanceevents.InstanceStopped, []string{"i-1"}},
		"stopped in capitals":             {state("STOPPED"), instanceevents.InstanceTerminated, []string{"i-1"}},
		"shutting down":                   {state("shutting-down"), instanceevents.InstanceTerminated, []string{"i-1"}},
		"terminated":                      {state("terminated"), instanceevents.InstanceTerminated, []string{"i-1"}},
		"running":                         {state("running"), instanceevents.Nothing, nil},
		"scheduled change":                {health("EC2", "scheduledChange"), instanceevents.ScheduledChange, []string{"i-1", "i-2"}},
		"a change of something else":      {affected("vol-1"), instanceevents.Nothing, nil},
		"a change of more than instances": {affected("vol-1", "i-1", "h-1"), instanceevents.ScheduledChange, []string{"i-1"}},
		// AWS Health API Reference, Event.statusCode: "Possible values are open, closed, and upcoming"; AffectedEntity.statusCode:
		// "IMPAIRED, UNIMPAIRED, UNKNOWN, PENDING, and RESOLVED".
		"an upcoming change":               {scheduled("upcoming", "PENDING"), instanceevents.ScheduledChange, []string{"i-1", "i-2"}},
		"a change that is over":            {scheduled("closed", "IMPAIRED"), instanceevents.Nothing, nil},
		"a change that is settled for one": {scheduled("open", "RESOLVED"), instanceevents.ScheduledChange, []string{"i-2"}},
		"an issue":                         {health("EC2", "issue"), instanceevents.Nothing, nil},
		"another service":                  {health("RDS", "scheduledChange"), instanceevents.Nothing, nil},
		"another event":                    {message("aws.ec2", "EC2 Fleet Information", `{}`), instanceevents.Nothing, nil},
		"another source":                   {message("own", "EC2 Spot Instance Interruption Warning", `{"instance-id":"i-1"}`), instanceevents.Nothing, nil},
		"an empty object":                  {`{}`, instanceevents.Nothing, nil},
	}
	for name, tc := range cases {
		got, err := instanceevents.Parse(tc.body)
		if err != nil || got.Kind != tc.kind || !slices.Equal(got.Instances, tc.instances) {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
		if want := time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC); name != "an empty object" && !got.Time.Equal(want) {
			t.Errorf("%s: announced at %s", name, got.Time)
		}
	}
}

// A malformed event is an error, not a guess.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":                 "",
		"no JSON":                 "hello",
		"no time":                 `{"version":"0","time":"yesterday"}`,
		"a detail that is a text": message("aws.ec2", "EC2 Spot Instance Interruption Warning", `"i-1"`),
		"no instance":             message("aws.ec2", "EC2 Spot Instance Interruption Warning", `{}`),
		"something else":          message("aws.ec2", "EC2 Spot Instance Interruption Warning", `{"instance-id":"vol-1"}`),
	} {
		if got, err := instanceevents.Parse(body); err == nil {
			t.Errorf("%s is read as %+v", name, got)
		}
	}
}

// FuzzParse checks that every parsed notice names instances and a known kind.
func FuzzParse(f *testing.F) {
	f.Add(message("aws.ec2", "EC2 Spot Instance Interruption Warning", `{"instance-id":"i-1"}`))
	f.Add(message("aws.ec2", "EC2 Instance State-change Notification", `{"instance-id":"i-1","state":"stopped"}`))
	f.Add(message("aws.health", "AWS Health Event", `{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-1"}]}`))
	f.Add(`{"detail":null}`)
	f.Fuzz(func(t *testing.T, body string) {
		n, err := instanceevents.Parse(body)
		if err != nil {
			return
		}
		if !slices.Contains(instanceevents.Kinds(), n.Kind) || (n.Kind == instanceevents.Nothing) != (len(n.Instances) == 0) {
			t.Errorf("%q is %+v", body, n)
		}
	})
}
