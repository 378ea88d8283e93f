package accounts

import (
	"slices"
	"strings"
	"time"

	"tenon/lab/aws/wire"
)

// Account is one AWS account: its roles and profiles, which belong to no region,
// and its regions.
type Account struct {
	ID       string
	world    *World
	regions  map[string]*Region
	roles    map[string]*IAMRole   // by name
	policies map[string]*IAMPolicy // the account's own, by ARN
	profiles map[string]*Profile
	made     int // roles and policies
}

// Profile carries a role to instances.
type Profile struct {
	ID, Name, Path string
	Role           string // the role's name; empty if it has none
	Tags           []wire.Tag
	Created        time.Time
	Seen           time.Time // the time from which EC2 knows it
}

func newAccount(w *World, id string) *Account {
	a := &Account{
		ID: id, world: w, regions: map[string]*Region{}, roles: map[string]*IAMRole{}, policies: map[string]*IAMPolicy{}, profiles: map[string]*Profile{},
	}
	for _, r := range w.config.roles() {
		if _, err := a.CreateRole(IAMRole{Name: r.Name, Path: r.Path, Trust: trustInstances}); err != nil {
			w.log.Error("a configured role cannot be made", "role", r.Name, "err", err)
			continue
		}
		profile := strings.Replace(r.Name, "NodeRole", "NodeInstanceProfile", 1)
		a.profiles[profile] = &Profile{ID: a.profileID(profile), Name: profile, Path: "/", Role: r.Name, Created: w.now, Seen: w.now}
	}
	return a
}

func (a *Account) profileID(name string) string {
	return "AIPA" + strings.ToUpper(a.world.config.Seed.Hex(17, "profile", a.ID, name))
}

func (a *Account) region(name string) *Region {
	if r, ok := a.regions[name]; ok {
		return r
	}
	r := newRegion(a, name)
	a.regions[name] = r
	return r
}

// Now is the time of the request.
func (a *Account) Now() time.Time { return a.world.now }

// ARN names a resource of IAM, such as instance-profile/a/b.
func (a *Account) ARN(resource string) string { return "arn:aws:iam::" + a.ID + ":" + resource }

// ProfileARN names a profile.
func (a *Account) ProfileARN(p *Profile) string { return a.ARN("instance-profile" + p.Path + p.Name) }

// Profile finds a profile by its name.
func (a *Account) Profile(name string) (*Profile, error) {
	if p, ok := a.profiles[name]; ok {
		return p, nil
	}
	return nil, wire.StatusErrorf(404, "NoSuchEntity", "Instance Profile %s cannot be found.", name)
}

// Profiles returns the profiles below a path, in the order of their names.
func (a *Account) Profiles(prefix string) []*Profile {
	var found []*Profile
	for _, p := range a.profiles {
		if strings.HasPrefix(p.Path, prefix) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *Profile) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// CreateProfile adds a profile without a role.
func (a *Account) CreateProfile(name, path string, tags []wire.Tag) (*Profile, error) {
	if _, ok := a.profiles[name]; ok {
		return nil, wire.StatusErrorf(409, "EntityAlreadyExists", "Instance Profile %s already exists.", name)
	}
	p := &Profile{ID: a.profileID(name), Name: name, Path: path, Tags: slices.Clone(tags), Created: a.world.now}
	p.Seen = a.world.now.Add(a.world.faults.Hides("instance-profile", a.ID, "", a.world.now))
	a.profiles[name] = p
	return p, nil
}

// DeleteProfile removes a profile that no longer has a role.
func (a *Account) DeleteProfile(name string) error {
	p, err := a.Profile(name)
	switch {
	case err != nil:
		return err
	case p.Role != "":
		return wire.StatusErrorf(409, "DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(a.profiles, name)
	return nil
}

// AddRole puts a role into a profile, which holds at most one.
func (a *Account) AddRole(profile, role string) error {
	p, err := a.Profile(profile)
	if err != nil {
		return err
	}
	if _, err := a.Role(role); err != nil {
		return err
	}
	if p.Role != "" {
		return wire.StatusErrorf(409, "LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.Role = role
	return nil
}

// RemoveRole takes a role out of a profile.
func (a *Account) RemoveRole(profile, role string) error {
	p, err := a.Profile(profile)
	if err != nil {
		return err
	}
	if p.Role != role {
		return wire.StatusErrorf(404, "NoSuchEntity", "The role with name %s cannot be found.", role)
	}
	p.Role = ""
	return nil
}

// profileFor finds the profile that a launch asks for, by name or by ARN.
func (a *Account) profileFor(ref ProfileRef) (*Profile, error) {
	name := ref.Name
	if ref.Arn != "" {
		name = ref.Arn[strings.LastIndex(ref.Arn, "/")+1:]
	}
	p, ok := a.profiles[name]
	if !ok || p.Seen.After(a.world.now) {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", name)
	}
	return p, nil
}

// TagProfile puts tags on a profile.
func (a *Account) TagProfile(name string, tags []wire.Tag) error {
	p, err := a.Profile(name)
	if err != nil {
		return err
	}
	p.Tags = putTags(p.Tags, tags)
	return nil
}
