package accounts

import (
	"slices"
	"strings"
	"time"

	"tenon/lab/aws/wire"
)

// LaunchConfiguration is the predecessor of launch templates, from which groups can launch.
type LaunchConfiguration struct {
	Name    string
	Spec    Spec
	Created time.Time
}

// CreateConfiguration makes a launch configuration. It never changes.
func (r *Region) CreateConfiguration(name string, s Spec) error {
	switch _, err := r.Configuration(name); {
	case err == nil:
		return wire.Errorf("AlreadyExists", "Launch Configuration by this name already exists - A launch configuration already exists with the name %s", name)
	case name == "":
		return invalid("LaunchConfigurationName is required.")
	case s.ImageID == "" || s.InstanceType == "":
		return invalid("Valid requests must contain the ImageId and InstanceType parameters or the InstanceId parameter.")
	}
	if _, err := r.Image(s.ImageID); err != nil {
		return invalid("AMI cannot be described: %s", messageOf(err))
	}
	r.configurations = append(r.configurations, &LaunchConfiguration{name, s, r.Now()})
	return nil
}

// Configuration finds a launch configuration.
func (r *Region) Configuration(name string) (*LaunchConfiguration, error) {
	for _, c := range r.configurations {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, invalid("Launch configuration name not found - Launch configuration %s not found", name)
}

// Configurations returns all launch configurations, or the named ones, sorted by name.
func (r *Region) Configurations(names []string) []*LaunchConfiguration {
	var found []*LaunchConfiguration
	for _, c := range r.configurations {
		if len(names) == 0 || slices.Contains(names, c.Name) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *LaunchConfiguration) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// DeleteConfiguration removes a launch configuration that no group uses.
func (r *Region) DeleteConfiguration(name string) error {
	c, err := r.Configuration(name)
	if err != nil {
		return err
	}
	for _, g := range r.scaling {
		if g.Spec.Configuration == name {
			return wire.Errorf("ResourceInUse", "Cannot delete launch configuration %s because it is attached to AutoScalingGroup %s", name, g.Name)
		}
	}
	r.configurations = slices.DeleteFunc(r.configurations, func(other *LaunchConfiguration) bool { return other == c })
	return nil
}

// ProfileNamed returns a reference to an instance profile, given by its ARN or by its name.
func ProfileNamed(text string) ProfileRef {
	if strings.HasPrefix(text, "arn:") {
		return ProfileRef{Arn: text}
	}
	return ProfileRef{Name: text}
}
