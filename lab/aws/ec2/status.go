package ec2

import (
	"fmt"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type statusInput struct {
	listing
	IDs                     []string `query:"InstanceId"`
	IncludeAllInstances     bool
	IncludeManagedResources bool
}

type statusOutput struct {
	Statuses []statusItem `xml:"instanceStatusSet>item"`
	Next     string       `xml:"nextToken,omitempty"`
}

type statusItem struct {
	ID       string      `xml:"instanceId"`
	Zone     string      `xml:"availabilityZone"`
	ZoneID   string      `xml:"availabilityZoneId"`
	State    stateItem   `xml:"instanceState"`
	Instance checkItem   `xml:"instanceStatus"`
	System   checkItem   `xml:"systemStatus"`
	Volumes  checkItem   `xml:"attachedEbsStatus"`
	Events   []eventItem `xml:"eventsSet>item"`
}

type checkItem struct {
	Status  string       `xml:"status"`
	Details []detailItem `xml:"details>item"`
}

type detailItem struct {
	Name  string `xml:"name"`
	State string `xml:"status"`
	Since string `xml:"impairedSince,omitempty"`
}

type eventItem struct {
	ID          string `xml:"instanceEventId"`
	Code        string `xml:"code"`
	Description string `xml:"description"`
	NotBefore   string `xml:"notBefore"`
}

// describeStatus shows only running instances, unless the request wants all.
func describeStatus(r *accounts.Region, in *statusInput) (*statusOutput, error) {
	if err := whole(in.listing, in.IDs, "instancesSet"); err != nil {
		return nil, err
	}
	all := r.Instances()
	if len(in.IDs) > 0 {
		var err error
		if all, err = r.InstancesByID(in.IDs); err != nil {
			return nil, err
		}
	}
	var shown []*accounts.Instance
	for _, i := range all {
		if i.State == accounts.Running || in.IncludeAllInstances {
			shown = append(shown, i)
		}
	}
	found, next, err := list(in.listing, shown, listed[*accounts.Instance]{
		key: func(i *accounts.Instance) string { return fmt.Sprintf("%012d", i.Number) },
		attributes: func(i *accounts.Instance) (wire.Attributes, []wire.Tag) {
			return statusAttributes(r, i), i.Tags
		},
		limits: wire.Limits{Min: 5, Max: 1000},
	})
	out := &statusOutput{Next: next}
	for _, i := range found {
		out.Statuses = append(out.Statuses, itemOfStatus(r, i))
	}
	return out, err
}

func statusAttributes(r *accounts.Region, i *accounts.Instance) wire.Attributes {
	a := wire.Attributes{
		"instance-status.status": one(r.Status(i)), "system-status.status": one(systemStatus(r, i)), "availability-zone": one(i.Subnet.Zone.Name),
		"instance-state-name": one(string(i.State)), "instance-status.reachability": one(reachability(r.Status(i))), "event.code": nil,
		"system-status.reachability": one(reachability(systemStatus(r, i))),
	}
	for _, e := range i.Events {
		a["event.code"] = append(a["event.code"], e.Code)
	}
	return a
}

// systemStatus returns the status of the host, which never fails in the emulator.
func systemStatus(r *accounts.Region, i *accounts.Instance) string {
	if s := r.Status(i); s != "impaired" {
		return s
	}
	return "ok"
}

func reachability(status string) string {
	switch status {
	case "ok":
		return "passed"
	case "impaired":
		return "failed"
	case "initializing":
		return "initializing"
	default:
		return "insufficient-data"
	}
}

func itemOfStatus(r *accounts.Region, i *accounts.Instance) statusItem {
	item := statusItem{
		ID: i.ID, Zone: i.Subnet.Zone.Name, ZoneID: i.Subnet.Zone.ID, State: itemOfState(i.State),
		Instance: check(r.Status(i), i.Impaired), System: check(systemStatus(r, i), time.Time{}), Volumes: check(systemStatus(r, i), time.Time{}),
	}
	for _, e := range i.Events {
		item.Events = append(item.Events, eventItem{e.ID, e.Code, e.Description, stamp(e.NotBefore)})
	}
	return item
}

func check(status string, since time.Time) checkItem {
	return checkItem{status, []detailItem{{"reachability", reachability(status), optionalStamp(since)}}}
}
