package accounts

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"tenon/lab/aws/boot"
	"tenon/lab/aws/wire"
)

// NodeGroupSpec describes a managed node group of EKS. The names are those of EKS.
type NodeGroupSpec struct {
	Name         string            `json:"nodegroupName"`
	Version      string            `json:"version,omitempty"`
	Release      string            `json:"releaseVersion,omitempty"`
	CapacityType string            `json:"capacityType"`
	Scaling      *NodeGroupScaling `json:"scalingConfig"`
	Types        []string          `json:"instanceTypes,omitempty"`
	Subnets      []string          `json:"subnets"`
	AMIType      string            `json:"amiType"`
	Role         string            `json:"nodeRole"` // its ARN
	Labels       map[string]string `json:"labels,omitempty"`
	Taints       []NodeGroupTaint  `json:"taints,omitempty"`
	DiskSize     int               `json:"diskSize,omitempty"`
	Update       *NodeGroupUpdate  `json:"updateConfig,omitempty"`
	Template     *struct {
		ID      string `json:"id,omitempty"`
		Name    string `json:"name,omitempty"`
		Version string `json:"version,omitempty"`
	} `json:"launchTemplate,omitempty"`
	Tags map[string]string `json:"tags"`
}

// NodeGroupScaling is the size of a node group and its bounds.
type NodeGroupScaling struct {
	Min     *int `json:"minSize"`
	Max     *int `json:"maxSize"`
	Desired *int `json:"desiredSize"`
}

// NodeGroupTaint is a taint of a node group's nodes.
type NodeGroupTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// NodeGroupUpdate says how many nodes a new version may replace at a time.
type NodeGroupUpdate struct {
	Count      *int `json:"maxUnavailable,omitempty"`
	Percentage *int `json:"maxUnavailablePercentage,omitempty"`
}

// NodeGroup is a managed node group of EKS: an Auto Scaling group with a launch template that EKS writes.
type NodeGroup struct {
	Spec              NodeGroupSpec
	ID                string // a UUID
	Created, Modified time.Time
	Scaling           *ScalingGroup

	token    string
	template *Template // the template that EKS made
	ready    bool      // it has had all its instances once
	deleting bool
}

// taintEffects maps EKS's names of the effects of taints.
var taintEffects = map[string]v1.TaintEffect{
	"NO_SCHEDULE": v1.TaintEffectNoSchedule, "NO_EXECUTE": v1.TaintEffectNoExecute, "PREFER_NO_SCHEDULE": v1.TaintEffectPreferNoSchedule,
}

// imagesOfTypes maps EKS's AMI types to images.
var imagesOfTypes = map[string]build{
	"AL2023_x86_64_STANDARD":     {boot.AL2023, "x86_64", "standard"},
	"AL2023_ARM_64_STANDARD":     {boot.AL2023, "arm64", "standard"},
	"AL2023_x86_64_NVIDIA":       {boot.AL2023, "x86_64", "nvidia"},
	"AL2023_ARM_64_NVIDIA":       {boot.AL2023, "arm64", "nvidia"},
	"AL2023_x86_64_NEURON":       {boot.AL2023, "x86_64", "neuron"},
	"BOTTLEROCKET_x86_64":        {boot.Bottlerocket, "x86_64", "standard"},
	"BOTTLEROCKET_ARM_64":        {boot.Bottlerocket, "arm64", "standard"},
	"BOTTLEROCKET_x86_64_NVIDIA": {boot.Bottlerocket, "x86_64", "nvidia"},
	"BOTTLEROCKET_ARM_64_NVIDIA": {boot.Bottlerocket, "arm64", "nvidia"},
}

// customImage is the AMI type of groups whose launch template names the image.
const customImage = "CUSTOM"

// NodeGroups returns the cluster's node groups, in the order of names.
func (r *Region) NodeGroups() []*NodeGroup {
	return slices.SortedFunc(slices.Values(r.nodeGroups), func(a, b *NodeGroup) int { return strings.Compare(a.Spec.Name, b.Spec.Name) })
}

// NodeGroup finds a node group by its name.
func (r *Region) NodeGroup(name string) (*NodeGroup, error) {
	for _, g := range r.nodeGroups {
		if g.Spec.Name == name {
			return g, nil
		}
	}
	return nil, wire.StatusErrorf(404, "ResourceNotFoundException", "No node group found for name: %s.", name)
}

// CreateNodeGroup makes a node group with its launch template and its Auto Scaling group, and lets its role join.
func (r *Region) CreateNodeGroup(s NodeGroupSpec, token string) (*NodeGroup, error) {
	if have, err := r.NodeGroup(s.Name); err == nil {
		if token != "" && have.token == token {
			return have, nil
		}
		return nil, wire.StatusErrorf(409, "ResourceInUseException", "NodeGroup already exists with name %s and cluster name %s", s.Name, r.Cluster().Name)
	}
	own, err := r.completeNodeGroup(&s)
	if err != nil {
		return nil, err
	}
	w := r.world
	g := &NodeGroup{Spec: s, ID: w.config.Seed.UUID("node group", w.identifier("nodegroup")), Created: r.Now(), Modified: r.Now(), token: token}
	profile, err := r.nodeGroupProfile(g)
	if err != nil {
		return nil, err
	}
	spec, err := r.nodeGroupTemplate(g, own, profile)
	if err != nil {
		return nil, err
	}
	tags := []wire.Tag{{Key: "eks:cluster-name", Value: r.Cluster().Name}, {Key: "eks:nodegroup-name", Value: s.Name}}
	if g.template, err = r.CreateTemplate(Template{Name: "eks-" + g.ID, Tags: tags, TemplateVersion: TemplateVersion{Spec: spec}}, ""); err != nil {
		return nil, wire.Errorf("InvalidRequestException", "%s", messageOf(err))
	}
	if g.Scaling, err = r.CreateScalingGroup("eks-"+s.Name+"-"+g.ID, g.scalingSpec(), r.nodeGroupTags(g)); err != nil {
		return nil, wire.Errorf("InvalidParameterException", "%s", messageOf(err))
	}
	r.nodeGroups = append(r.nodeGroups, g)
	return g, nil
}

// completeNodeGroup refuses what EKS refuses, and fills in EKS's defaults. It returns the specification
// in the user's launch template.
func (r *Region) completeNodeGroup(s *NodeGroupSpec) (own Spec, err error) {
	if s.Template != nil {
		t, err := r.templateVersion(TemplateRef(*s.Template))
		if err != nil {
			return own, wire.Errorf("InvalidRequestException", "%s", messageOf(err))
		}
		own, s.Template.ID, s.Template.Name, s.Template.Version = t.Spec, t.ID, t.Name, strconv.Itoa(t.Number)
	}
	s.Version, s.CapacityType = cmp.Or(s.Version, r.Cluster().Version), cmp.Or(s.CapacityType, "ON_DEMAND")
	if own.ImageID != "" {
		s.AMIType = cmp.Or(s.AMIType, customImage)
	}
	if own.InstanceType == "" && len(s.Types) == 0 {
		s.Types = []string{"t3.medium"}
	}
	if s.AMIType == "" {
		s.AMIType = "AL2023_x86_64_STANDARD"
		if kind, ok := r.Market.Type(cmp.Or(own.InstanceType, append(s.Types, "")[0])); ok && kind.Architecture == "arm64" {
			s.AMIType = "AL2023_ARM_64_STANDARD"
		}
	}
	if s.Template == nil {
		s.DiskSize = cmp.Or(s.DiskSize, 20)
	}
	one, two := 1, 2
	if s.Scaling == nil {
		s.Scaling = &NodeGroupScaling{}
	}
	s.Scaling = &NodeGroupScaling{cmp.Or(s.Scaling.Min, &one), cmp.Or(s.Scaling.Max, &two), cmp.Or(s.Scaling.Desired, s.Scaling.Min, &two)}
	if s.Update == nil {
		s.Update = &NodeGroupUpdate{Count: &one}
	}
	return own, r.checkNodeGroup(*s, own)
}

func (r *Region) checkNodeGroup(s NodeGroupSpec, own Spec) error {
	refuse := func(format string, args ...any) error {
		return wire.Errorf("InvalidParameterException", format, args...)
	}
	role := r.Account.roleByARN(s.Role)
	switch {
	case s.Name == "" || len(s.Name) > 63:
		return refuse("The nodegroup name %q must be from 1 to 63 characters long.", s.Name)
	case role == nil:
		return refuse("The role with name %s cannot be found.", s.Role[strings.LastIndex(s.Role, "/")+1:])
	case len(s.Subnets) == 0:
		return refuse("Subnets are not specified.")
	case s.AMIType != customImage && imagesOfTypes[s.AMIType] == (build{}):
		return refuse("The emulator does not model the AMI type %s.", s.AMIType)
	case own.ImageID == "" && s.AMIType == customImage:
		return refuse("A launch template with an AMI is required for the AMI type CUSTOM.")
	case s.CapacityType != "ON_DEMAND" && s.CapacityType != "SPOT":
		return refuse("The emulator does not model the capacity type %s.", s.CapacityType)
	case own.InstanceType != "" && len(s.Types) > 0:
		return wire.Errorf("InvalidRequestException", "You cannot specify instance types in both the launch template and the request.")
	case own.Profile != (ProfileRef{}):
		return wire.Errorf("InvalidRequestException", "You cannot specify an instance profile in the launch template: EKS uses the node role.")
	}
	for _, kind := range s.Types {
		if _, ok := r.Market.Type(kind); !ok {
			return refuse("The following supplied instance types do not exist: [%s]", kind)
		}
	}
	for _, t := range s.Taints {
		if t.Key == "" || taintEffects[t.Effect] == "" {
			return refuse("Taint %s with the effect %q is not valid.", t.Key, t.Effect)
		}
	}
	return s.Scaling.check()
}

func (s *NodeGroupScaling) check() error {
	least, most, desired := *s.Min, *s.Max, *s.Desired
	switch {
	case most < 1 || least < 0:
		return wire.Errorf("InvalidParameterException", "Maximum capacity %d must be at least 1, and minimum capacity %d at least 0", most, least)
	case desired < least:
		return wire.Errorf("InvalidParameterException", "Minimum capacity %d can't be greater than desired size %d", least, desired)
	case desired > most:
		return wire.Errorf("InvalidParameterException", "desired capacity %d can't be greater than max size %d", desired, most)
	}
	return nil
}

// nodeGroupProfile makes the instance profile of a group, and an access entry for its role if the role
// has none: "Amazon EKS automatically creates an access entry" for the roles of managed node groups.
func (r *Region) nodeGroupProfile(g *NodeGroup) (string, error) {
	if _, err := r.AccessEntry(g.Spec.Role); err != nil {
		if _, err := r.CreateAccessEntry(AccessEntry{Principal: g.Spec.Role, Type: linuxEntry}, ""); err != nil {
			return "", err
		}
	}
	name := "eks-" + g.ID
	if _, err := r.Account.CreateProfile(name, "/", nil); err != nil {
		return "", err
	}
	return name, r.Account.AddRole(name, r.Account.roleByARN(g.Spec.Role).Name)
}

// nodeGroupTemplate returns what EKS writes into its launch template: for an EKS image also the user data
// that makes the nodes join, for the user's image only what the user's template says.
func (r *Region) nodeGroupTemplate(g *NodeGroup, own Spec, profile string) (Spec, error) {
	s := own
	s.Profile = ProfileRef{Name: profile}
	tags := []wire.Tag{{Key: "eks:cluster-name", Value: r.Cluster().Name}, {Key: "eks:nodegroup-name", Value: g.Spec.Name}}
	s.TagSpecs = append(slices.Clone(own.TagSpecs), TagSpec{ResourceType: "instance", Tags: tags})
	if s.Metadata == (MetadataOptions{}) {
		s.Metadata = MetadataOptions{HttpTokens: "required", HttpPutResponseHopLimit: 2}
	}
	if len(s.GroupIDs) == 0 && len(s.Interfaces) == 0 {
		s.GroupIDs = r.clusterGroupIDs()
	}
	if g.Spec.AMIType == customImage {
		return s, nil
	}
	image := imagesOfTypes[g.Spec.AMIType]
	p, err := r.Parameter(image.parameters(g.Spec.Version, "")[0])
	if err != nil {
		return s, wire.Errorf("InvalidParameterException", "Requested Nodegroup release version for Kubernetes %s is invalid.", g.Spec.Version)
	}
	s.ImageID = p.Value
	if found, err := r.Image(p.Value); err == nil {
		g.Spec.Release = cmp.Or(g.Spec.Release, found.Name)
	}
	if g.Spec.DiskSize > 0 {
		on := true
		s.Devices = []DeviceSpec{{DeviceName: podDevice(image.family), Ebs: &Ebs{VolumeSize: g.Spec.DiskSize, VolumeType: "gp3", DeleteOnTermination: &on}}}
	}
	s.UserData = base64.StdEncoding.EncodeToString([]byte(r.nodeGroupUserData(g, image.family, s.ImageID)))
	return s, nil
}

func (r *Region) clusterGroupIDs() (ids []string) {
	for _, g := range r.groups {
		if g.Name == r.ClusterGroup() {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// scalingSpec describes the Auto Scaling group of a node group.
func (g *NodeGroup) scalingSpec() GroupSpec {
	mixed := &MixedPolicy{}
	mixed.Template.Spec = &GroupTemplate{g.template.ID, g.template.Name, strconv.Itoa(len(g.template.Versions))}
	for _, kind := range g.Spec.Types {
		mixed.Template.Overrides = append(mixed.Template.Overrides, GroupOverride{InstanceType: kind})
	}
	all, spot := 100, g.Spec.CapacityType == "SPOT"
	if spot {
		all = 0
		mixed.Distribution.SpotStrategy = "price-capacity-optimized"
	}
	mixed.Distribution.OnDemandStrategy, mixed.Distribution.Percentage = "prioritized", &all
	grace := 15
	return GroupSpec{
		Min: g.Spec.Scaling.Min, Max: g.Spec.Scaling.Max, Desired: g.Spec.Scaling.Desired, Subnets: strings.Join(g.Spec.Subnets, ","), Mixed: mixed,
		Grace: &grace, Rebalance: &spot, Policies: []string{"AllocationStrategy", "OldestLaunchTemplate", "OldestInstance"},
	}
}

// nodeGroupTags returns the tags that EKS puts on the Auto Scaling group. They do not include tags,
// labels or taints of the node group.
func (r *Region) nodeGroupTags(g *NodeGroup) (tags []GroupTag) {
	cluster := r.Cluster().Name
	values := map[string]string{
		"eks:cluster-name": cluster, "eks:nodegroup-name": g.Spec.Name, "kubernetes.io/cluster/" + cluster: "owned",
		"k8s.io/cluster-autoscaler/enabled": "true", "k8s.io/cluster-autoscaler/" + cluster: "owned",
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		tags = append(tags, GroupTag{wire.Tag{Key: key, Value: values[key]}, true})
	}
	return tags
}

// ARN names a node group.
func (g *NodeGroup) ARN(r *Region) string {
	return r.ARN("eks", "nodegroup/"+r.Cluster().Name+"/"+g.Spec.Name+"/"+g.ID)
}
