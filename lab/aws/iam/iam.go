// Package iam is the wire interface of IAM's roles, policies and instance profiles, and of STS.
package iam

import (
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/policy"
	"tenon/lab/aws/wire"
)

// Service serves IAM on the given world.
func Service(w *accounts.World) *wire.Service {
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
			"ListInstanceProfilesForRole":   on(w, listProfilesOf),

			"CreateRole":               on(w, createRole),
			"GetRole":                  on(w, getRole),
			"DeleteRole":               on(w, deleteRole),
			"ListRoles":                on(w, listRoles),
			"TagRole":                  on(w, tagRole),
			"UpdateAssumeRolePolicy":   on(w, trustRole),
			"PutRolePolicy":            on(w, putInline),
			"GetRolePolicy":            on(w, getInline),
			"DeleteRolePolicy":         on(w, deleteInline),
			"ListRolePolicies":         on(w, listInline),
			"AttachRolePolicy":         on(w, attachPolicy),
			"DetachRolePolicy":         on(w, detachPolicy),
			"ListAttachedRolePolicies": on(w, listAttached),

			"CreatePolicy":     on(w, createPolicy),
			"GetPolicy":        on(w, getPolicy),
			"GetPolicyVersion": on(w, getPolicyVersion),
			"DeletePolicy":     on(w, deletePolicy),
			"ListPolicies":     on(w, listPolicies),
		},
	}
}

func on[In, Out any](w *accounts.World, do func(*accounts.Account, *In) (*Out, error)) wire.Handler {
	return wire.Operation(func(c *wire.Call, in *In) (out *Out, err error) {
		err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
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

// Asks returns the action on the profile, with the profile's tags.
func (in *profileInput) Asks(action string, r *accounts.Region) []policy.Request {
	return onProfile(r.Account, action, in.Name, "/", nil)
}

// onProfile asks for an action on a profile, which may not exist yet.
func onProfile(a *accounts.Account, action, name, path string, asked []wire.Tag) []policy.Request {
	keys, arn := accounts.WithRequestTags(asked), a.ARN("instance-profile"+path+name)
	if p, err := a.Profile(name); err == nil {
		keys, arn = accounts.WithResourceTags(keys, p.Tags), a.ProfileARN(p)
	}
	return []policy.Request{{Action: action, Resource: arn, Keys: keys}}
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

type tagItem struct {
	Key   string `xml:"Key"`
	Value string `xml:"Value"`
}

func itemOf(a *accounts.Account, p *accounts.Profile) profileItem {
	item := profileItem{Path: p.Path, Name: p.Name, ID: p.ID, ARN: a.ProfileARN(p), Created: stamp(p.Created)}
	if role, err := a.Role(p.Role); err == nil {
		item.Roles = []roleItem{itemOfRole(a, role)}
	}
	item.Tags = itemsOfTags(p.Tags)
	return item
}

func itemsOfTags(tags []wire.Tag) (items []tagItem) {
	for _, t := range tags {
		items = append(items, tagItem(t))
	}
	return items
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func getProfile(a *accounts.Account, in *profileInput) (*profileOutput, error) {
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

// Asks returns the action on the new profile. Tagging it requires another permission, for which the tags
// of the request count as those of the resource.
func (in *createInput) Asks(action string, r *accounts.Region) []policy.Request {
	path, err := pathOf(in.Path)
	if err != nil {
		path = "/" // the operation refuses the path
	}
	all := onProfile(r.Account, action, in.Name, path, in.Tags)
	if len(in.Tags) > 0 {
		keys := accounts.WithResourceTags(accounts.WithRequestTags(in.Tags), in.Tags)
		all = append(all, policy.Request{Action: "iam:TagInstanceProfile", Resource: all[0].Resource, Keys: keys})
	}
	return all
}

func createProfile(a *accounts.Account, in *createInput) (*profileOutput, error) {
	path, err := pathOf(in.Path)
	switch {
	case err != nil:
		return nil, err
	case in.Name == "" || len(in.Name) > 128:
		return nil, wire.Errorf("ValidationError", "The specified value for instanceProfileName is invalid. It must have 1 to 128 characters.")
	}
	p, err := a.CreateProfile(in.Name, path, in.Tags)
	if err != nil {
		return nil, err
	}
	return &profileOutput{itemOf(a, p)}, nil
}

// pathOf returns the given path, or the default.
func pathOf(path string) (string, error) {
	switch {
	case path == "":
		return "/", nil
	case path[0] != '/' || path[len(path)-1] != '/' || len(path) > 512:
		return "", wire.Errorf("ValidationError", "The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.")
	default:
		return path, nil
	}
}

func deleteProfile(a *accounts.Account, in *profileInput) (*none, error) {
	return &none{}, a.DeleteProfile(in.Name)
}

type roleInput struct {
	profileInput
	Role string `query:"RoleName"`
}

// Asks returns the action on the profile. A caller that puts a role into a profile must also be allowed
// to pass the role.
func (in *roleInput) Asks(action string, r *accounts.Region) []policy.Request {
	all := onProfile(r.Account, action, in.Name, "/", nil)
	if action == "iam:AddRoleToInstanceProfile" {
		all = append(all, r.Account.PassRole(in.Role)...)
	}
	return all
}

func addRole(a *accounts.Account, in *roleInput) (*none, error) {
	return &none{}, a.AddRole(in.Name, in.Role)
}

func removeRole(a *accounts.Account, in *roleInput) (*none, error) {
	return &none{}, a.RemoveRole(in.Name, in.Role)
}

type listInput struct {
	paging
	PathPrefix string
}

type listOutput struct {
	more
	Profiles []profileItem `xml:"InstanceProfiles>member"`
}

func listProfiles(a *accounts.Account, in *listInput) (*listOutput, error) {
	return profilesPage(a, a.Profiles(in.PathPrefix), in.paging)
}

func profilesPage(a *accounts.Account, all []*accounts.Profile, in paging) (*listOutput, error) {
	page, more, err := pageOf(in, all, func(p *accounts.Profile) string { return p.Name })
	out := &listOutput{more: more}
	for _, p := range page {
		out.Profiles = append(out.Profiles, itemOf(a, p))
	}
	return out, err
}

// paging holds the parameters of all IAM lists.
type paging struct {
	MaxItems *int
	Marker   string
}

// more says, in all of these lists, whether there is more.
type more struct {
	Truncated bool   `xml:"IsTruncated"`
	Marker    string `xml:"Marker,omitempty"`
}

// pageOf cuts a page from a list that is sorted by its keys: 100 items by default, at most 1,000.
func pageOf[T any](in paging, all []T, key func(T) string) ([]T, more, error) {
	if in.MaxItems == nil {
		usual := 100
		in.MaxItems = &usual
	}
	page, next, err := wire.Page(all, key, in.MaxItems, in.Marker, wire.Limits{Min: 1, Max: 1000})
	return page, more{next != "", next}, err
}

type tagInput struct {
	profileInput
	Tags []wire.Tag
}

// Asks returns the action on the profile, with the tags that it has and gets.
func (in *tagInput) Asks(action string, r *accounts.Region) []policy.Request {
	return onProfile(r.Account, action, in.Name, "/", in.Tags)
}

func tagProfile(a *accounts.Account, in *tagInput) (*none, error) {
	return &none{}, a.TagProfile(in.Name, in.Tags)
}
