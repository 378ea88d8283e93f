// Package iam is the wire face of IAM's instance profiles, and of STS.
package iam

import (
	"time"

	"tenon/lab/aws/estate"
	"tenon/lab/aws/wire"
)

// Service is IAM on the given world.
func Service(w *estate.World) *wire.Service {
	return &wire.Service{
		Name: "iam", Protocol: wire.Query, Version: "2010-05-08", Namespace: "https://iam.amazonaws.com/doc/2010-05-08/",
		Operations: map[string]wire.Handler{
			"GetInstanceProfile":            on(w, getProfile),
			"CreateInstanceProfile":         on(w, createProfile),
			"DeleteInstanceProfile":         on(w, deleteProfile),
			"AddRoleToInstanceProfile":      on(w, addRole),
			"RemoveRoleFromInstanceProfile": on(w, removeRole),
			"ListInstanceProfiles":          on(w, listProfiles),
			"TagInstanceProfile":            on(w, tagProfile),
			"GetRole":                       on(w, getRole),
		},
	}
}

func on[In, Out any](w *estate.World, do func(*estate.Account, *In) (*Out, error)) wire.Handler {
	return wire.Operation(func(c *wire.Call, in *In) (out *Out, err error) {
		err = w.Do(c.Account, c.Region, func(r *estate.Region) error {
			out, err = do(r.Account, in)
			return err
		})
		return out, err
	})
}

type none struct{}

type profileInput struct {
	Name string `query:"InstanceProfileName"`
}

type profileOutput struct {
	Profile profileItem `xml:"InstanceProfile"`
}

type profileItem struct {
	Path    string     `xml:"Path"`
	Name    string     `xml:"InstanceProfileName"`
	ID      string     `xml:"InstanceProfileId"`
	ARN     string     `xml:"Arn"`
	Created string     `xml:"CreateDate"`
	Roles   []roleItem `xml:"Roles>member"`
	Tags    []tagItem  `xml:"Tags>member"`
}

type roleItem struct {
	Path    string `xml:"Path"`
	Name    string `xml:"RoleName"`
	ID      string `xml:"RoleId"`
	ARN     string `xml:"Arn"`
	Created string `xml:"CreateDate"`
}

type tagItem struct {
	Key   string `xml:"Key"`
	Value string `xml:"Value"`
}

func itemOf(a *estate.Account, p *estate.Profile) profileItem {
	item := profileItem{Path: p.Path, Name: p.Name, ID: p.ID, ARN: a.ProfileARN(p), Created: stamp(p.Created)}
	if role, ok := a.Role(p.Role); ok {
		item.Roles = []roleItem{itemOfRole(a, role)}
	}
	for _, t := range p.Tags {
		item.Tags = append(item.Tags, tagItem(t))
	}
	return item
}

func itemOfRole(a *estate.Account, r estate.Role) roleItem {
	return roleItem{Path: r.Path, Name: r.Name, ID: a.RoleID(r.Name), ARN: a.ARN("role" + r.Path + r.Name), Created: "2026-01-01T00:00:00Z"}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func getProfile(a *estate.Account, in *profileInput) (*profileOutput, error) {
	p, err := a.Profile(in.Name)
	if err != nil {
		return nil, err
	}
	return &profileOutput{itemOf(a, p)}, nil
}

type createInput struct {
	profileInput
	Path string
	Tags []wire.Tag
}

func createProfile(a *estate.Account, in *createInput) (*profileOutput, error) {
	path := in.Path
	if path == "" {
		path = "/"
	}
	switch {
	case path[0] != '/' || path[len(path)-1] != '/' || len(path) > 512:
		return nil, wire.Errorf("ValidationError", "The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.")
	case in.Name == "" || len(in.Name) > 128:
		return nil, wire.Errorf("ValidationError", "The specified value for instanceProfileName is invalid. It must have 1 to 128 characters.")
	}
	p, err := a.CreateProfile(in.Name, path, in.Tags)
	if err != nil {
		return nil, err
	}
	return &profileOutput{itemOf(a, p)}, nil
}

func deleteProfile(a *estate.Account, in *profileInput) (*none, error) {
	return &none{}, a.DeleteProfile(in.Name)
}

type roleInput struct {
	profileInput
	Role string `query:"RoleName"`
}

func addRole(a *estate.Account, in *roleInput) (*none, error) {
	return &none{}, a.AddRole(in.Name, in.Role)
}

func removeRole(a *estate.Account, in *roleInput) (*none, error) {
	return &none{}, a.RemoveRole(in.Name, in.Role)
}

type listInput struct {
	PathPrefix string
	MaxItems   *int
	Marker     string
}

type listOutput struct {
	Profiles  []profileItem `xml:"InstanceProfiles>member"`
	Truncated bool          `xml:"IsTruncated"`
	Marker    string        `xml:"Marker,omitempty"`
}

func listProfiles(a *estate.Account, in *listInput) (*listOutput, error) {
	if in.MaxItems == nil {
		usual := 100
		in.MaxItems = &usual
	}
	page, next, err := wire.Page(a.Profiles(in.PathPrefix), func(p *estate.Profile) string { return p.Name }, in.MaxItems, in.Marker, wire.Limits{Min: 1, Max: 1000})
	out := &listOutput{Truncated: next != "", Marker: next}
	for _, p := range page {
		out.Profiles = append(out.Profiles, itemOf(a, p))
	}
	return out, err
}

type tagInput struct {
	profileInput
	Tags []wire.Tag
}

func tagProfile(a *estate.Account, in *tagInput) (*none, error) {
	return &none{}, a.TagProfile(in.Name, in.Tags)
}

type roleOutput struct {
	Role roleItem `xml:"Role"`
}

type getRoleInput struct {
	Name string `query:"RoleName"`
}

func getRole(a *estate.Account, in *getRoleInput) (*roleOutput, error) {
	role, ok := a.Role(in.Name)
	if !ok {
		return nil, wire.StatusErrorf(404, "NoSuchEntity", "The role with name %s cannot be found.", in.Name)
	}
	return &roleOutput{itemOfRole(a, role)}, nil
}
