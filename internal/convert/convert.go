// Package convert turns objects of Karpenter's former APIs into today's: Provisioner, NodePool and
// NodeClaim of v1beta1, AWSNodeTemplate, EC2NodeClass of v1beta1, and node classes that are written
// inside a Provisioner. It works on trees, so that comments stay where they were, and says of every
// field whose meaning changed or that has no successor.
//
// The package reads no file and writes none. Package validate checks that the result is valid.
package convert

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/source"
)

// Effect is what became of a field.
type Effect string

// Effects, the gravest first.
const (
	// Lost: there is no successor, and a person has to decide.
	Lost Effect = "lost"
	// Changed: the field is there, and does something else than it did.
	Changed Effect = "changed"
	// Explicit: what was a default is written out, or has another name. It means what it did.
	Explicit Effect = "explicit"
)

// Change is what a person should know about one field.
type Change struct {
	Effect Effect `json:"effect"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	// Object as it was called before.
	Object string `json:"object"`
	Field  string `json:"field,omitempty"`
	Text   string `json:"text"`
}

// Options fill in what objects took from elsewhere: from the controller's settings of that time, or
// from the name of the cluster.
type Options struct {
	// Role or InstanceProfile is what nodes run as where an object does not say it.
	Role, InstanceProfile string
	// ClusterName selects subnets and security groups by the tag of the cluster where an object
	// has no selector.
	ClusterName string
}

// Result is the objects in today's API, and what a person should know.
type Result struct {
	Documents []source.Document
	Changes   []Change
}

// Complete reports whether every field has a successor.
func (r Result) Complete() bool {
	return !slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Effect == Lost })
}

// converter is one run.
type converter struct {
	Options
	Result
	// current is the document as it was.
	current source.Document
	pools   []pooled
}

// pooled is a pool with the settings of its kubelets, which today are a part of the class.
type pooled struct {
	document source.Document
	root     *yaml.Node
	class    string
	kubelet  *yaml.Node // nil if the pool has none
}

// Convert converts what is of a former API, and leaves the rest as it is but for names that changed.
// The trees of the documents belong to it from then on.
func Convert(documents []source.Document, options Options) Result {
	c := &converter{Options: options}
	for _, d := range documents {
		c.current = d
		c.current.Root = source.Clone(d.Root) // findings point at the original lines
		c.rename(d.Root)
		c.convert(d)
	}
	c.placeKubelets()
	return c.Result
}

// kind is an API version with a kind.
type kind struct{ version, kind string }

// former are the kinds of former APIs, with what converts each.
var former = map[kind]func(*converter, source.Document){
	{"karpenter.sh/v1alpha5", "Provisioner"}:          (*converter).provisioner,
	{"karpenter.sh/v1alpha5", "Machine"}:              (*converter).machine,
	{"karpenter.sh/v1beta1", "NodePool"}:              (*converter).betaPool,
	{"karpenter.sh/v1beta1", "NodeClaim"}:             (*converter).betaClaim,
	{"karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate"}: (*converter).nodeTemplate,
	{"karpenter.k8s.aws/v1beta1", "EC2NodeClass"}:     (*converter).betaClass,
}

// IsFormer reports whether an object is of a former API that Convert knows.
func IsFormer(version, name string) bool {
	_, known := former[kind{version, name}]
	return known
}

func (c *converter) convert(d source.Document) {
	convert, known := former[kind{d.APIVersion(), d.Kind()}]
	if known {
		convert(c, d)
		return
	}
	if d.APIVersion() == poolVersion && d.Kind() == "NodePool" {
		c.remember(d.Root)
	}
	c.Documents = append(c.Documents, d)
}

// Versions of today.
const (
	poolVersion  = karpenterv1.Group + "/v1"
	classVersion = awsv1.Group + "/v1"
)

func (c *converter) tell(effect Effect, field, format string, args ...any) {
	c.tellOf(c.current, effect, field, fmt.Sprintf(format, args...))
}

func (c *converter) tellOf(d source.Document, effect Effect, field, text string) {
	c.Changes = append(c.Changes, Change{Effect: effect, File: d.File, Line: d.Line(field), Object: d.Object(), Field: field, Text: text})
}

// begin makes the object of today out of the document's: the same mapping with another version and
// kind, without what only an API server writes, and with an empty spec. It returns the old spec.
func begin(root *yaml.Node, version, kind string) (old, spec *yaml.Node) {
	source.Lookup(root, "apiVersion").Value = version
	source.Lookup(root, "kind").Value = kind
	metadata := source.Under(root, "metadata")
	for _, key := range []string{"creationTimestamp", "generation", "resourceVersion", "uid", "managedFields", "selfLink"} {
		source.Take(metadata, key)
	}
	annotations := source.Lookup(metadata, "annotations")
	for _, key := range ownAnnotations {
		source.Take(annotations, key)
	}
	if annotations != nil && len(annotations.Content) == 0 {
		source.Take(metadata, "annotations")
	}
	source.Take(root, "status")
	old = source.Under(root, "spec")
	spec = source.Mapping()
	source.Set(root, "spec", spec)
	return old, spec
}

// ownAnnotations were written by controllers, not by users.
var ownAnnotations = []string{
	"kubectl.kubernetes.io/last-applied-configuration", "karpenter.sh/provisioner-hash", "karpenter.k8s.aws/nodetemplate-hash",
	"karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version", "karpenter.k8s.aws/ec2nodeclass-hash", "karpenter.k8s.aws/ec2nodeclass-hash-version",
	"compatibility.karpenter.sh/v1beta1-kubelet-conversion", "compatibility.karpenter.sh/v1beta1-nodeclass-reference", "compatibility.karpenter.k8s.aws/v1beta1-ubuntu",
}

// end tells of what is left of an old spec: fields that have no successor.
func (c *converter) end(old *yaml.Node, path string) {
	for _, key := range source.Keys(old) {
		c.tell(Lost, path+"."+key, "no field of today's API does what it did; what it said is left out")
	}
}

// renamed are labels and annotations that have another name today, wherever they stand.
var renamed = map[string]string{
	"karpenter.sh/provisioner-name":   karpenterv1.LabelNodePool,
	"karpenter.sh/do-not-evict":       karpenterv1.AnnotationDoNotDisrupt,
	"karpenter.sh/do-not-consolidate": karpenterv1.AnnotationDoNotDisrupt,
}

// FormerName is a label or annotation that has another name today.
type FormerName struct {
	Line     int
	Old, New string
	node     *yaml.Node
}

// FormerNames finds them in an object, in keys and in selectors.
func FormerNames(root *yaml.Node) []FormerName {
	var found []FormerName
	source.Walk(root, func(n *yaml.Node) {
		if name, old := renamed[n.Value]; old && n.Kind == yaml.ScalarNode {
			found = append(found, FormerName{n.Line, n.Value, name, n})
		}
	})
	return found
}

// rename gives labels and annotations the names of today.
func (c *converter) rename(root *yaml.Node) {
	told := map[string]bool{}
	for _, name := range FormerNames(root) {
		if !told[name.Old] {
			told[name.Old] = true
			c.Changes = append(c.Changes, Change{Effect: Explicit, File: c.current.File, Line: name.Line, Object: c.current.Object(), Text: fmt.Sprintf("%s is called %s now", name.Old, name.New)})
		}
		name.node.Value = name.New
	}
}
