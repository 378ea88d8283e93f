package iam

import (
	"net/url"
	"strings"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type roleItem struct {
	Path        string    `xml:"Path"`
	Name        string    `xml:"RoleName"`
	ID          string    `xml:"RoleId"`
	ARN         string    `xml:"Arn"`
	Created     string    `xml:"CreateDate"`
	Trust       string    `xml:"AssumeRolePolicyDocument"`
	Description string    `xml:"Description,omitempty"`
	MaxSession  int       `xml:"MaxSessionDuration"`
	Tags        []tagItem `xml:"Tags>member"`
}

func itemOfRole(a *accounts.Account, r *accounts.IAMRole) roleItem {
	return roleItem{
		Path: r.Path, Name: r.Name, ID: r.ID, ARN: a.RoleARN(r), Created: stamp(r.Created), Trust: escape(r.Trust), Description: r.Description,
		MaxSession: r.MaxSessionSeconds, Tags: itemsOfTags(r.Tags),
	}
}

// escape encodes a document as IAM returns it: "URL-encoded compliant with RFC 3986".
func escape(document string) string {
	return strings.ReplaceAll(url.QueryEscape(document), "+", "%20")
}

type roleOutput struct {
	Role roleItem `xml:"Role"`
}

type namedRole struct {
	Name string `query:"RoleName"`
}

func getRole(a *accounts.Account, in *namedRole) (*roleOutput, error) {
	r, err := a.Role(in.Name)
	if err != nil {
		return nil, err
	}
	return &roleOutput{itemOfRole(a, r)}, nil
}

type createRoleInput struct {
	namedRole
	Trust       string `query:"AssumeRolePolicyDocument"`
	Description string
	MaxSession  int `query:"MaxSessionDuration"`
	Path        string
	Tags        []wire.Tag
}

func createRole(a *accounts.Account, in *createRoleInput) (*roleOutput, error) {
	path, err := pathOf(in.Path)
	if err != nil {
		return nil, err
	}
	r, err := a.CreateRole(accounts.IAMRole{Name: in.Name, Path: path, Trust: in.Trust, Description: in.Description, MaxSessionSeconds: in.MaxSession, Tags: in.Tags})
	if err != nil {
		return nil, err
	}
	return &roleOutput{itemOfRole(a, r)}, nil
}

func deleteRole(a *accounts.Account, in *namedRole) (*none, error) {
	return &none{}, a.DeleteRole(in.Name)
}

type rolesOutput struct {
	more
	Roles []roleItem `xml:"Roles>member"`
}

func listRoles(a *accounts.Account, in *listInput) (*rolesOutput, error) {
	page, more, err := pageOf(in.paging, a.Roles(in.PathPrefix), func(r *accounts.IAMRole) string { return r.Name })
	out := &rolesOutput{more: more}
	for _, r := range page {
		out.Roles = append(out.Roles, itemOfRole(a, r))
	}
	return out, err
}

type tagRoleInput struct {
	namedRole
	Tags []wire.Tag
}

func tagRole(a *accounts.Account, in *tagRoleInput) (*none, error) {
	return &none{}, a.TagRole(in.Name, in.Tags)
}

type trustInput struct {
	namedRole
	Document string `query:"PolicyDocument"`
}

func trustRole(a *accounts.Account, in *trustInput) (*none, error) {
	return &none{}, a.Trust(in.Name, in.Document)
}

type inlineInput struct {
	namedRole
	Policy   string `query:"PolicyName"`
	Document string `query:"PolicyDocument"`
}

func putInline(a *accounts.Account, in *inlineInput) (*none, error) {
	return &none{}, a.PutInline(in.Name, in.Policy, in.Document)
}

type namedInline struct {
	namedRole
	Policy string `query:"PolicyName"`
}

type inlineOutput struct {
	Role     string `xml:"RoleName"`
	Policy   string `xml:"PolicyName"`
	Document string `xml:"PolicyDocument"`
}

func getInline(a *accounts.Account, in *namedInline) (*inlineOutput, error) {
	document, err := a.Inline(in.Name, in.Policy)
	return &inlineOutput{in.Name, in.Policy, escape(document)}, err
}

func deleteInline(a *accounts.Account, in *namedInline) (*none, error) {
	return &none{}, a.DeleteInline(in.Name, in.Policy)
}

type ofRoleInput struct {
	paging
	Name string `query:"RoleName"`
}

type inlineNamesOutput struct {
	more
	Names []string `xml:"PolicyNames>member"`
}

func listInline(a *accounts.Account, in *ofRoleInput) (*inlineNamesOutput, error) {
	r, err := a.Role(in.Name)
	if err != nil {
		return nil, err
	}
	page, more, err := pageOf(in.paging, r.InlineNames(), func(name string) string { return name })
	return &inlineNamesOutput{more, page}, err
}

func listProfilesOf(a *accounts.Account, in *ofRoleInput) (*listOutput, error) {
	if _, err := a.Role(in.Name); err != nil {
		return nil, err
	}
	return profilesPage(a, a.ProfilesOf(in.Name), in.paging)
}
