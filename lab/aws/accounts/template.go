package accounts

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"time"

	"tenon/lab/aws/boot"
	"tenon/lab/aws/wire"
)

// Template is a launch template. It has one version: nothing here makes others.
type Template struct {
	ID, Name    string
	Spec        Spec
	Description string
	Tags        []wire.Tag
	Created     time.Time
	token       string
	seen        time.Time
}

// TemplateRef names a template, by identifier or by name.
type TemplateRef struct {
	ID      string `query:"LaunchTemplateId" xml:"launchTemplateId,omitempty"`
	Name    string `query:"LaunchTemplateName" xml:"launchTemplateName,omitempty"`
	Version string `xml:"version,omitempty"`
}

var templateName = regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`)

// CreateTemplate makes a launch template, or returns the one that the same token made.
func (r *Region) CreateTemplate(t Template, token string) (*Template, error) {
	if !templateName.MatchString(t.Name) {
		return nil, wire.Errorf("InvalidLaunchTemplateName.MalformedException", "A launch template name must be between 3 and 128 characters, "+
			"and may contain letters, numbers, and the following characters: - ( ) . / _")
	}
	if err := checkUserData(t.Spec.UserData, "InvalidUserData.Malformed"); err != nil {
		return nil, err
	}
	for _, old := range r.templates {
		switch {
		case token != "" && old.token == token && (old.Name != t.Name || !reflect.DeepEqual(old.Spec, t.Spec)):
			return nil, wire.Errorf("IdempotentParameterMismatch", "The client token '%s' was used with other parameters.", token)
		case token != "" && old.token == token:
			return old, nil
		case old.Name == t.Name:
			return nil, wire.Errorf("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
		}
	}
	t.ID, t.Created, t.token = r.world.identifier("lt"), r.Now(), token
	t.seen = r.Now().Add(r.hides("launch-template"))
	r.templates = append(r.templates, &t)
	return &t, nil
}

func checkUserData(encoded, code string) error {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return wire.Errorf("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	}
	if len(data) > boot.Limit {
		return wire.Errorf(code, "User data is limited to %d bytes", boot.Limit)
	}
	return nil
}

// Templates are those that can be seen, in the order in which they were made.
func (r *Region) Templates() []*Template {
	var seen []*Template
	for _, t := range r.templates {
		if !t.seen.After(r.Now()) {
			seen = append(seen, t)
		}
	}
	return seen
}

// Template finds a template that can be seen.
func (r *Region) Template(ref TemplateRef) (*Template, error) {
	for _, t := range r.Templates() {
		if ref.ID != "" && t.ID == ref.ID || ref.ID == "" && t.Name == ref.Name {
			return t, nil
		}
	}
	if ref.ID != "" {
		return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", ref.ID)
	}
	return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist.")
}

// templateVersion finds the template that a launch names, and checks the version.
func (r *Region) templateVersion(ref TemplateRef) (*Template, error) {
	t, err := r.Template(ref)
	if err != nil {
		return nil, err
	}
	switch ref.Version {
	case "", "$Latest", "$Default", "1":
		return t, nil
	}
	if _, err := strconv.Atoi(ref.Version); err != nil {
		return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Version %s is neither a number nor $Latest nor $Default.", ref.Version)
	}
	return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template with ID %s.", ref.Version, t.ID)
}

// DeleteTemplate removes a template. Instances stay as they are.
func (r *Region) DeleteTemplate(ref TemplateRef) (*Template, error) {
	t, err := r.Template(ref)
	if err != nil {
		return nil, err
	}
	for i, other := range r.templates {
		if other == t {
			r.templates = append(r.templates[:i:i], r.templates[i+1:]...)
		}
	}
	return t, nil
}

// Creator is who made what callers made.
func (r *Region) Creator() string {
	return fmt.Sprintf("arn:aws:sts::%s:assumed-role/lab/lab", r.Account.ID)
}

// Now is the time of the request.
func (r *Region) Now() time.Time { return r.world.now }

func (r *Region) hides(resource string) time.Duration {
	return r.world.faults.Hides(resource, r.Account.ID, r.Name, r.Now())
}

// over is the specification with another put over it: what the other one says, wins.
func (s Spec) over(other Spec) Spec {
	result := s
	from, into := reflect.ValueOf(other), reflect.ValueOf(&result).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			into.Field(i).Set(from.Field(i))
		}
	}
	return result
}
