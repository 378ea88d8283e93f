package nodegroup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/cloud"
	"tenon/cloud/aws/api"
)

// template is what the reader looked up about a group's launches.
type template struct {
	of        string // the launchKey at the time of the look-up
	at        time.Time
	throttled bool

	types    []string // of instances, in order of preference
	spot     bool     // the launch template itself asks for spot
	script   script
	managed  *managed // nil for groups that are not managed by EKS
	problems []cloud.GroupProblem
}

// launchKey is everything in a group's description that determines what it launches. When it changes, the
// reader looks the template up again.
func launchKey(g *types.AutoScalingGroup) string {
	cluster, name := managedBy(g)
	text, err := json.Marshal([]any{g.LaunchConfigurationName, g.LaunchTemplate, g.MixedInstancesPolicy, cluster, name})
	if err != nil {
		return "" // cannot happen with plain values; the template is then trusted until it expires
	}
	return string(text)
}

// launched is the content of a launch configuration or of a version of a launch template.
type launched struct {
	instanceType, image, userData string
	spot                          bool
	requirements                  *ec2types.InstanceRequirementsRequest
}

// lookUp finds out what a group launches. A failure to find out is a problem of the group.
func (r *Reader) lookUp(ctx context.Context, g *types.AutoScalingGroup) template {
	var t template
	base, err := r.base(ctx, g)
	t.spot, t.script = base.spot, readScript(base.userData)
	types, unclear := r.typesOf(ctx, g, base) // overrides name types even if the template cannot be read
	if t.types = types; err == nil {
		err = unclear
	}
	if err != nil {
		t.fail("TemplateNotRead", err, "autoscaling:DescribeLaunchConfigurations, ec2:DescribeLaunchTemplateVersions, ec2:DescribeImages and ec2:GetInstanceTypesFromInstanceRequirements")
	}
	if cluster, name := managedBy(g); cluster != "" && name != "" {
		if t.managed, err = r.managedGroup(ctx, cluster, name); err != nil {
			t.fail("ManagedGroupNotRead", err, "eks:DescribeNodegroup, and in a private cluster an endpoint for EKS")
		}
	}
	return t
}

// unclear is an error in a group's own settings, with a remedy.
type unclear struct{ reason, message, remedy string }

// Error returns the message for people.
func (e *unclear) Error() string { return e.message }

// fail notes why something is not known. If AWS denied the call, a permission may be missing. If AWS
// throttled it, the reader keeps the previous template.
func (t *template) fail(reason string, err error, actions string) {
	p := cloud.GroupProblem{Effect: cloud.Unknown, Reason: reason, Message: err.Error(), Remedy: "see what AWS says; it is asked again"}
	if own, is := errors.AsType[*unclear](err); is {
		p.Reason, p.Message, p.Remedy = own.reason, own.message, own.remedy
	} else if denied(err) {
		p.Message, p.Remedy = "a permission is missing: "+api.Explain(err), "allow the controller "+actions
	} else {
		t.throttled = t.throttled || api.IsThrottled(err)
		p.Message = api.Explain(err)
	}
	t.problems = append(t.problems, p)
}

// denied reports whether a permission is missing, by the error codes of all services.
func denied(err error) bool {
	return slices.Contains([]string{"UnauthorizedOperation", "AccessDenied", "AccessDeniedException"}, api.Code(err))
}

// base returns what the group's launch configuration or launch template says.
func (r *Reader) base(ctx context.Context, g *types.AutoScalingGroup) (launched, error) {
	switch {
	case g.MixedInstancesPolicy != nil && g.MixedInstancesPolicy.LaunchTemplate != nil:
		return r.templateVersion(ctx, g.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification)
	case g.LaunchTemplate != nil:
		return r.templateVersion(ctx, g.LaunchTemplate)
	case g.LaunchConfigurationName != nil:
		return r.configuration(ctx, *g.LaunchConfigurationName)
	}
	return launched{}, &unclear{"NoLaunchTemplate", "the group has no launch template and no launch configuration", "give the group a launch template"}
}

func (r *Reader) configuration(ctx context.Context, name string) (launched, error) {
	out, err := r.Clients.AutoScaling.DescribeLaunchConfigurations(ctx, &autoscaling.DescribeLaunchConfigurationsInput{LaunchConfigurationNames: []string{name}})
	if err != nil {
		return launched{}, fmt.Errorf("describe the launch configuration %s: %w", name, err)
	}
	if len(out.LaunchConfigurations) == 0 {
		return launched{}, &unclear{"NoLaunchConfiguration", "the launch configuration " + name + " of the group is not there", "give the group a launch template"}
	}
	c := &out.LaunchConfigurations[0]
	return launched{instanceType: aws.ToString(c.InstanceType), image: aws.ToString(c.ImageId), userData: aws.ToString(c.UserData), spot: aws.ToString(c.SpotPrice) != ""}, nil
}

// templateVersion reads a version of a launch template, by name or ID; without a version it reads the
// default.
func (r *Reader) templateVersion(ctx context.Context, s *types.LaunchTemplateSpecification) (launched, error) {
	d, err := r.templateData(ctx, s)
	if err != nil {
		return launched{}, err
	}
	return launchedBy(d)
}

func (r *Reader) templateData(ctx context.Context, s *types.LaunchTemplateSpecification) (*ec2types.ResponseLaunchTemplateData, error) {
	if s == nil || s.LaunchTemplateName == nil && s.LaunchTemplateId == nil {
		return nil, &unclear{"NoLaunchTemplate", "the group names no launch template", "give the group a launch template"}
	}
	in := &ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{cmp.Or(aws.ToString(s.Version), "$Default")}}
	name := aws.ToString(s.LaunchTemplateName)
	if s.LaunchTemplateId != nil {
		in.LaunchTemplateId, name = s.LaunchTemplateId, cmp.Or(name, *s.LaunchTemplateId)
	} else {
		in.LaunchTemplateName = s.LaunchTemplateName
	}
	out, err := r.Clients.Templates.DescribeLaunchTemplateVersions(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("describe version %s of the launch template %s: %w", in.Versions[0], name, err)
	}
	if len(out.LaunchTemplateVersions) == 0 || out.LaunchTemplateVersions[0].LaunchTemplateData == nil {
		return nil, &unclear{"NoLaunchTemplateVersion", fmt.Sprintf("the launch template %s has no version %s", name, in.Versions[0]), "name a version that is there"}
	}
	return out.LaunchTemplateVersions[0].LaunchTemplateData, nil
}

// launchedBy is what the data of a launch template say about instances.
func launchedBy(d *ec2types.ResponseLaunchTemplateData) (launched, error) {
	l := launched{instanceType: string(d.InstanceType), image: aws.ToString(d.ImageId), userData: decoded(aws.ToString(d.UserData))}
	l.spot = d.InstanceMarketOptions != nil && d.InstanceMarketOptions.MarketType == ec2types.MarketTypeSpot
	return l, convert(d.InstanceRequirements, &l.requirements)
}

// convert converts requirements from one service's type to another's: their fields have the same names.
func convert(from any, to **ec2types.InstanceRequirementsRequest) error {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("read instance requirements: %w", err)
	}
	return nil
}

// typesOf returns the types that a group may launch: the overrides of its policy, else the types in its
// template.
func (r *Reader) typesOf(ctx context.Context, g *types.AutoScalingGroup, base launched) ([]string, error) {
	var named []string
	requirements := base.requirements
	if p := g.MixedInstancesPolicy; p != nil && p.LaunchTemplate != nil {
		for i := range p.LaunchTemplate.Overrides {
			o := &p.LaunchTemplate.Overrides[i]
			if o.InstanceType != nil {
				named = append(named, *o.InstanceType)
			}
			if o.InstanceRequirements != nil {
				if err := convert(o.InstanceRequirements, &requirements); err != nil {
					return nil, err
				}
			}
		}
		if len(named) > 0 && requirements != base.requirements {
			return nil, &unclear{"TypesAndRequirements", "the overrides of the group have instance types and requirements", "leave one of the two in the mixed instances policy"}
		}
	}
	switch {
	case len(named) > 0:
		return slices.Compact(named), nil
	case requirements != nil:
		return r.typesFor(ctx, base.image, requirements)
	case base.instanceType != "":
		return []string{base.instanceType}, nil
	}
	return nil, &unclear{"NoInstanceType", "nothing says what instance type the group launches", "give the launch template an instance type, or the group overrides"}
}

// typesFor asks EC2 which types meet requirements. The image determines which processors are possible.
func (r *Reader) typesFor(ctx context.Context, image string, requirements *ec2types.InstanceRequirementsRequest) ([]string, error) {
	in := &ec2.GetInstanceTypesFromInstanceRequirementsInput{
		InstanceRequirements: requirements, ArchitectureTypes: []ec2types.ArchitectureType{ec2types.ArchitectureTypeX8664},
		VirtualizationTypes: []ec2types.VirtualizationType{ec2types.VirtualizationTypeHvm},
	}
	if image != "" {
		out, err := r.Clients.Templates.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{image}})
		if err != nil {
			return nil, fmt.Errorf("describe the image %s: %w", image, err)
		}
		if len(out.Images) > 0 {
			in.ArchitectureTypes = []ec2types.ArchitectureType{ec2types.ArchitectureType(out.Images[0].Architecture)}
			in.VirtualizationTypes = []ec2types.VirtualizationType{out.Images[0].VirtualizationType}
		}
	}
	var names []string
	for pages := ec2.NewGetInstanceTypesFromInstanceRequirementsPaginator(r.Clients.Templates, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask which instance types meet the requirements: %w", err)
		}
		for _, t := range page.InstanceTypes {
			names = append(names, aws.ToString(t.InstanceType))
		}
	}
	if len(names) == 0 {
		return nil, &unclear{"NoInstanceType", "no instance type meets the requirements of the group", "widen the instance requirements"}
	}
	return names, nil
}
