package ec2

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/policy"
	"tenon/lab/aws/wire"
)

type instancesInput struct {
	listing
	IDs                     []string `query:"InstanceId"`
	IncludeManagedResources bool
}

type instancesOutput struct {
	Reservations []bundle `xml:"reservationSet>item"`
	Next         string   `xml:"nextToken,omitempty"`
}

// bundle is what EC2 calls a reservation: instances that one request launched.
type bundle struct {
	ID        string         `xml:"reservationId"`
	Owner     string         `xml:"ownerId"`
	Instances []instanceItem `xml:"instancesSet>item"`
}

func describeInstances(r *accounts.Region, in *instancesInput) (*instancesOutput, error) {
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
	limits := wire.Limits{Min: 5, Max: 1000}
	if len(in.IDs) > 0 {
		limits.Max = len(in.IDs)
	}
	found, next, err := list(in.listing, all, listed[*accounts.Instance]{
		key:        func(i *accounts.Instance) string { return fmt.Sprintf("%012d", i.Number) },
		attributes: func(i *accounts.Instance) (wire.Attributes, []wire.Tag) { return instanceAttributes(r, i), i.Tags },
		limits:     limits,
	})
	out := &instancesOutput{Next: next}
	for _, i := range found {
		last := len(out.Reservations) - 1
		if last < 0 || out.Reservations[last].ID != bundleID(i) {
			out.Reservations = append(out.Reservations, bundle{ID: bundleID(i), Owner: r.Account.ID})
			last++
		}
		out.Reservations[last].Instances = append(out.Reservations[last].Instances, itemOfInstance(r, i))
	}
	return out, err
}

func bundleID(i *accounts.Instance) string {
	return "r-" + strings.ReplaceAll(i.Bundle[strings.Index(i.Bundle, "-")+1:], "-", "")[:17]
}

func instanceAttributes(r *accounts.Region, i *accounts.Instance) wire.Attributes {
	a := wire.Attributes{
		"instance-id": one(i.ID), "instance-state-name": one(string(i.State)), "instance-state-code": one(strconv.Itoa(i.State.Code())),
		"instance-type": one(i.Type.Name), "image-id": one(i.Image.ID), "subnet-id": one(i.Subnet.ID), "vpc-id": one(i.Subnet.Network.ID),
		"availability-zone": one(i.Subnet.Zone.Name), "availability-zone-id": one(i.Subnet.Zone.ID), "architecture": one(i.Image.Architecture),
		"private-ip-address": one(i.Address().String()), "private-dns-name": one(i.DNSName(r.Name)), "instance-lifecycle": nil,
		"spot-instance-request-id": nil, "capacity-reservation-id": nil, "client-token": one(i.Token), "launch-time": one(stamp(i.Launched)),
		"iam-instance-profile.arn": nil, "iam-instance-profile.name": nil, "instance.group-id": nil, "placement-group-name": one(i.Placement.GroupName),
		"tenancy": one(i.Placement.Tenancy), "owner-id": one(r.Account.ID), "reservation-id": one(bundleID(i)), "key-name": one(i.Spec.KeyName),
		"platform": nil,
	}
	if i.Lifecycle != "" {
		a["instance-lifecycle"] = one(i.Lifecycle)
	}
	if i.SpotRequest != "" {
		a["spot-instance-request-id"] = one(i.SpotRequest)
	}
	if i.Reservation != "" {
		a["capacity-reservation-id"] = one(i.Reservation)
	}
	if i.Profile != nil {
		a["iam-instance-profile.arn"], a["iam-instance-profile.name"] = one(r.Account.ProfileARN(i.Profile)), one(i.Profile.Name)
	}
	for _, g := range i.Groups {
		a["instance.group-id"] = append(a["instance.group-id"], g.ID)
	}
	if i.Image.Family.Windows() {
		a["platform"] = one("windows")
	}
	return a
}

type runInput struct {
	accounts.Spec
	SubnetID string                `query:"SubnetId"`
	Template *accounts.TemplateRef `query:"LaunchTemplate"`
	MinCount int
	MaxCount int
	Token    string `query:"ClientToken"`
	DryRun   bool
}

// Asks returns what the launch needs.
func (in *runInput) Asks(_ string, r *accounts.Region) []policy.Request { return r.RunAsks(in.order()) }

func (in *runInput) order() accounts.RunOrder {
	return accounts.RunOrder{
		Spec: in.Spec, Template: in.Template, SubnetID: in.SubnetID, Min: in.MinCount, Max: in.MaxCount, Token: in.Token, DryRun: in.DryRun,
	}
}

func runInstances(r *accounts.Region, in *runInput) (*bundle, error) {
	made, err := r.Run(in.order())
	if err != nil {
		return nil, err
	}
	out := &bundle{ID: bundleID(made[0]), Owner: r.Account.ID}
	for _, i := range made {
		out.Instances = append(out.Instances, itemOfInstance(r, i))
	}
	return out, nil
}

type idsInput struct {
	IDs            []string `query:"InstanceId"`
	DryRun         bool
	Force          bool
	SkipOsShutdown bool
}

// Asks returns the action on each of the instances.
func (in *idsInput) Asks(action string, r *accounts.Region) []policy.Request {
	return r.OnExisting(action, in.IDs, nil)
}

type changesOutput struct {
	Changes []changeItem `xml:"instancesSet>item"`
}

type changeItem struct {
	ID     string    `xml:"instanceId"`
	After  stateItem `xml:"currentState"`
	Before stateItem `xml:"previousState"`
}

type stateItem struct {
	Code int            `xml:"code"`
	Name accounts.State `xml:"name"`
}

func itemOfState(s accounts.State) stateItem { return stateItem{s.Code(), s} }

func changesOf(changes []accounts.Change) *changesOutput {
	out := &changesOutput{}
	for _, c := range changes {
		out.Changes = append(out.Changes, changeItem{c.Instance.ID, itemOfState(c.Instance.State), itemOfState(c.Before)})
	}
	return out
}

func terminateInstances(r *accounts.Region, in *idsInput) (*changesOutput, error) {
	changes, err := r.Terminate(in.IDs, in.DryRun)
	return changesOf(changes), err
}

type stopInput struct {
	idsInput
	Hibernate bool
}

func stopInstances(r *accounts.Region, in *stopInput) (*changesOutput, error) {
	if in.DryRun {
		return nil, wire.DryRun()
	}
	changes, err := r.StopInstances(in.IDs)
	return changesOf(changes), err
}

type consoleInput struct {
	dry
	ID     string `query:"InstanceId"`
	Latest bool
}

type consoleOut struct {
	ID   string `xml:"instanceId"`
	Time string `xml:"timestamp"`
	Text []byte `xml:"output"`
}
