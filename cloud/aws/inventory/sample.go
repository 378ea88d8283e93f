package inventory

import (
	"slices"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/ami"
	"tenon/cloud/aws/instancetype"
	"tenon/cloud/aws/offering"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// mostTypes is how many types a dry run uses.
const mostTypes = 60

// sample chooses the types for a dry run, which all boot the same image: types that the class's pools may
// buy, else common ones, else any. Images for machines with GPUs may need larger volumes than the class has,
// so sample prefers types with ordinary images.
func sample(offer offering.Offer, class *awsv1.EC2NodeClass, pools []*karpenterv1.NodePool) ([]*catalog.Type, awsv1.AMI) {
	chooser := ami.NewChooser(class.Status.AMIs)
	for _, list := range [][]*catalog.Type{wanted(offer, class, pools), named(offer, "m5.large", "m6g.large"), usable(offer)} {
		for _, standard := range []bool{true, false} {
			if types, booted := alike(list, chooser, standard); len(types) > 0 {
				return types, booted
			}
		}
	}
	return nil, awsv1.AMI{}
}

// wanted returns the types that a pool of the class allows. Pools do not say which types suit Windows, so
// classes for Windows use common types.
func wanted(offer offering.Offer, class *awsv1.EC2NodeClass, pools []*karpenterv1.NodePool) []*catalog.Type {
	if isWindows(class) {
		return nil
	}
	var asked []requirement.Set
	for _, p := range pools {
		asked = append(asked, setOf(p))
	}
	return slices.DeleteFunc(usable(offer), func(t *catalog.Type) bool {
		return !slices.ContainsFunc(asked, t.Requirements.Intersects)
	})
}

func isWindows(class *awsv1.EC2NodeClass) bool {
	family, _ := class.Spec.Family() // an unknown platform is not Windows
	return slices.Contains([]string{awsv1.FamilyWindows2019, awsv1.FamilyWindows2022, awsv1.FamilyWindows2025}, family)
}

// usable returns the types that the class can launch.
func usable(offer offering.Offer) []*catalog.Type {
	var types []*catalog.Type
	for i := range offer.Catalog.Types {
		if t := &offer.Catalog.Types[i]; !offer.Incompatible[t.Name] {
			types = append(types, t)
		}
	}
	return types
}

func named(offer offering.Offer, names ...string) []*catalog.Type {
	return slices.DeleteFunc(usable(offer), func(t *catalog.Type) bool { return !slices.Contains(names, t.Name) })
}

// alike returns the types that boot the same image as the first of them.
func alike(list []*catalog.Type, chooser ami.Chooser, standard bool) (types []*catalog.Type, booted awsv1.AMI) {
	for _, t := range list {
		i, found := chooser.For(t.Requirements)
		if !found || ami.IsStandard(i) != standard || len(types) > 0 && i.ID != booted.ID {
			continue
		}
		booted = i
		if types = append(types, t); len(types) == mostTypes {
			break
		}
	}
	return types, booted
}

// setOf returns a pool's requirements, as far as they can be read.
func setOf(p *karpenterv1.NodePool) requirement.Set {
	words := instancetype.Vocabulary()
	set := words.FromLabels(p.Spec.Template.Labels)
	for _, r := range p.Spec.Template.Spec.Requirements {
		if parsed, err := words.Parse(requirement.Entry{Key: r.Key, Operator: requirement.Operator(r.Operator), Values: r.Values}); err == nil {
			set = set.Intersect(parsed)
		}
	}
	return set
}

// tenancyOf is dedicated if a pool asks for it by name.
func tenancyOf(pools []*karpenterv1.NodePool) string {
	for _, p := range pools {
		if set := setOf(p); set.Has(awsv1.LabelInstanceTenancy) && set.Get(awsv1.LabelInstanceTenancy).Has(awsv1.TenancyDedicated) {
			return awsv1.TenancyDedicated
		}
	}
	return awsv1.TenancyDefault
}
