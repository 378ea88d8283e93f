package reference

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"tenon/api/crds"
	"tenon/core/order"
)

// Fields is the page docs/reference/fields.md: every field of every kind, as the definitions have it.
func Fields() (string, error) {
	var page strings.Builder
	page.WriteString(generated + fieldsHead)
	for _, d := range crds.All() {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(d.YAML, definition); err != nil {
			return "", fmt.Errorf("read definition %s: %w", d.Name, err)
		}
		spec := definition.Spec
		for _, version := range spec.Versions {
			page.WriteString(heading(fmt.Sprintf("%s (%s/%s)", spec.Names.Kind, spec.Group, version.Name), "field", "type", "default", "must be", "meaning"))
			root := version.Schema.OpenAPIV3Schema
			for _, part := range []string{"spec", "status"} {
				if schema, is := root.Properties[part]; is {
					rows(&page, part, &schema, required(root, part))
				}
			}
		}
	}
	return page.String(), nil
}

func required(parent *apiextensionsv1.JSONSchemaProps, name string) bool {
	for _, r := range parent.Required {
		if r == name {
			return true
		}
	}
	return false
}

// rows writes a field and what is in it. Conditions are alike in all kinds, and the page says once what they are.
func rows(page *strings.Builder, path string, s *apiextensionsv1.JSONSchemaProps, isRequired bool) {
	rules := bounds(s)
	if isRequired {
		rules = append([]string{"set"}, rules...)
	}
	fmt.Fprintf(page, "| `%s` | %s | %s | %s | %s |\n", path, kindOf(s), defaultOf(s), cell(strings.Join(rules, "; ")), cell(s.Description))
	if strings.HasSuffix(path, "status.conditions") {
		return
	}
	for s.Items != nil {
		s, path = s.Items.Schema, path+"[]"
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		s, path = s.AdditionalProperties.Schema, path+"{}"
	}
	for _, name := range order.Keys(s.Properties) {
		field := s.Properties[name]
		rows(page, path+"."+name, &field, required(s, name))
	}
}

func kindOf(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.XIntOrString:
		return "number or text"
	case s.Items != nil:
		return "list of " + kindOf(s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map to " + kindOf(s.AdditionalProperties.Schema)
	case s.Type == "string" && s.Format == "date-time":
		return "time"
	}
	return map[string]string{"string": "text", "integer": "number", "number": "number", "boolean": "true or false", "object": "object"}[s.Type]
}

func defaultOf(s *apiextensionsv1.JSONSchemaProps) string {
	if s.Default == nil {
		return "–"
	}
	return "`" + cell(string(s.Default.Raw)) + "`"
}

// bounds are what the API server refuses, with the texts that it says; patterns stand for themselves.
func bounds(s *apiextensionsv1.JSONSchemaProps) (rules []string) {
	add := func(format string, operands ...any) { rules = append(rules, fmt.Sprintf(format, operands...)) }
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, "`"+strings.Trim(string(v.Raw), `"`)+"`")
		}
		add("one of %s", strings.Join(values, ", "))
	}
	if s.Minimum != nil {
		add("at least %v", *s.Minimum)
	}
	if s.Maximum != nil {
		add("at most %v", *s.Maximum)
	}
	for _, limit := range []struct {
		value *int64
		text  string
	}{
		{s.MinLength, "at least %d characters"}, {s.MaxLength, "at most %d characters"},
		{s.MinItems, "at least %d entries"}, {s.MaxItems, "at most %d entries"},
		{s.MinProperties, "at least %d entries"}, {s.MaxProperties, "at most %d entries"},
	} {
		if limit.value != nil {
			add(limit.text, *limit.value)
		}
	}
	if s.Pattern != "" {
		add("like `%s`", s.Pattern)
	}
	for _, rule := range s.XValidations {
		text := rule.Message
		if text == "" {
			text = "`" + rule.Rule + "`"
		}
		add("%s", text)
	}
	return rules
}

const fieldsHead = `# Fields

Every field of the kinds that Tenon reads and writes, as the API server knows them. ` + "`kubectl explain nodepool.spec.disruption`" + ` shows the same for an installed version, and
[` + "`tenon validate`" + `](validate.md) checks a file against it without a cluster. After the bounds, the column *must be* quotes the API server's message for a refused value.

` + "`[]`" + ` stands for each entry of a list, ` + "`{}`" + ` for each entry of a map. Conditions have the fields of Kubernetes' own: ` + "`type`, `status`, `reason`, `message`, `lastTransitionTime`, `observedGeneration`" + `.
[Pools](pools.md), [buffers](buffers.md) and [node groups](node-groups.md) explain how to use the fields.
`
