package preflight

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"tenon/api/crds"
	"tenon/internal/settings"
)

const checkDefinitions = "definitions"

const (
	installDefinitions = "install them: helm upgrade --install tenon-crd charts/tenon-crd, or kubectl apply --server-side -f api/crds"
	mostFields         = 5 // that are named
)

// wanted are the definitions that the controller needs with its settings, in the order of installation.
func wanted(s settings.Settings) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var list []*apiextensionsv1.CustomResourceDefinition
	unused := map[string]bool{
		crds.NodeOverlay: !s.FeatureGates.NodeOverlay, crds.CapacityBuffer: !s.FeatureGates.CapacityBuffer, crds.NodeGroup: !s.FeatureGates.NodeGroups,
		crds.ProvisioningRequest: !s.ProvisioningRequests.Enabled,
	}
	for _, d := range crds.All() {
		if unused[d.Name] {
			continue
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(d.YAML, definition); err != nil {
			return nil, fmt.Errorf("read the definition %s of this build: %w", d.Name, err)
		}
		list = append(list, definition)
	}
	return list, nil
}

// judgeDefinition compares a definition that the build brings with the one in the cluster, which is nil if there
// is none.
func judgeDefinition(ours, theirs *apiextensionsv1.CustomResourceDefinition) Finding {
	if theirs == nil {
		return Finding{checkDefinitions, Failed, ours.Name + " is not installed",
			"the controller waits for it: it is not ready and does nothing", installDefinitions}
	}
	if theirs.DeletionTimestamp != nil {
		return Finding{checkDefinitions, Failed, ours.Name + " is being deleted, with all of its objects",
			"the nodes of its objects go", "when it is gone, " + installDefinitions}
	}
	version := ours.Spec.Versions[0].Name
	served := servedVersion(theirs, version)
	if served == nil {
		return Finding{checkDefinitions, Failed, fmt.Sprintf("%s does not serve %s", ours.Name, version),
			"the controller reads and writes this version alone", installDefinitions}
	}
	if c := theirs.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		return Finding{checkDefinitions, Failed, ours.Name + " is converted by a webhook",
			"without the program that serves the webhook every read fails; Tenon has none",
			"have objects stored as " + version + " first (Karpenter 1.1 or newer does it), then " + installDefinitions}
	}
	if old := without(theirs.Status.StoredVersions, version); len(old) > 0 {
		return Finding{checkDefinitions, Warning, fmt.Sprintf("%s may have objects stored as %s", ours.Name, strings.Join(old, ", ")),
			"a definition without that version is refused while status.storedVersions names it",
			"write each object once (kubectl get, kubectl replace), then take the version out of status.storedVersions"}
	}
	if missing := missingFields(ours.Spec.Versions[0].Schema.OpenAPIV3Schema, served.Schema.OpenAPIV3Schema); len(missing) > 0 {
		return Finding{checkDefinitions, Warning, fmt.Sprintf("%s is of another release: it lacks %s", ours.Name, named(missing)),
			"the API server drops these fields from what is applied", installDefinitions}
	}
	return Finding{Check: checkDefinitions, Level: OK, Text: ours.Name + " serves " + version}
}

func servedVersion(d *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range d.Spec.Versions {
		if v := &d.Spec.Versions[i]; v.Name == name && v.Served && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			return v
		}
	}
	return nil
}

func without(list []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == word })
}

// missingFields are the paths of fields that one schema has and the other lacks, sorted; of a field that is
// missing, those below it are not told.
func missingFields(ours, theirs *apiextensionsv1.JSONSchemaProps) []string {
	missing := collectMissing("", ours, theirs)
	slices.Sort(missing)
	return missing
}

func collectMissing(path string, ours, theirs *apiextensionsv1.JSONSchemaProps) []string {
	var missing []string
	for name, field := range ours.Properties {
		other, there := theirs.Properties[name]
		if !there {
			missing = append(missing, path+name)
			continue
		}
		missing = append(missing, collectMissing(path+name+".", &field, &other)...)
	}
	if ours.Items != nil && ours.Items.Schema != nil && theirs.Items != nil && theirs.Items.Schema != nil {
		missing = append(missing, collectMissing(path+"[].", ours.Items.Schema, theirs.Items.Schema)...)
	}
	return missing
}

// named is a list that stays readable.
func named(list []string) string {
	if len(list) <= mostFields {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:mostFields], ", "), len(list)-mostFields)
}
