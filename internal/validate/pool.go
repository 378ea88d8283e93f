package validate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/source"
)

// pool is a NodePool with what it may buy.
type pool struct {
	object   *karpenterv1.NodePool
	document source.Document
	read     snapshot.Pool
	offers   map[offer]bool
	types    []string // sorted
	spot     bool     // all that it can buy is spot
}

// offer is one thing that can be bought.
type offer struct{ kind, zone, capacityType string }

func (c *checker) checkPools() {
	var pools []*pool
	for _, object := range c.objects.NodePools {
		p := &pool{object: object, document: c.documentOf("NodePool", object)}
		if c.isWrong(p.document) {
			continue
		}
		if c.checkSettings(p) && c.checkClass(p) && c.checkOffers(p) {
			pools = append(pools, p)
		}
		c.checkLabels(p)
		c.checkReachable(p)
	}
	c.checkShadows(pools)
}

// checkSettings asks the controller's own checks, and reports whether it would take the pool.
func (c *checker) checkSettings(p *pool) bool {
	var problems karpenterv1.Problems
	errors.As(c.translator.CheckPool(p.object), &problems)
	_, price := ingest.NodePrice(p.object, 0)
	_, ceiling := ingest.PriceCeiling(p.object)
	_, drift := ingest.DeleteFirst(p.object)
	for _, problem := range slices.Concat(problems, []error{price, ceiling, drift}) {
		if problem != nil {
			path := fieldAbout(problem.Error())
			c.add(p.document, ruleSetting, Error, path, problem.Error(), settingFix(p.document, path, problem.Error()))
		}
	}
	return len(problems) == 0
}

// fieldAbout is the part of a pool that a problem is about, as its text says.
func fieldAbout(text string) string {
	for _, part := range []struct{ word, field string }{
		{"in labels", "spec.template.metadata.labels"}, {"label[", "spec.template.metadata.labels"}, {"in requirements", "spec.template.spec.requirements"},
		{"in taints", "spec.template.spec.taints"}, {"in startupTaints", "spec.template.spec.startupTaints"}, {"limits", "spec.limits"}, {"tenon.sh/", "metadata.annotations"},
	} {
		if strings.Contains(text, part.word) {
			return part.field
		}
	}
	return "spec"
}

// classField is where a pool names its class.
const classField = "spec.template.spec.nodeClassRef"

// checkClass finds the class, if classes are among the files at all: a repository may keep them elsewhere.
func (c *checker) checkClass(p *pool) bool {
	ref := p.object.Spec.Template.Spec.NodeClassRef
	if ref == nil {
		return false // the schema says so
	}
	if _, known := c.objects.NodeClasses[*ref]; !known && len(c.objects.NodeClasses) > 0 {
		near := ""
		for other := range c.objects.NodeClasses {
			if requirement.EditDistance(other.Name, ref.Name) <= 2 && (near == "" || other.Name < near) {
				near = other.Name
			}
		}
		fix := "add it, or name one that is there"
		if near != "" {
			fix = "did you mean " + near + "?"
		}
		c.add(p.document, ruleClassMissing, Warning, classField+".name", fmt.Sprintf("%s %s is not among the files", ref.Kind, ref.Name), fix)
	}
	return true
}

// requirementsField is where a pool says what it may buy.
const requirementsField = "spec.template.spec.requirements"

// checkOffers looks at what the pool can buy, and reports whether that is anything.
func (c *checker) checkOffers(p *pool) bool {
	ref := *p.object.Spec.Template.Spec.NodeClassRef
	var class metav1.Object
	if found, known := c.objects.NodeClasses[ref]; known {
		class = found
	}
	offers, err := c.options.Ingest.Catalog(p.object, class)
	if err != nil {
		return false // a cloud that is not built in: what it sells is not known here
	}
	p.read = c.translator.Pool(p.object)
	p.buy(offers, c.options.Ingest.Vocabulary.WellKnown())
	switch {
	case len(p.types) == 0:
		c.add(p.document, ruleNoType, Error, requirementsField, "no instance type meets these requirements", c.culprit(p, offers))
		return false
	case len(p.types) == 1 && p.spot:
		c.add(p.document, ruleOneType, Warning, requirementsField, fmt.Sprintf("%s is the only type that meets these requirements, and it is bought as spot alone: while there is none, the pool gets no nodes", p.types[0]),
			"allow more types, sizes or generations, or on-demand beside spot")
	case len(p.types) == 1:
		c.add(p.document, ruleOneType, Note, requirementsField, fmt.Sprintf("%s is the only type that meets these requirements: while there is none, the pool gets no nodes", p.types[0]),
			"allow more types, sizes or generations")
	}
	c.checkVariety(p, offers)
	return true
}

// buy lists what the pool can buy.
func (p *pool) buy(offers *catalog.Catalog, wellKnown requirement.KeySet) {
	p.offers = map[offer]bool{}
	names := map[string]bool{}
	for t, o := range ingest.Buyable(offers, p.read.Requirements, wellKnown) {
		names[t.Name] = true
		p.offers[offer{t.Name, o.Zone, o.CapacityType}] = true
	}
	p.types = slices.Sorted(maps.Keys(names))
	p.spot = len(p.offers) > 0
	for o := range p.offers {
		p.spot = p.spot && o.capacityType == catalog.Spot
	}
}

// culprit finds the one requirement without which there would be types.
func (c *checker) culprit(p *pool, offers *catalog.Catalog) string {
	list := p.object.Spec.Template.Spec.Requirements
	for i := range list {
		others := p.object.DeepCopy()
		others.Spec.Template.Spec.Requirements = slices.Delete(slices.Clone(list), i, i+1)
		if ingest.CanBuy(offers, c.translator.Pool(others).Requirements, c.options.Ingest.Vocabulary.WellKnown()) {
			return fmt.Sprintf("requirements[%d] (%s %s %v) leaves none of the types that the others allow: widen it, or remove it", i, list[i].Key, list[i].Operator, list[i].Values)
		}
	}
	return "more than one requirement leaves none: begin with the families, sizes and zones that are wanted"
}

// checkVariety compares minValues with what there is.
func (c *checker) checkVariety(p *pool, offers *catalog.Catalog) {
	for i, r := range p.object.Spec.Template.Spec.Requirements {
		if r.MinValues == nil {
			continue
		}
		variety := requirement.NewVariety(p.read.Requirements)
		for j := range offers.Types {
			if t := &offers.Types[j]; slices.Contains(p.types, t.Name) {
				variety.Add(t.Requirements)
			}
		}
		if !variety.Met() {
			c.add(p.document, ruleMinValues, Error, fmt.Sprintf("%s[%d].minValues", requirementsField, i), fmt.Sprintf("%d values of %s are asked for, and the types that meet the requirements do not have so many", *r.MinValues, r.Key), "lower minValues, or allow more types")
			return
		}
	}
}

// checkReachable finds pools that may have no node at all.
func (c *checker) checkReachable(p *pool) {
	for _, name := range slices.Sorted(maps.Keys(p.object.Spec.Limits)) {
		if limit := p.object.Spec.Limits[name]; limit.IsZero() {
			c.add(p.document, ruleUnreachable, Warning, "spec.limits."+string(name), fmt.Sprintf("a limit of 0 %s leaves room for no node", name), "raise the limit, or remove the pool")
		}
	}
}

// checkShadows finds pools whose pods all go to a heavier pool.
func (c *checker) checkShadows(pools []*pool) {
	for _, p := range pools {
		for _, other := range pools {
			if other != p && other.shadows(p) {
				c.add(p.document, ruleShadowed, Warning, "spec.weight", fmt.Sprintf("NodePool %s is heavier and takes every pod that this one could take: only pods that name this pool get its nodes", other.object.Name),
					"give this pool a higher weight, or taints or labels that pods ask for")
				break
			}
		}
	}
}

// shadows reports whether every pod that another pool could take, and that does not name it, is
// taken by p: it is heavier, has no limits and no taints and labels beyond the other's, and can
// buy all that the other can.
func (p *pool) shadows(other *pool) bool {
	if p.read.Weight <= other.read.Weight || p.object.IsStatic() || other.object.IsStatic() || len(p.read.Limits) > 0 || p.read.PriceCeiling > 0 {
		return false
	}
	for _, t := range slices.Concat(p.read.Taints, p.read.StartupTaints) {
		if !slices.Contains(slices.Concat(other.read.Taints, other.read.StartupTaints), t) {
			return false
		}
	}
	for o := range other.offers {
		if !p.offers[o] {
			return false
		}
	}
	return maps.Equal(p.ownKeys(), other.ownKeys())
}

// ownKeys are the labels that pods can ask this pool for, beside those of every machine: what the
// template sets, and what requirements of labels that users made up say.
func (p *pool) ownKeys() map[string]string {
	keys := maps.Clone(p.object.Spec.Template.Labels)
	if keys == nil {
		keys = map[string]string{}
	}
	for _, r := range p.object.Spec.Template.Spec.Requirements {
		if !strings.Contains(r.Key, "kubernetes.io/") && !strings.Contains(r.Key, "karpenter.") {
			keys[r.Key] = fmt.Sprint(r.Operator, r.Values)
		}
	}
	return keys
}
