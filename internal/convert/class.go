package convert

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tenon/internal/source"
)

// nodeTemplate converts an AWSNodeTemplate of v1alpha1.
func (c *converter) nodeTemplate(d source.Document) {
	old, spec := begin(d.Root, classVersion, "EC2NodeClass")
	c.alphaClass(old, spec, "spec")
	c.Documents = append(c.Documents, d)
}

// inlineClass makes an object of a class that is written inside a Provisioner.
func (c *converter) inlineClass(name string, old *yaml.Node) {
	root := source.Pairs("apiVersion", classVersion, "kind", "EC2NodeClass")
	source.Set(source.Under(root, "metadata"), "name", source.Text(name))
	source.Take(old, "apiVersion")
	source.Take(old, "kind")
	c.alphaClass(old, source.Under(root, "spec"), "spec.provider")
	c.Documents = append(c.Documents, source.Document{File: c.current.File, Number: c.current.Number, Root: root})
	c.tell(Explicit, "spec.provider", "what was inside the Provisioner is EC2NodeClass %s now", name)
}

// alphaClass moves the fields of an AWSNodeTemplate, or of a provider inside a Provisioner.
func (c *converter) alphaClass(old, spec *yaml.Node, path string) {
	c.runsAs(old, spec, path)
	c.images(old, spec, path)
	c.selector(old, "subnetSelector", spec, "subnetSelectorTerms", path)
	c.selector(old, "securityGroupSelector", spec, "securityGroupSelectorTerms", path)
	for _, field := range []string{"tags", "userData", "blockDeviceMappings", "detailedMonitoring", "context"} {
		source.Move(old, field, spec, field)
	}
	c.metadataOptions(old, spec, path)
	for _, field := range []string{"launchTemplate", "launchTemplateName"} {
		if source.Take(old, field) != nil {
			c.tell(Lost, path+"."+field, "launch templates of your own have no successor: write what it says as amiSelectorTerms, userData and blockDeviceMappings")
		}
	}
	c.end(old, path)
}

// betaClass converts an EC2NodeClass of v1beta1.
func (c *converter) betaClass(d source.Document) {
	old, spec := begin(d.Root, classVersion, "EC2NodeClass")
	c.runsAs(old, spec, "spec")
	c.images(old, spec, "spec")
	for _, field := range []string{
		"subnetSelectorTerms", "securityGroupSelectorTerms", "associatePublicIPAddress", "tags", "userData", "blockDeviceMappings", "instanceStorePolicy", "detailedMonitoring", "context",
	} {
		source.Move(old, field, spec, field)
	}
	c.metadataOptions(old, spec, "spec")
	c.end(old, "spec")
	c.Documents = append(c.Documents, d)
}

// runsAs moves the role, or fills in what a setting of the controller said.
func (c *converter) runsAs(old, spec *yaml.Node, path string) {
	role, profile := source.Move(old, "role", spec, "role"), source.Move(old, "instanceProfile", spec, "instanceProfile")
	switch {
	case role || profile:
	case c.Role != "":
		source.Set(spec, "role", source.Text(c.Role))
	case c.InstanceProfile != "":
		source.Set(spec, "instanceProfile", source.Text(c.InstanceProfile))
	default:
		c.tell(Lost, path+".instanceProfile", "was a setting of the controller (aws.defaultInstanceProfile), and each class says it now: give --role or --instance-profile")
	}
}

// metadataOptions writes out the hop limit of before: pods reach the metadata service with 2, and
// not with today's 1.
func (c *converter) metadataOptions(old, spec *yaml.Node, path string) {
	source.Move(old, "metadataOptions", spec, "metadataOptions")
	options := source.Under(spec, "metadataOptions")
	if source.Lookup(options, "httpPutResponseHopLimit") != nil {
		return
	}
	source.Set(options, "httpPutResponseHopLimit", source.Bare("2"))
	c.tell(Explicit, path+".metadataOptions", "httpPutResponseHopLimit 2 was the default, and is written out; today's default 1 keeps pods from the instance's credentials")
}

// aliases of the families of images that today's API finds by itself.
var aliases = map[string]string{
	"AL2": "al2", "AL2023": "al2023", "Bottlerocket": "bottlerocket", "Windows2019": "windows2019", "Windows2022": "windows2022",
}

// images moves the family and the selector of images. Without a selector the family's newest image was taken.
func (c *converter) images(old, spec *yaml.Node, path string) {
	family := cmp.Or(source.Value(source.Lookup(old, "amiFamily")), "AL2")
	source.Move(old, "amiFamily", spec, "amiFamily")
	switch {
	case source.Lookup(old, "amiSelector") != nil:
		c.selector(old, "amiSelector", spec, "amiSelectorTerms", path)
		c.tell(Changed, path+".amiSelector", "tags of images no longer say on which instances an image runs; its architecture alone does")
	default:
		source.Move(old, "amiSelectorTerms", spec, "amiSelectorTerms")
	}
	if source.Lookup(spec, "amiFamily") == nil {
		source.Set(spec, "amiFamily", source.Text(family))
	}
	if terms := source.Lookup(spec, "amiSelectorTerms"); terms == nil || len(terms.Content) == 0 {
		c.newest(spec, family, path)
	}
	if family == "Ubuntu" {
		c.ubuntu(old, spec, path)
	}
	if family == "AL2" {
		c.tell(Changed, path+".amiFamily", "there are no AL2 images for Kubernetes 1.33 and newer: plan the move to al2023")
	}
}

// newest selects the newest image of a family.
func (c *converter) newest(spec *yaml.Node, family, path string) {
	alias, known := aliases[family]
	if !known {
		c.tell(Lost, path+".amiFamily", "images of family %s are not found by themselves: name them under amiSelectorTerms", family)
		return
	}
	source.Set(spec, "amiSelectorTerms", source.Sequence(source.Pairs("alias", alias+"@latest")))
	c.tell(Explicit, path+".amiFamily", "the newest image of the family was taken without a selector: alias %s@latest says so. A fixed version keeps new images from replacing all nodes", alias)
}

// ubuntu: its images start as those of AL2 do, with another root device.
func (c *converter) ubuntu(old, spec *yaml.Node, path string) {
	source.Lookup(spec, "amiFamily").Value = "AL2"
	if source.Lookup(old, "blockDeviceMappings") == nil {
		device := source.Pairs("deviceName", "/dev/sda1")
		source.Set(device, "rootVolume", source.Bare("true"))
		disk := source.Pairs("volumeSize", "20Gi", "volumeType", "gp3")
		source.Set(disk, "encrypted", source.Bare("true"))
		source.Set(device, "ebs", disk)
		source.Set(spec, "blockDeviceMappings", source.Sequence(device))
	}
	c.tell(Changed, path+".amiFamily", "Ubuntu is no family any more: its images start as those of AL2, with the root device /dev/sda1")
}

// clusterTag is how subnets and security groups are found that no selector names.
const clusterTag = "kubernetes.io/cluster/"

// selector makes terms of a selector. A selector is a map, all of whose entries hold; a value may be a list with
// commas, of which one holds. Terms are alternatives, so they are all combinations.
func (c *converter) selector(old *yaml.Node, from string, spec *yaml.Node, to, path string) {
	selector := source.Take(old, from)
	if selector == nil || len(selector.Content) == 0 {
		if c.ClusterName == "" {
			c.tell(Lost, path+"."+from, "is missing: today every class selects by itself. Give --cluster-name to select by the tag %sNAME", clusterTag)
			return
		}
		tags := source.Mapping()
		source.Set(tags, "tags", source.Pairs(clusterTag+c.ClusterName, "*"))
		source.Set(spec, to, source.Sequence(tags))
		c.tell(Explicit, path+"."+from, "without a selector the tag %s%s was looked for, which is written out", clusterTag, c.ClusterName)
		return
	}
	terms := []*yaml.Node{source.Mapping()}
	for i := 0; i+1 < len(selector.Content); i += 2 {
		key, value := selector.Content[i], selector.Content[i+1]
		terms = combine(terms, key.Value, alternatives(value.Value))
	}
	list := source.Sequence(terms...)
	list.HeadComment = selector.HeadComment
	if slices.ContainsFunc(terms, func(t *yaml.Node) bool { return source.Lookup(t, "id") != nil && len(t.Content) > 2 }) {
		c.tell(Changed, path+"."+from, "identifiers stand alone in today's terms: what was asked beside them is left out")
		list.Content = onlyIdentifiers(terms)
	}
	source.Set(spec, to, list)
}

func alternatives(value string) []string {
	var out []string
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	if len(out) == 0 {
		return []string{"*"} // an empty value asked for the key alone
	}
	return out
}

// combine adds an entry of a selector to every term, once for each alternative.
func combine(terms []*yaml.Node, key string, values []string) []*yaml.Node {
	var out []*yaml.Node
	for _, term := range terms {
		for _, value := range values {
			next := source.Clone(term)
			switch key {
			case "aws-ids", "aws::ids":
				source.Set(next, "id", source.Text(value))
			case "aws::name":
				source.Set(next, "name", source.Text(value))
			case "aws::owners":
				source.Set(next, "owner", source.Text(value))
			default:
				source.Set(source.Under(next, "tags"), key, source.Text(value))
			}
			out = append(out, next)
		}
	}
	return out
}

func onlyIdentifiers(terms []*yaml.Node) []*yaml.Node {
	var out []*yaml.Node
	seen := map[string]bool{}
	for _, term := range terms {
		if id := source.Value(source.Lookup(term, "id")); id != "" && !seen[id] {
			seen[id] = true
			out = append(out, source.Pairs("id", id))
		}
	}
	return out
}
