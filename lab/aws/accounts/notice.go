package accounts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// notice is an event as EventBridge puts it into the queue.
type notice struct {
	Version    string    `json:"version"`
	ID         string    `json:"id"`
	DetailType string    `json:"detail-type"`
	Source     string    `json:"source"`
	Account    string    `json:"account"`
	Time       time.Time `json:"time"`
	Region     string    `json:"region"`
	Resources  []string  `json:"resources"`
	Detail     any       `json:"detail"`
}

// instanceDetail holds the details of EC2's notices.
type instanceDetail struct {
	InstanceID string `json:"instance-id"`
	Action     string `json:"instance-action,omitempty"`
	State      State  `json:"state,omitempty"`
}

type healthDetail struct {
	EventARN    string         `json:"eventArn"`
	Service     string         `json:"service"`
	Code        string         `json:"eventTypeCode"`
	Category    string         `json:"eventTypeCategory"`
	Status      string         `json:"statusCode"`
	Start       string         `json:"startTime"`
	Description []healthText   `json:"eventDescription"`
	Affected    []healthEntity `json:"affectedEntities"`
}

type healthText struct {
	Language string `json:"language"`
	Text     string `json:"latestDescription"`
}

type healthEntity struct {
	Value  string `json:"entityValue"`
	Status string `json:"status"`
}

func stateChange(s State) notice {
	return notice{Source: "aws.ec2", DetailType: "EC2 Instance State-change Notification", Detail: instanceDetail{State: s}}
}

func spotInterruption() notice {
	return notice{Source: "aws.ec2", DetailType: "EC2 Spot Instance Interruption Warning", Detail: instanceDetail{Action: "terminate"}}
}

func rebalance() notice {
	return notice{Source: "aws.ec2", DetailType: "EC2 Instance Rebalance Recommendation", Detail: instanceDetail{}}
}

func reservationInterruption() notice {
	return notice{Source: "aws.ec2", DetailType: "EC2 Capacity Reservation Instance Interruption Warning", Detail: instanceDetail{Action: "terminate"}}
}

func scheduledChange(start time.Time) notice {
	return notice{Source: "aws.health", DetailType: "AWS Health Event", Detail: healthDetail{
		Service: "EC2", Code: "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", Category: "scheduledChange", Status: "upcoming", Start: start.UTC().Format(http.TimeFormat),
		Description: []healthText{{Language: "en_US", Text: "The instance is scheduled for retirement."}},
	}}
}

// announce puts a notice about an instance into the queue.
func (r *Region) announce(i *Instance, n notice) {
	q, ok := r.queues[r.world.config.queue()]
	if !ok {
		return
	}
	n.Version, n.Account, n.Region, n.Time = "0", r.Account.ID, r.Name, r.Now().UTC().Truncate(time.Second)
	n.ID = r.world.config.Seed.UUID("notice", r.world.identifier("notice"))
	n.Resources = []string{fmt.Sprintf("arn:aws:ec2:%s:%s:instance/%s", r.Name, r.Account.ID, i.ID)}
	switch d := n.Detail.(type) {
	case instanceDetail:
		d.InstanceID = i.ID
		n.Detail = d
	case healthDetail:
		d.EventARN = "arn:aws:health:" + r.Name + "::event/EC2/" + d.Code + "/" + n.ID
		d.Affected = []healthEntity{{Value: i.ID, Status: "PENDING"}}
		n.Detail = d
	}
	body, err := json.Marshal(n)
	if err != nil {
		panic("a notice cannot be written: " + err.Error()) // it consists of texts and times
	}
	r.Send(q, string(body))
}
