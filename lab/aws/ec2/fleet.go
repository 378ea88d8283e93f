package ec2

import "tenon/lab/aws/accounts"

type fleetOutput struct {
	ID        string          `xml:"fleetId"`
	Instances []fleetInstance `xml:"fleetInstanceSet>item"`
	Errors    []fleetError    `xml:"errorSet>item"`
}

type fleetInstance struct {
	From      launched `xml:"launchTemplateAndOverrides"`
	IDs       []string `xml:"instanceIds>item"`
	Type      string   `xml:"instanceType"`
	Lifecycle string   `xml:"lifecycle"`
	Platform  string   `xml:"platform,omitempty"`
}

type launched struct {
	Template accounts.TemplateRef `xml:"launchTemplateSpecification"`
	Override override             `xml:"overrides"`
}

// override is an override in an answer, which names only the group of its placement.
type override struct {
	accounts.Override
	Group string `xml:"placement>groupName,omitempty"`
}

func itemOfLaunched(t accounts.TemplateRef, o accounts.Override) launched {
	return launched{t, override{o, o.Placement.GroupName}}
}

type fleetError struct {
	From      launched `xml:"launchTemplateAndOverrides"`
	Lifecycle string   `xml:"lifecycle"`
	Code      string   `xml:"errorCode"`
	Message   string   `xml:"errorMessage"`
}

func createFleet(r *accounts.Region, in *accounts.FleetOrder) (*fleetOutput, error) {
	f, err := r.CreateFleet(*in)
	if err != nil {
		return nil, err
	}
	out := &fleetOutput{ID: f.ID}
	for _, g := range f.Instances {
		item := fleetInstance{From: itemOfLaunched(g.Template, g.Override), Type: g.Override.InstanceType, Lifecycle: g.Lifecycle}
		for _, i := range g.Instances {
			item.IDs = append(item.IDs, i.ID)
			if i.Image.Family.Windows() {
				item.Platform = "windows"
			}
		}
		out.Instances = append(out.Instances, item)
	}
	for _, e := range f.Errors {
		out.Errors = append(out.Errors, fleetError{itemOfLaunched(e.Template, e.Override), e.Lifecycle, e.Code, e.Message})
	}
	return out, nil
}
