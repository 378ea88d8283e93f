package validate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tenon/api/admission"
	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	"tenon/api/crds"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/requirement"
	"tenon/internal/source"
)

// checkSchemas does what an API server does before it stores an object of ours.
func (c *checker) checkSchemas(ctx context.Context) error {
	admitters := map[string]*admission.Admitter{} // by definition; made when first needed
	for _, d := range c.documents {
		definition, ours := definitionOf(d)
		if !ours {
			continue
		}
		if admitters[definition.Name] == nil {
			made, err := admission.New(definition.YAML)
			if err != nil {
				return err
			}
			admitters[definition.Name] = made
		}
		c.checkSchema(ctx, d, admitters[definition.Name])
	}
	return nil
}

// definitions of the kinds that are ours, by API version and kind.
var definitions = map[string]string{
	karpenterv1.Group + "/v1 NodePool":                   crds.NodePool,
	karpenterv1.Group + "/v1 NodeClaim":                  crds.NodeClaim,
	karpenterv1.Group + "/v1alpha1 NodeOverlay":          crds.NodeOverlay,
	awsv1.Group + "/v1 EC2NodeClass":                     crds.EC2NodeClass,
	autoscalingv1beta1.Group + "/v1beta1 CapacityBuffer": crds.CapacityBuffer,
	autoscalingv1.Group + "/v1 ProvisioningRequest":      crds.ProvisioningRequest,
	tenonv1alpha1.Group + "/v1alpha1 NodeGroup":          crds.NodeGroup,
}

// definitionOf finds the definition of a document's kind.
func definitionOf(d source.Document) (crds.Definition, bool) {
	all := crds.All()
	at := slices.IndexFunc(all, func(c crds.Definition) bool { return c.Name == definitions[d.APIVersion()+" "+d.Kind()] })
	if at < 0 {
		return crds.Definition{}, false
	}
	return all[at], true
}

func (c *checker) checkSchema(ctx context.Context, d source.Document, admitter *admission.Admitter) {
	object, err := d.Map()
	if err != nil {
		c.add(d, ruleUnreadable, Error, "", err.Error(), "write the object as a mapping of fields")
		return
	}
	for _, path := range admitter.UnknownFields(object) {
		if strings.HasPrefix(path, "status") {
			continue
		}
		c.add(d, ruleUnknownField, Error, path, "the API server drops it: the schema has no such field", nearestField(admitter, path))
	}
	delete(object, "status") // what a controller wrote is its own business
	for _, problem := range admitter.Create(ctx, object) {
		c.add(d, ruleSchema, Error, problem.Field, problem.ErrorBody(), c.schemaFix(d, problem))
	}
}

// nearestField proposes the field that was probably meant.
func nearestField(admitter *admission.Admitter, path string) string {
	at := strings.LastIndex(path, ".")
	name := path[at+1:]
	best, fewest := "", len(name)/3+1
	for _, candidate := range admitter.Fields(path[:max(at, 0)]) {
		if edits := requirement.EditDistance(strings.ToLower(name), strings.ToLower(candidate)); edits <= fewest && (best == "" || edits < fewest) {
			best, fewest = candidate, edits
		}
	}
	if best == "" {
		return "remove it"
	}
	return fmt.Sprintf("did you mean %s?", best)
}
