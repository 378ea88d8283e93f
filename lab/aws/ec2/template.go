package ec2

import (
	"fmt"
	"slices"
	"strconv"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/policy"
	"tenon/lab/aws/wire"
)

type createTemplateInput struct {
	dry
	Name        string             `query:"LaunchTemplateName"`
	Data        accounts.Spec      `query:"LaunchTemplateData"`
	Description string             `query:"VersionDescription"`
	TagSpecs    []accounts.TagSpec `query:"TagSpecification"`
	Token       string             `query:"ClientToken"`
}

type templateOutput struct {
	Template templateItem `xml:"launchTemplate"`
}

type templateItem struct {
	ID      string     `xml:"launchTemplateId"`
	Name    string     `xml:"launchTemplateName"`
	Created string     `xml:"createTime"`
	By      string     `xml:"createdBy"`
	Default int        `xml:"defaultVersionNumber"`
	Latest  int        `xml:"latestVersionNumber"`
	Tags    []wire.Tag `xml:"tagSet>item"`
}

func itemOfTemplate(r *accounts.Region, t *accounts.Template) templateItem {
	return templateItem{t.ID, t.Name, stamp(t.Created), r.Creator(), t.Default, len(t.Versions), t.Tags}
}

// Asks returns the action on a new template, and the tags on it.
func (in *createTemplateInput) Asks(action string, r *accounts.Region) []policy.Request {
	tags, _ := tagsOf(in.TagSpecs, "launch-template") // the operation refuses tags on other resources
	return r.OnNew(action, "launch-template", tags)
}

func createTemplate(r *accounts.Region, in *createTemplateInput) (*templateOutput, error) {
	tags, err := tagsOf(in.TagSpecs, "launch-template")
	if err != nil {
		return nil, err
	}
	t, err := r.CreateTemplate(accounts.Template{
		Name: in.Name, Tags: tags, TemplateVersion: accounts.TemplateVersion{Spec: in.Data, Description: in.Description},
	}, in.Token)
	if err != nil {
		return nil, err
	}
	return &templateOutput{itemOfTemplate(r, t)}, nil
}

type templateInput struct {
	dry
	ID   string `query:"LaunchTemplateId"`
	Name string `query:"LaunchTemplateName"`
}

type deleteTemplateInput struct{ templateInput }

// Asks returns the action on the template, by its identifier even if the request uses its name.
func (in *deleteTemplateInput) Asks(action string, r *accounts.Region) []policy.Request {
	id := in.ID
	if t, err := r.Template(accounts.TemplateRef{ID: in.ID, Name: in.Name}); err == nil {
		id = t.ID
	}
	return r.OnExisting(action, []string{id}, nil)
}

func deleteTemplate(r *accounts.Region, in *deleteTemplateInput) (*templateOutput, error) {
	t, err := r.DeleteTemplate(accounts.TemplateRef{ID: in.ID, Name: in.Name})
	if err != nil {
		return nil, err
	}
	return &templateOutput{itemOfTemplate(r, t)}, nil
}

type templatesInput struct {
	listing
	IDs   []string `query:"LaunchTemplateId"`
	Names []string `query:"LaunchTemplateName"`
}

type templatesOutput struct {
	Templates []templateItem `xml:"launchTemplates>item"`
	Next      string         `xml:"nextToken,omitempty"`
}

func describeTemplates(r *accounts.Region, in *templatesInput) (*templatesOutput, error) {
	byID, err := pick(in.IDs, nil, func(id string) (*accounts.Template, error) { return r.Template(accounts.TemplateRef{ID: id}) })
	if err != nil {
		return nil, err
	}
	byName, err := pick(in.Names, nil, func(name string) (*accounts.Template, error) { return r.Template(accounts.TemplateRef{Name: name}) })
	if err != nil {
		return nil, err
	}
	all := slices.Concat(byID, byName)
	if len(in.IDs)+len(in.Names) == 0 {
		all = r.Templates()
	}
	found, next, err := list(in.listing, all, listed[*accounts.Template]{
		key: func(t *accounts.Template) string { return t.ID },
		attributes: func(t *accounts.Template) (wire.Attributes, []wire.Tag) {
			return wire.Attributes{"launch-template-name": one(t.Name), "create-time": one(stamp(t.Created))}, t.Tags
		},
		limits: wire.Limits{Min: 1, Max: 200},
	})
	out := &templatesOutput{Next: next}
	for _, t := range found {
		out.Templates = append(out.Templates, itemOfTemplate(r, t))
	}
	return out, err
}

type versionsInput struct {
	templateInput
	Versions   []string `query:"LaunchTemplateVersion"`
	MaxResults *int
	NextToken  string
}

type versionsOutput struct {
	Versions []versionItem `xml:"launchTemplateVersionSet>item"`
	Next     string        `xml:"nextToken,omitempty"`
}

type versionItem struct {
	ID          string        `xml:"launchTemplateId"`
	Name        string        `xml:"launchTemplateName"`
	Number      int           `xml:"versionNumber"`
	Description string        `xml:"versionDescription,omitempty"`
	Created     string        `xml:"createTime"`
	By          string        `xml:"createdBy"`
	Default     bool          `xml:"defaultVersion"`
	Data        accounts.Spec `xml:"launchTemplateData"`
}

func itemOfVersion(r *accounts.Region, t *accounts.Template, v accounts.TemplateVersion) versionItem {
	return versionItem{t.ID, t.Name, v.Number, v.Description, stamp(v.Created), r.Creator(), v.Number == t.Default, v.Spec}
}

// describeVersions lists the newest first.
func describeVersions(r *accounts.Region, in *versionsInput) (*versionsOutput, error) {
	t, err := r.Template(accounts.TemplateRef{ID: in.ID, Name: in.Name})
	if err != nil {
		return nil, err
	}
	known := map[string]int{"$Latest": len(t.Versions), "$Default": t.Default}
	for _, v := range t.Versions {
		known[strconv.Itoa(v.Number)] = v.Number
	}
	wanted := map[int]bool{}
	for _, text := range in.Versions {
		number, ok := known[text]
		if !ok {
			return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find launch template version %s.", text)
		}
		wanted[number] = true
	}
	var found []accounts.TemplateVersion
	for _, v := range slices.Backward(t.Versions) {
		if len(in.Versions) == 0 || wanted[v.Number] {
			found = append(found, v)
		}
	}
	key := func(v accounts.TemplateVersion) string { return fmt.Sprintf("%09d", len(t.Versions)-v.Number) }
	page, next, err := wire.Page(found, key, in.MaxResults, in.NextToken, wire.Limits{Min: 1, Max: 200})
	out := &versionsOutput{Next: next}
	for _, v := range page {
		out.Versions = append(out.Versions, itemOfVersion(r, t, v))
	}
	return out, err
}

type addVersionInput struct {
	templateInput
	Source      string        `query:"SourceVersion"`
	Data        accounts.Spec `query:"LaunchTemplateData"`
	Description string        `query:"VersionDescription"`
	Token       string        `query:"ClientToken"`
}

type versionOutput struct {
	Version versionItem `xml:"launchTemplateVersion"`
}

func addVersion(r *accounts.Region, in *addVersionInput) (*versionOutput, error) {
	ref := accounts.TemplateRef{ID: in.ID, Name: in.Name, Version: in.Source}
	v, err := r.AddVersion(ref, in.Data, in.Description)
	if err != nil {
		return nil, err
	}
	t, err := r.Template(ref)
	if err != nil {
		return nil, err
	}
	return &versionOutput{itemOfVersion(r, t, v)}, nil
}

type modifyTemplateInput struct {
	templateInput
	Default string `query:"SetDefaultVersion"`
	Token   string `query:"ClientToken"`
}

func modifyTemplate(r *accounts.Region, in *modifyTemplateInput) (*templateOutput, error) {
	t, err := r.SetDefaultVersion(accounts.TemplateRef{ID: in.ID, Name: in.Name, Version: in.Default})
	if err != nil {
		return nil, err
	}
	return &templateOutput{itemOfTemplate(r, t)}, nil
}
