package nodegroup

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/core/order"
)

// Static is a group that the operator names, with sizes that override the group's own.
type Static struct {
	Name     string
	Min, Max int64
}

// Discovery says which groups to read.
type Discovery struct {
	Static []Static
	// Tags are the tags that a group must have, all of them, to be discovered; an empty value allows any
	// value. Nil discovers no groups.
	Tags map[string]string
}

// Enabled reports whether there are groups to look for.
func (d Discovery) Enabled() bool { return len(d.Static) > 0 || len(d.Tags) > 0 }

// ParseStatic reads <min>:<max>:<name>. The name may contain colons.
func ParseStatic(text string) (Static, error) {
	parts := strings.SplitN(text, ":", 3)
	if len(parts) != 3 {
		return Static{}, fmt.Errorf("node group %q is not of the form <min>:<max>:<name>", text)
	}
	least, err := strconv.ParseInt(parts[0], 10, 32)
	if err != nil {
		return Static{}, fmt.Errorf("node group %q: min size %q is not a number", text, parts[0])
	}
	most, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil {
		return Static{}, fmt.Errorf("node group %q: max size %q is not a number", text, parts[1])
	}
	switch {
	case least < 0:
		return Static{}, fmt.Errorf("node group %q: min size must be >= 0", text)
	case most < least:
		return Static{}, fmt.Errorf("node group %q: max size must be greater or equal to min size", text)
	case parts[2] == "":
		return Static{}, fmt.Errorf("node group %q: name must not be blank", text)
	}
	return Static{Name: parts[2], Min: least, Max: most}, nil
}

// ParseTags reads asg:tag=<key>[=<value>][,<key>[=<value>]]… into the tags that a group must have. Given
// several texts, a group must have the tags of all of them; if a key occurs twice, the last value counts. (As
// in Cluster Autoscaler.)
func ParseTags(texts []string) (map[string]string, error) {
	var tags map[string]string
	for _, text := range texts {
		discoverer, rest, _ := strings.Cut(text, ":")
		if discoverer != "asg" {
			return nil, fmt.Errorf("node group auto discovery %q: unsupported discoverer %q, want asg:tag=<key>[=<value>],…", text, discoverer)
		}
		parameter, list, found := strings.Cut(rest, "=")
		if parameter != "tag" || !found {
			return nil, fmt.Errorf("node group auto discovery %q: unsupported parameter %q, want asg:tag=<key>[=<value>],…", text, parameter)
		}
		for part := range strings.SplitSeq(list, ",") {
			key, value, _ := strings.Cut(part, "=")
			if key = strings.TrimSpace(key); key == "" {
				return nil, fmt.Errorf("node group auto discovery %q: a tag has no key, want asg:tag=<key>[=<value>],…", text)
			}
			if tags == nil {
				tags = map[string]string{}
			}
			tags[key] = strings.TrimSpace(value)
		}
	}
	return tags, nil
}

// NewDiscovery reads the flags --nodes and --node-group-auto-discovery. If a group is named twice, the last
// sizes count.
func NewDiscovery(nodes, discoveries []string) (Discovery, error) {
	var d Discovery
	var err error
	byName := map[string]Static{}
	for _, text := range nodes {
		s, err := ParseStatic(text)
		if err != nil {
			return Discovery{}, err
		}
		byName[s.Name] = s
	}
	for _, name := range order.Keys(byName) {
		d.Static = append(d.Static, byName[name])
	}
	d.Tags, err = ParseTags(discoveries)
	return d, err
}

// static returns the group if the operator names it.
func (d Discovery) static(name string) (Static, bool) {
	for _, s := range d.Static {
		if s.Name == name {
			return s, true
		}
	}
	return Static{}, false
}
