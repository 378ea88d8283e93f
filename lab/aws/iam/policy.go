package iam

import (
	"slices"
	"strings"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type policyItem struct {
	Name        string    `xml:"PolicyName"`
	ID          string    `xml:"PolicyId"`
	ARN         string    `xml:"Arn"`
	Path        string    `xml:"Path"`
	Version     string    `xml:"DefaultVersionId"`
	Attachments int       `xml:"AttachmentCount"`
	Attachable  bool      `xml:"IsAttachable"`
	Description string    `xml:"Description,omitempty"`
	Created     string    `xml:"CreateDate"`
	Updated     string    `xml:"UpdateDate"`
	Tags        []tagItem `xml:"Tags>member"`
}

// onlyVersion is the version of every policy: the emulator makes no others.
const onlyVersion = "v1"

func itemOfPolicy(a *accounts.Account, p *accounts.IAMPolicy) policyItem {
	return policyItem{
		Name: p.Name, ID: p.ID, ARN: p.ARN, Path: p.Path, Version: onlyVersion, Attachments: a.Attachments(p.ARN), Attachable: true,
		Description: p.Description, Created: stamp(p.Created), Updated: stamp(p.Created), Tags: itemsOfTags(p.Tags),
	}
}

type policyOutput struct {
	Policy policyItem `xml:"Policy"`
}

type createPolicyInput struct {
	Name        string `query:"PolicyName"`
	Document    string `query:"PolicyDocument"`
	Description string
	Path        string
	Tags        []wire.Tag
}

func createPolicy(a *accounts.Account, in *createPolicyInput) (*policyOutput, error) {
	path, err := pathOf(in.Path)
	if err != nil {
		return nil, err
	}
	p, err := a.CreatePolicy(accounts.IAMPolicy{Name: in.Name, Path: path, Document: in.Document, Description: in.Description, Tags: in.Tags})
	if err != nil {
		return nil, err
	}
	return &policyOutput{itemOfPolicy(a, p)}, nil
}

type namedPolicy struct {
	ARN string `query:"PolicyArn"`
}

func getPolicy(a *accounts.Account, in *namedPolicy) (*policyOutput, error) {
	p, err := a.Policy(in.ARN)
	if err != nil {
		return nil, err
	}
	return &policyOutput{itemOfPolicy(a, p)}, nil
}

type versionInput struct {
	namedPolicy
	Version string `query:"VersionId"`
}

type versionOutput struct {
	Version struct {
		ID       string `xml:"VersionId"`
		Document string `xml:"Document"`
		Default  bool   `xml:"IsDefaultVersion"`
		Created  string `xml:"CreateDate"`
	} `xml:"PolicyVersion"`
}

func getPolicyVersion(a *accounts.Account, in *versionInput) (*versionOutput, error) {
	p, err := a.Policy(in.ARN)
	switch {
	case err != nil:
		return nil, err
	case p.OfAWS():
		return nil, wire.Errorf("UnsupportedOperation", "The emulator does not model what %s says.", in.ARN)
	case in.Version != onlyVersion:
		return nil, wire.StatusErrorf(404, "NoSuchEntity", "Policy %s version %s does not exist or is not attachable.", in.ARN, in.Version)
	}
	out := &versionOutput{}
	out.Version.ID, out.Version.Document, out.Version.Default, out.Version.Created = onlyVersion, escape(p.Document), true, stamp(p.Created)
	return out, nil
}

func deletePolicy(a *accounts.Account, in *namedPolicy) (*none, error) {
	return &none{}, a.DeletePolicy(in.ARN)
}

type policiesInput struct {
	paging
	Scope        string
	OnlyAttached bool
	PathPrefix   string
}

type policiesOutput struct {
	more
	Policies []policyItem `xml:"Policies>member"`
}

func listPolicies(a *accounts.Account, in *policiesInput) (*policiesOutput, error) {
	all := slices.DeleteFunc(a.Policies(), func(p *accounts.IAMPolicy) bool {
		return in.Scope == "AWS" && !p.OfAWS() || in.Scope == "Local" && p.OfAWS() || in.OnlyAttached && a.Attachments(p.ARN) == 0 || !strings.HasPrefix(p.Path, in.PathPrefix)
	})
	page, more, err := pageOf(in.paging, all, func(p *accounts.IAMPolicy) string { return p.ARN })
	out := &policiesOutput{more: more}
	for _, p := range page {
		out.Policies = append(out.Policies, itemOfPolicy(a, p))
	}
	return out, err
}

type attachInput struct {
	namedRole
	namedPolicy
}

func attachPolicy(a *accounts.Account, in *attachInput) (*none, error) {
	return &none{}, a.AttachPolicy(in.Name, in.ARN)
}

func detachPolicy(a *accounts.Account, in *attachInput) (*none, error) {
	return &none{}, a.DetachPolicy(in.Name, in.ARN)
}

type attachedOutput struct {
	more
	Policies []attachedItem `xml:"AttachedPolicies>member"`
}

type attachedItem struct {
	ARN  string `xml:"PolicyArn"`
	Name string `xml:"PolicyName"`
}

type attachedInput struct {
	ofRoleInput
	PathPrefix string
}

func listAttached(a *accounts.Account, in *attachedInput) (*attachedOutput, error) {
	all, err := a.Attached(in.Name, in.PathPrefix)
	if err != nil {
		return nil, err
	}
	page, more, err := pageOf(in.paging, all, func(p *accounts.IAMPolicy) string { return p.ARN })
	out := &attachedOutput{more: more}
	for _, p := range page {
		out.Policies = append(out.Policies, attachedItem{p.ARN, p.Name})
	}
	return out, err
}
