package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/offering"
	"tenon/core/catalog"
)

// Bought is what a fleet launched, as EC2 reports it.
type Bought struct {
	ID, InstanceType, Zone, SubnetID, ImageID string
}

// Failure is one override that did not lead to an instance.
type Failure struct {
	Code, Message                string
	InstanceType, Zone, SubnetID string
}

func (f Failure) text() string { return f.Code + ": " + f.Message }

// Answer is EC2's answer to an order. It may have failures and an instance.
type Answer struct {
	Bought   *Bought
	Failures []Failure
}

// Read reads an answer. If EC2 does not say what a failure concerns, the failure's fields stay empty.
func Read(out *ec2.CreateFleetOutput) Answer {
	var a Answer
	for _, group := range out.Instances {
		if len(group.InstanceIds) == 0 || a.Bought != nil {
			continue
		}
		a.Bought = &Bought{ID: group.InstanceIds[0], InstanceType: string(group.InstanceType)}
		if t := group.LaunchTemplateAndOverrides; t != nil && t.Overrides != nil {
			a.Bought.Zone, a.Bought.SubnetID = aws.ToString(t.Overrides.AvailabilityZone), aws.ToString(t.Overrides.SubnetId)
			a.Bought.ImageID = aws.ToString(t.Overrides.ImageId)
			if a.Bought.InstanceType == "" {
				a.Bought.InstanceType = string(t.Overrides.InstanceType)
			}
		}
	}
	for _, e := range out.Errors {
		f := Failure{Code: aws.ToString(e.ErrorCode), Message: aws.ToString(e.ErrorMessage)}
		if t := e.LaunchTemplateAndOverrides; t != nil && t.Overrides != nil {
			f.InstanceType, f.Zone = string(t.Overrides.InstanceType), aws.ToString(t.Overrides.AvailabilityZone)
			f.SubnetID = aws.ToString(t.Overrides.SubnetId)
		}
		a.Failures = append(a.Failures, f)
	}
	return a
}

// Candidate returns the order's offer that matches a bought instance.
func (o *Order) Candidate(instanceType, zone string) (cloud.Candidate, bool) {
	at := slices.IndexFunc(o.Candidates, func(c cloud.Candidate) bool { return c.Type.Name == instanceType && c.Offering.Zone == zone })
	if at < 0 {
		return cloud.Candidate{}, false
	}
	return o.Candidates[at], true
}

// Lesson is what a launch taught about availability.
type Lesson struct {
	Offers []offering.Shortage
	// Subnets have no addresses left.
	Subnets []string
	// Reservations have no room left.
	Reservations []string
	// NoSpot says that the account may not buy spot instances at all.
	NoSpot bool
}

// Learn reads the failures of an order.
func (o *Order) Learn(failures []Failure) Lesson {
	var l Lesson
	for _, f := range failures {
		c, known := o.Candidate(f.InstanceType, f.Zone)
		switch {
		case f.Code == api.CodeSpotRole:
			l.NoSpot = true
		case o.Group != "" && strings.Contains(f.Message, api.SpreadLimit):
			l.Offers = append(l.Offers, o.allIn(f.Zone)...)
		case !api.IsShortage(f.Code) || f.InstanceType == "":
		case known && c.Offering.CapacityType == catalog.Reserved:
			l.Reservations = append(l.Reservations, c.Offering.ReservationID)
		default:
			l.Offers = append(l.Offers, o.scoped(f.InstanceType, f.Zone))
		}
		if f.Code == api.CodeNoAddresses && f.SubnetID != "" {
			l.Subnets = append(l.Subnets, f.SubnetID)
		}
	}
	return l
}

func (o *Order) scoped(instanceType, zone string) offering.Shortage {
	return offering.Shortage{InstanceType: instanceType, Zone: zone, CapacityType: o.CapacityType, Group: o.Group, Partition: o.Partition}
}

func (o *Order) allIn(zone string) []offering.Shortage {
	var all []offering.Shortage
	for _, c := range o.Candidates {
		if c.Offering.Zone == zone {
			all = append(all, o.scoped(c.Type.Name, zone))
		}
	}
	return all
}

// Refused is the error of an order that bought nothing. It is a cloud.NoCapacity if all failures mean a lack
// of capacity; people have to see any other failure.
func (o *Order) Refused(failures []Failure) error {
	texts := distinct(failures)
	cause := fmt.Errorf("with fleet error(s), %s", strings.Join(texts, "; "))
	if slices.ContainsFunc(failures, func(f Failure) bool { return !api.IsShortage(f.Code) && f.Code != api.CodeSpotRole }) {
		why := api.ReasonOf(strings.Join(texts, "; "))
		return &cloud.Rejected{Reason: why.Reason, Message: why.Message, Err: cause}
	}
	if len(texts) == 0 {
		cause = fmt.Errorf("with fleet error(s), the fleet has no instance and tells no error")
	}
	var tried []cloud.Offer
	for _, c := range o.Candidates {
		tried = append(tried, c.Offer())
	}
	return &cloud.NoCapacity{Offers: Names(tried), Err: cause}
}

func distinct(failures []Failure) []string {
	var texts []string
	for _, f := range failures {
		if text := f.text(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}
