package accounts

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"tenon/lab/aws/wire"
)

// IAMRole is a role of an account.
type IAMRole struct {
	ID, Name, Path, Description string
	Trust                       string // the policy that says who may assume it
	MaxSessionSeconds           int
	Created                     time.Time
	Tags                        []wire.Tag

	attached []string          // ARNs of managed policies, in the order of ARNs
	inline   map[string]string // documents by name
}

// Limits of IAM.
const (
	policiesPerRole  = 10
	inlineCharacters = 10240
	policyCharacters = 6144
	usualSession     = 3600
)

// trustInstances lets EC2 hand the role to instances.
const trustInstances = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

var roleName = regexp.MustCompile(`^[\w+=,.@-]{1,64}$`)

// IsRoleName reports whether a role can have the name.
func IsRoleName(name string) bool { return roleName.MatchString(name) }

// Roles returns the roles below a path, in the order of their names.
func (a *Account) Roles(prefix string) []*IAMRole {
	var found []*IAMRole
	for _, r := range a.roles {
		if strings.HasPrefix(r.Path, prefix) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(x, y *IAMRole) int { return strings.Compare(x.Name, y.Name) })
	return found
}

// Role finds a role by its name.
func (a *Account) Role(name string) (*IAMRole, error) {
	if r, ok := a.roles[name]; ok {
		return r, nil
	}
	return nil, wire.StatusErrorf(404, "NoSuchEntity", "The role with name %s cannot be found.", name)
}

// RoleARN names a role.
func (a *Account) RoleARN(r *IAMRole) string { return a.ARN("role" + r.Path + r.Name) }

// roleByARN finds a role by its ARN, or nil.
func (a *Account) roleByARN(arn string) *IAMRole {
	for _, r := range a.roles {
		if a.RoleARN(r) == arn {
			return r
		}
	}
	return nil
}

// CreateRole makes a role. A role that is made again has a new identifier.
func (a *Account) CreateRole(r IAMRole) (*IAMRole, error) {
	if !IsRoleName(r.Name) {
		return nil, wire.Errorf("ValidationError", "The specified value for roleName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-")
	}
	if err := checkDocument(r.Trust); err != nil {
		return nil, err
	}
	if _, ok := a.roles[r.Name]; ok {
		return nil, wire.StatusErrorf(409, "EntityAlreadyExists", "Role with name %s already exists.", r.Name)
	}
	a.made++
	r.ID = "AROA" + strings.ToUpper(a.world.config.Seed.Hex(17, "role", a.ID, r.Name, strconv.Itoa(a.made)))
	r.Created, r.Tags, r.inline = a.world.now, slices.Clone(r.Tags), map[string]string{}
	r.Path, r.MaxSessionSeconds = cmp.Or(r.Path, "/"), cmp.Or(r.MaxSessionSeconds, usualSession)
	a.roles[r.Name] = &r
	return &r, nil
}

// DeleteRole removes a role that nothing uses and that has no policies.
func (a *Account) DeleteRole(name string) error {
	r, err := a.Role(name)
	if err != nil {
		return err
	}
	conflict := func(what string) error {
		return wire.StatusErrorf(409, "DeleteConflict", "Cannot delete entity, must %s first.", what)
	}
	switch {
	case len(r.attached) > 0:
		return conflict("detach all policies")
	case len(r.inline) > 0:
		return conflict("delete policies")
	case len(a.ProfilesOf(name)) > 0:
		return conflict("remove roles from instance profile")
	}
	delete(a.roles, name)
	return nil
}

// ProfilesOf returns the profiles that contain a role.
func (a *Account) ProfilesOf(role string) []*Profile {
	return slices.DeleteFunc(a.Profiles(""), func(p *Profile) bool { return p.Role != role })
}

// TagRole puts tags on a role.
func (a *Account) TagRole(name string, tags []wire.Tag) error {
	r, err := a.Role(name)
	if err == nil {
		r.Tags = putTags(r.Tags, tags)
	}
	return err
}

// Trust changes who may assume a role.
func (a *Account) Trust(name, document string) error {
	r, err := a.Role(name)
	if err != nil {
		return err
	}
	if err := checkDocument(document); err != nil {
		return err
	}
	r.Trust = document
	return nil
}

// PutInline gives a role an inline policy, or replaces it.
func (a *Account) PutInline(role, name, document string) error {
	r, err := a.Role(role)
	if err != nil {
		return err
	}
	if err := checkDocument(document); err != nil {
		return err
	}
	size := characters(document)
	for other, have := range r.inline {
		if other != name {
			size += characters(have)
		}
	}
	if size > inlineCharacters {
		return wire.StatusErrorf(409, "LimitExceeded", "Maximum policy size of %d bytes exceeded for role %s", inlineCharacters, role)
	}
	r.inline[name] = document
	return nil
}

// Inline returns an inline policy of a role.
func (a *Account) Inline(role, name string) (document string, err error) {
	r, err := a.Role(role)
	if err != nil {
		return "", err
	}
	document, ok := r.inline[name]
	if !ok {
		return "", wire.StatusErrorf(404, "NoSuchEntity", "The role policy with name %s cannot be found.", name)
	}
	return document, nil
}

// DeleteInline removes an inline policy of a role.
func (a *Account) DeleteInline(role, name string) error {
	if _, err := a.Inline(role, name); err != nil {
		return err
	}
	delete(a.roles[role].inline, name)
	return nil
}

// InlineNames returns the names of a role's inline policies, sorted.
func (r *IAMRole) InlineNames() []string { return slices.Sorted(maps.Keys(r.inline)) }

// checkDocument refuses a document that is not a policy. It does not check what the statements say.
func checkDocument(document string) error {
	var policy struct {
		Version   string
		Statement json.RawMessage
	}
	malformed := func(what string) error { return wire.Errorf("MalformedPolicyDocument", "%s", what) }
	switch err := json.Unmarshal([]byte(document), &policy); {
	case err != nil:
		return malformed("This policy contains invalid Json")
	case policy.Version != "" && policy.Version != "2012-10-17" && policy.Version != "2008-10-17":
		return malformed("The policy must contain a valid version string")
	case len(policy.Statement) == 0:
		return malformed("Syntax errors in policy.")
	}
	return nil
}

// characters returns the size of a document as IAM counts it: without white space.
func characters(document string) int {
	return len(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, document))
}
