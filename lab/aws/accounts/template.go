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

// Template is a launch template, in one of its versions.
type Template struct {
	ID, Name string
	TemplateVersion
	Tags     []wire.Tag
	Default  int               // the number of the default version
	Versions []TemplateVersion // the oldest first
	token    string
	seen     time.Time
}

// TemplateVersion is a version of a launch template, which never changes.
type TemplateVersion struct {
	Number      int
	Spec        Spec
	Description string
	Created     time.Time
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
	t.Number, t.Default = 1, 1
	t.Versions = []TemplateVersion{t.TemplateVersion}
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

// Templates returns the visible templates, in the order in which they were made.
func (r *Region) Templates() []*Template {
	var seen []*Template
	for _, t := range r.templates {
		if !t.seen.After(r.Now()) {
			seen = append(seen, t)
		}
	}
	return seen
}

// Template finds a visible template.
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

// templateVersion finds the template that a launch names, in the version that it names.
func (r *Region) templateVersion(ref TemplateRef) (*Template, error) {
	t, err := r.Template(ref)
	if err != nil {
		return nil, err
	}
	number := t.Default
	switch ref.Version {
	case "", "$Default":
	case "$Latest":
		number = len(t.Versions)
	default:
		if number, err = strconv.Atoi(ref.Version); err != nil {
			return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Version %s is neither a number nor $Latest nor $Default.", ref.Version)
		}
	}
	if number < 1 || number > len(t.Versions) {
		return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template with ID %s.", ref.Version, t.ID)
	}
	version := *t
	version.TemplateVersion = t.Versions[number-1]
	return &version, nil
}

// ref names the template in the version that it is in.
func (t *Template) ref() TemplateRef { return TemplateRef{t.ID, t.Name, strconv.Itoa(t.Number)} }

// AddVersion makes a version of a template: the source's with the specification applied to it, or without
// a source the specification alone.
func (r *Region) AddVersion(ref TemplateRef, s Spec, description string) (TemplateVersion, error) {
	t, err := r.Template(ref)
	if err != nil {
		return TemplateVersion{}, err
	}
	if ref.Version != "" {
		source, err := r.templateVersion(ref)
		if err != nil {
			return TemplateVersion{}, err
		}
		s = source.Spec.over(s)
	}
	if err := checkUserData(s.UserData, "InvalidUserData.Malformed"); err != nil {
		return TemplateVersion{}, err
	}
	v := TemplateVersion{len(t.Versions) + 1, s, description, r.Now()}
	t.Versions = append(t.Versions, v)
	return v, nil
}

// SetDefaultVersion sets the version for launches that name none.
func (r *Region) SetDefaultVersion(ref TemplateRef) (*Template, error) {
	v, err := r.templateVersion(ref)
	if err != nil {
		return nil, err
	}
	t, err := r.Template(ref)
	if err != nil {
		return nil, err
	}
	t.Default = v.Number
	return t, nil
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

// Creator returns the ARN of the creator of what callers make.
func (r *Region) Creator() string {
	return fmt.Sprintf("arn:aws:sts::%s:assumed-role/lab/lab", r.Account.ID)
}

// Now returns the time of the request.
func (r *Region) Now() time.Time { return r.world.now }

func (r *Region) hides(resource string) time.Duration {
	return r.world.faults.Hides(resource, r.Account.ID, r.Name, r.Now())
}

// over returns the specification with another one applied to it, whose fields win.
func (s Spec) over(other Spec) Spec { return over(s, other) }

// over returns the group's specification with another one applied to it.
func (s GroupSpec) over(other GroupSpec) GroupSpec { return over(s, other) }

func over[T any](s, other T) T {
	result := s
	from, into := reflect.ValueOf(other), reflect.ValueOf(&result).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			into.Field(i).Set(from.Field(i))
		}
	}
	return result
}
