package accounts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws/boot"
	"tenon/lab/aws/random"
	"tenon/lab/aws/wire"
)

// Image is an AMI.
type Image struct {
	ID, Name, Description string
	Architecture          string // x86_64 or arm64
	Owner, Alias          string
	Family                boot.Family
	Variant               string // standard, nvidia or neuron
	Version               string // of Kubernetes; empty for the account's own images
	Created               time.Time
	Deprecated            time.Time // the time from which it is deprecated; zero for never
	Tags                  []wire.Tag
	RootDevice            string
	Devices               []Device
	// SourceID and SourceRegion name the image that this one is a copy of.
	SourceID, SourceRegion string
	token                  string // of the request that copied it
}

// snapshot returns the snapshot of a volume that the image brings.
func (i *Image) snapshot(d Device) string {
	return "snap-" + random.Seed(0).Hex(17, "snapshot", i.ID, d.Name)
}

// Device is a volume that an image brings.
type Device struct {
	Name    string
	SizeGiB int
}

// Parameter is one of SSM's.
type Parameter struct {
	Name, Value string
	Version     int
	Modified    time.Time
}

// firstRelease is when the initial images came out; releases are a fortnight apart.
var firstRelease = time.Date(2026, time.July, 1, 4, 0, 0, 0, time.UTC)

const releaseInterval = 14 * 24 * time.Hour

// minorVersions returns approximately the versions that EKS supports.
func minorVersions() []string {
	var versions []string
	for minor := 26; minor <= 36; minor++ {
		versions = append(versions, fmt.Sprintf("1.%d", minor))
	}
	return versions
}

// publishImages makes two releases of every EKS image, and the account's own images.
func (r *Region) publishImages() {
	for range 2 {
		r.Release(nil, firstRelease.Add(time.Duration(r.releases)*releaseInterval))
	}
	for _, spec := range r.world.config.Images {
		r.addOwnImage(spec)
	}
}

// Release publishes new images of the families, or of all if none is named, and points the parameters for
// the recommended and the latest image at them.
func (r *Region) Release(families []string, at time.Time) {
	r.releases++
	for _, version := range minorVersions() {
		for _, b := range builds(version) {
			if len(families) == 0 || slices.Contains(families, string(b.family)) {
				r.publish(b, version, at)
			}
		}
	}
}

func (r *Region) publish(b build, version string, at time.Time) {
	release := releaseName(b.family, r.releases, at)
	i := &Image{
		ID: r.world.identifier("ami"), Name: b.imageName(version, release), Architecture: b.architecture, Alias: r.systemAlias,
		Owner: b.owner(), Family: b.family, Variant: b.variant, Version: version, Created: at, Deprecated: at.AddDate(2, 0, 0),
	}
	i.Description = fmt.Sprintf("%s image for Kubernetes %s (k8s: %s.0)", b.family, version, version)
	i.RootDevice, i.Devices = devices(b.family)
	r.images = append(r.images, i)
	for _, name := range b.parameters(version, release) {
		r.putParameter(name, i.ID, at)
	}
}

func (r *Region) addOwnImage(spec ImageSpec) {
	i := &Image{
		ID: r.world.identifier("ami"), Name: spec.Name, Description: spec.Name, Architecture: spec.Architecture,
		Owner: r.Account.ID, Family: spec.Family, Variant: "standard", Created: firstRelease,
	}
	i.RootDevice, i.Devices = devices(spec.Family)
	for key, value := range spec.Tags {
		i.Tags = append(i.Tags, wire.Tag{Key: key, Value: value})
	}
	slices.SortFunc(i.Tags, func(a, b wire.Tag) int { return strings.Compare(a.Key, b.Key) })
	r.images = append(r.images, i)
	if spec.Parameter != "" {
		r.putParameter(spec.Parameter, i.ID, firstRelease)
	}
}

func (r *Region) putParameter(name, value string, at time.Time) {
	r.parameters[name] = Parameter{Name: name, Value: value, Version: r.parameters[name].Version + 1, Modified: at}
}

// Parameter finds a parameter by its name or its ARN.
func (r *Region) Parameter(name string) (Parameter, error) {
	if _, rest, isARN := strings.Cut(name, ":parameter/"); isARN && strings.HasPrefix(name, "arn:") {
		name = "/" + rest
	}
	if p, ok := r.parameters[name]; ok {
		return p, nil
	}
	return Parameter{}, wire.Errorf("ParameterNotFound", "Parameter %s not found.", name)
}

// Parameters returns the parameters below a path, in the order of their names.
func (r *Region) Parameters(path string) []Parameter {
	var found []Parameter
	for name, p := range r.parameters {
		if strings.HasPrefix(name, strings.TrimSuffix(path, "/")+"/") {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b Parameter) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// Images returns all visible images, deprecated or not.
func (r *Region) Images() []*Image { return r.images }

// Image finds an image.
func (r *Region) Image(id string) (*Image, error) {
	for _, i := range r.images {
		if i.ID == id {
			return i, nil
		}
	}
	if !strings.HasPrefix(id, "ami-") {
		return nil, wire.Errorf("InvalidAMIID.Malformed", "Invalid id: \"%s\" (expecting \"ami-...\")", id)
	}
	return nil, wire.Errorf("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
}

// CopyOrder holds the parameters of CopyImage.
type CopyOrder struct {
	SourceID, SourceRegion string
	Name, Description      string
	Token                  string
	CopyTags               bool
	Tags                   []wire.Tag
}

// CopyImage copies an image that the account can see, also from another region. The account owns the
// copy.
func (r *Region) CopyImage(o CopyOrder) (*Image, error) {
	if o.Name == "" || o.SourceID == "" || o.SourceRegion == "" {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameters Name, SourceImageId and SourceRegion")
	}
	if _, known := facts.ZonesOf(o.SourceRegion); !known {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter sourceRegion is invalid.", o.SourceRegion)
	}
	source, err := r.Account.region(o.SourceRegion).Image(o.SourceID)
	if err != nil {
		return nil, err
	}
	for _, made := range r.images {
		switch {
		case o.Token == "" || made.token != o.Token:
		case made.SourceID != o.SourceID || made.SourceRegion != o.SourceRegion || made.Name != o.Name:
			return nil, wire.Errorf("IdempotentParameterMismatch", "The client token '%s' was used with other parameters.", o.Token)
		default:
			return made, nil
		}
	}
	made := *source
	made.ID, made.Name, made.Owner, made.Alias = r.world.identifier("ami"), o.Name, r.Account.ID, ""
	made.Description = cmp.Or(o.Description, fmt.Sprintf("[Copied %s from %s] %s", source.ID, o.SourceRegion, source.Description))
	made.Created, made.Deprecated, made.Tags = r.Now(), time.Time{}, nil
	made.SourceID, made.SourceRegion, made.token = source.ID, o.SourceRegion, o.Token
	if o.CopyTags && source.Owner == r.Account.ID {
		made.Tags = source.Tags
	}
	made.Tags = putTags(made.Tags, o.Tags)
	r.images = append(r.images, &made)
	return &made, nil
}

// ownImage finds an image that the account may change.
func (r *Region) ownImage(id string) (*Image, error) {
	i, err := r.Image(id)
	if err == nil && i.Owner != r.Account.ID {
		err = wire.Errorf("AuthFailure", "Not authorized for image:%s", id)
	}
	return i, err
}

// longestDeprecation is how far ahead an image can be deprecated.
const longestDeprecation = 10

// Deprecate sets the time from which an image of the account is deprecated; zero means never. EC2 counts in minutes: the one that has begun is not
// in the past.
func (r *Region) Deprecate(id string, at time.Time) error {
	i, err := r.ownImage(id)
	switch {
	case err != nil:
		return err
	case !at.IsZero() && (at.Before(r.Now().Truncate(time.Minute)) || at.After(r.Now().AddDate(longestDeprecation, 0, 0))):
		return wire.Errorf("InvalidParameterValue", "The deprecation date must be in the future and within %d years.", longestDeprecation)
	case !at.IsZero():
		at = at.Round(time.Minute)
	}
	i.Deprecated = at
	return nil
}

// Deregister removes an image of the account. Instances stay as they are.
func (r *Region) Deregister(id string) error {
	i, err := r.ownImage(id)
	if err != nil {
		return err
	}
	r.images = slices.DeleteFunc(r.images, func(other *Image) bool { return other == i })
	return nil
}

// IsDeprecated reports whether its deprecation lies in the past.
func (i *Image) IsDeprecated(now time.Time) bool {
	return !i.Deprecated.IsZero() && !i.Deprecated.After(now)
}

// named reports whether a fault means the image.
func (i *Image) named(patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return wire.Glob(p, i.ID) || wire.Glob(p, i.Name) })
}
