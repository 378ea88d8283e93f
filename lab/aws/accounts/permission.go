package accounts

import (
	"slices"
	"strings"

	"tenon/lab/aws/policy"
	"tenon/lab/aws/wire"
)

// The condition keys of requests.
const (
	requestTag      = "aws:RequestTag/"
	resourceTag     = "aws:ResourceTag/"
	tagKeys         = "aws:TagKeys"
	createAction    = "ec2:CreateAction"
	passedToService = "iam:PassedToService"
)

// WithRequestTags returns the condition keys of a request that gives tags.
func WithRequestTags(tags []wire.Tag) map[string][]string {
	keys := map[string][]string{}
	for _, t := range tags {
		keys[requestTag+t.Key] = []string{t.Value}
		keys[tagKeys] = append(keys[tagKeys], t.Key)
	}
	return keys
}

// WithResourceTags adds the tags that a resource has to the keys.
func WithResourceTags(keys map[string][]string, tags []wire.Tag) map[string][]string {
	if keys == nil {
		keys = map[string][]string{}
	}
	for _, t := range tags {
		keys[resourceTag+t.Key] = []string{t.Value}
	}
	return keys
}

// kinds maps the prefixes of EC2's identifiers to kinds of resources.
var kinds = map[string]string{
	"i": "instance", "vol": "volume", "eni": "network-interface", "lt": "launch-template", "sir": "spot-instances-request", "subnet": "subnet",
	"sg": "security-group", "ami": "image", "cr": "capacity-reservation", "pg": "placement-group", "vpc": "vpc",
}

// ResourceARN names a resource of EC2 by its identifier. Images and their snapshots belong to no account.
func (r *Region) ResourceARN(id string) string {
	kind := kinds[id[:max(0, strings.Index(id, "-"))]]
	if strings.HasPrefix(id, "snap-") {
		kind = "snapshot"
	}
	arn := r.ARN("ec2", kind+"/"+id)
	if kind == "image" || kind == "snapshot" {
		arn = strings.Replace(arn, r.Account.ID, "", 1)
	}
	return arn
}

// OnExisting asks for an action on existing resources, with their tags. It asks for a missing resource as
// well: a caller without permission must not learn that it is missing.
func (r *Region) OnExisting(action string, ids []string, asked []wire.Tag) []policy.Request {
	var all []policy.Request
	for _, id := range ids {
		keys := WithRequestTags(asked)
		if tags, err := r.Tags(id); err == nil {
			keys = WithResourceTags(keys, *tags)
		}
		all = append(all, policy.Request{Action: action, Resource: r.ResourceARN(id), Keys: keys})
	}
	return all
}

// OnNew asks for an action that makes resources of a kind, and for the tags on them.
func (r *Region) OnNew(action, kind string, tags []wire.Tag) []policy.Request {
	arn := r.ARN("ec2", kind+"/*")
	all := []policy.Request{{Action: action, Resource: arn, Keys: WithRequestTags(tags)}}
	if len(tags) > 0 {
		keys := WithRequestTags(tags)
		keys[createAction] = []string{strings.TrimPrefix(action, "ec2:")}
		all = append(all, policy.Request{Action: "ec2:CreateTags", Resource: arn, Keys: keys})
	}
	return all
}

// PassRole asks whether EC2 may be given a role; an empty one needs no permission.
func (a *Account) PassRole(name string) []policy.Request {
	role, err := a.Role(name)
	if err != nil {
		return nil
	}
	return []policy.Request{{Action: "iam:PassRole", Resource: a.RoleARN(role), Keys: map[string][]string{passedToService: {"ec2.amazonaws.com"}}}}
}

// Asks returns what CreateFleet needs: EC2 launches "on behalf of" its caller, which must also have the
// permissions to run the instances, to tag them, and to pass their role.
func (o FleetOrder) Asks(_ string, r *Region) []policy.Request {
	all := r.OnNew("ec2:CreateFleet", "fleet", tagsFor("fleet", o.TagSpecs))
	for _, c := range o.Configs {
		t, err := r.Template(c.Template)
		if err != nil {
			continue // the launch reports what is wrong
		}
		var specs []Spec
		for _, over := range append([]Override{{}}, c.Overrides...) {
			s := way{t, c.Template, over}.spec()
			if over.SubnetID != "" {
				s.Interfaces = append(slices.Clone(s.Interfaces), InterfaceSpec{SubnetID: over.SubnetID})
			}
			specs = append(specs, s)
		}
		all = append(all, r.launchAsks([]string{"ec2:CreateFleet", "ec2:RunInstances"}, t, specs, o.TagSpecs, o.Target.Default == "spot" || o.Target.Spot > 0)...)
	}
	return all
}

// launchAsks returns what launches need for each of the actions: the resources that they use, those that
// they make, and the role.
func (r *Region) launchAsks(actions []string, t *Template, specs []Spec, tags []TagSpec, spot bool) []policy.Request {
	var all []policy.Request
	var used []string
	for _, s := range specs {
		used = append(used, r.usedBy(s)...)
	}
	slices.Sort(used)
	used = slices.Compact(used)
	for _, action := range actions {
		if t != nil {
			all = append(all, r.OnExisting(action, []string{t.ID}, nil)...)
		}
		all = append(all, r.OnExisting(action, used, nil)...)
	}
	made := []string{"instance", "volume", "network-interface"}
	if spot {
		made = append(made, "spot-instances-request")
	}
	for _, kind := range made {
		all = append(all, r.OnNew("ec2:RunInstances", kind, tagsFor(kind, specs[0].TagSpecs, tags))...)
		if len(actions) > 1 {
			all = append(all, policy.Request{Action: actions[0], Resource: r.ARN("ec2", kind+"/*"), Keys: WithRequestTags(tagsFor(kind, specs[0].TagSpecs, tags))})
		}
	}
	if p, err := r.Account.profileFor(specs[0].Profile); err == nil {
		all = append(all, r.Account.PassRole(p.Role)...)
	}
	return all
}

// usedBy returns the resources that a launch names.
func (r *Region) usedBy(s Spec) []string {
	ids := slices.Clone(s.GroupIDs)
	if s.ImageID != "" && !strings.HasPrefix(s.ImageID, "resolve:") {
		ids = append(ids, s.ImageID)
		if i, err := r.Image(s.ImageID); err == nil {
			for _, d := range i.Devices {
				ids = append(ids, i.snapshot(d))
			}
		}
	}
	for _, n := range s.Interfaces {
		ids = append(append(ids, n.GroupIDs...), n.SubnetID)
	}
	ids = append(ids, s.Reservation.Target.ID, s.Placement.GroupID)
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// RunAsks returns what RunInstances needs.
func (r *Region) RunAsks(o RunOrder) []policy.Request {
	s := o.Spec
	var t *Template
	if o.Template != nil {
		if found, err := r.Template(*o.Template); err == nil {
			t = found
			s = found.Spec.over(o.Spec)
			s.TagSpecs = slices.Concat(found.Spec.TagSpecs, o.Spec.TagSpecs)
		}
	}
	if o.SubnetID != "" {
		s.Interfaces = append(slices.Clone(s.Interfaces), InterfaceSpec{SubnetID: o.SubnetID})
	}
	return r.launchAsks([]string{"ec2:RunInstances"}, t, []Spec{s}, nil, s.Market.MarketType == "spot")
}
