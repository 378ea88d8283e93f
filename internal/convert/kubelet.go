package convert

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"tenon/internal/source"
)

// placeKubelets moves the settings of kubelets from pools to their classes. Pools of one class that
// differ need a class each: the first keeps the name, and for others a copy is made.
func (c *converter) placeKubelets() {
	taken := map[string]string{}                 // by class: the settings that it has
	for _, wanted := range []bool{false, true} { // pools without settings come first, and keep their class as it is
		for _, p := range c.pools {
			if (p.kubelet != nil) != wanted {
				continue
			}
			c.cleanKubelet(p)
			c.placeKubelet(p, taken)
		}
	}
}

func (c *converter) placeKubelet(p pooled, taken map[string]string) {
	text := encoded(p.kubelet)
	has, used := taken[p.class]
	if used && has == text {
		return
	}
	class := c.class(p.class)
	switch {
	case p.kubelet == nil || len(p.kubelet.Content) == 0:
		taken[p.class] = text
	case class == nil:
		c.tellOf(p.document, Lost, "spec", fmt.Sprintf("settings of kubelets are a part of the class now, and EC2NodeClass %s is not among the files", p.class))
	case !used:
		taken[p.class] = text
		source.Set(source.Under(class.Root, "spec"), "kubelet", p.kubelet)
		c.tellOf(p.document, Explicit, "spec", "settings of kubelets are in EC2NodeClass "+p.class+" now")
	default:
		c.copyClass(p, *class)
	}
}

// copyClass gives a pool a class of its own.
func (c *converter) copyClass(p pooled, class source.Document) {
	name := p.class + "-" + p.document.Name()
	class.Root = source.Clone(class.Root)
	class.Comment = ""
	source.Set(source.Under(class.Root, "metadata"), "name", source.Text(name))
	source.Set(source.Under(class.Root, "spec"), "kubelet", p.kubelet)
	source.Set(source.Under(p.root, "spec", "template", "spec", "nodeClassRef"), "name", source.Text(name))
	c.Documents = append(c.Documents, class)
	c.tellOf(p.document, Changed, "spec", fmt.Sprintf("settings of kubelets are a part of the class now, and other pools of EC2NodeClass %s have others: EC2NodeClass %s is a copy for this pool, and its nodes drift when it is applied", p.class, name))
}

// cleanKubelet leaves out what kubelets no longer have.
func (c *converter) cleanKubelet(p pooled) {
	if source.Take(p.kubelet, "containerRuntime") != nil {
		c.tellOf(p.document, Explicit, "spec", "containerRuntime is left out: there is only containerd now")
	}
}

func (c *converter) class(name string) *source.Document {
	at := slices.IndexFunc(c.Documents, func(d source.Document) bool { return d.Kind() == "EC2NodeClass" && d.Name() == name })
	if at < 0 {
		return nil
	}
	return &c.Documents[at]
}

// encoded is what a tree says, to compare it.
func encoded(n *yaml.Node) string {
	if n == nil || len(n.Content) == 0 {
		return ""
	}
	text, err := yaml.Marshal(n)
	if err != nil {
		return fmt.Sprint(err) // differs from all others, which costs a copy at worst
	}
	return string(text)
}
