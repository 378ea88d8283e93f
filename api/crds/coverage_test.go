package crds_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestEveryRuleHasACase finds all rules of the specs in the schemas, and fails for a rule that
// refuses no object of the table.
func TestEveryRuleHasACase(t *testing.T) {
	t.Parallel()
	broken := map[string]map[string]bool{} // by kind, the rules that refused an object
	kinds := admitters(t)
	for _, c := range cases(t) {
		if broken[c.Kind] == nil {
			broken[c.Kind] = map[string]bool{}
		}
		for _, err := range apply(t, kinds[c.Kind], c.Refused, c.Before) {
			broken[c.Kind][violated(err)] = true
		}
	}
	for kind, admitter := range kinds {
		root := admitter.Definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		spec := root.Properties["spec"]
		rules := append(rulesOf("spec", &spec), "spec required")
		if len(rules) < 5 {
			t.Errorf("found only %d rules of %s", len(rules), kind)
		}
		for _, rule := range rules {
			if !broken[kind][rule] {
				t.Errorf("%s: no case for %s", kind, rule)
			}
		}
	}
}

// rulesOf lists what a schema demands, each as "path keyword" or, for a CEL rule, "path: message".
func rulesOf(path string, s *apiextensionsv1.JSONSchemaProps) []string {
	var rules []string
	for keyword, present := range map[string]bool{
		"pattern": s.Pattern != "", "enum": len(s.Enum) > 0,
		"minimum": s.Minimum != nil, "maximum": s.Maximum != nil,
		"minLength": s.MinLength != nil, "maxLength": s.MaxLength != nil,
		"minItems": s.MinItems != nil, "maxItems": s.MaxItems != nil || s.MaxProperties != nil,
		"set": s.XListType != nil && *s.XListType == "set",
	} {
		if present {
			rules = append(rules, path+" "+keyword)
		}
	}
	for _, rule := range s.XValidations {
		rules = append(rules, path+": "+rule.Message)
	}
	for _, name := range s.Required {
		if s.Properties[name].Default != nil {
			continue // it is never missing
		}
		rules = append(rules, path+"."+name+" required")
	}
	for name, property := range s.Properties {
		rules = append(rules, rulesOf(path+"."+name, &property)...)
	}
	if s.Items != nil {
		rules = append(rules, rulesOf(path+"[]", s.Items.Schema)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		rules = append(rules, rulesOf(path+"{}", s.AdditionalProperties.Schema)...)
	}
	slices.Sort(rules)
	return rules
}

// mapsOfSpecs are the fields whose keys occur in the paths of errors.
var mapsOfSpecs = regexp.MustCompile(`(\.(labels|limits|capacity|requests|systemReserved|kubeReserved|evictionHard|evictionSoft|evictionSoftGracePeriod|tags|parameters))(\.[a-zA-Z].*|\[[^\]]*\])$`)

var index = regexp.MustCompile(`\[\d+\]`)

// violated names the rule that an error is about, as rulesOf does.
func violated(err *field.Error) string {
	path := mapsOfSpecs.ReplaceAllString(err.Field, "$1{}")
	path = index.ReplaceAllString(path, "[]")
	if keyword := keywordOf(err); keyword != "" {
		if keyword == "set" {
			path = strings.TrimSuffix(path, "[]")
		}
		return path + " " + keyword
	}
	return path + ": " + err.Detail
}

func keywordOf(err *field.Error) string {
	switch err.Type {
	case field.ErrorTypeRequired:
		return "required"
	case field.ErrorTypeNotSupported:
		return "enum"
	case field.ErrorTypeTooMany:
		return "maxItems"
	case field.ErrorTypeTooLong:
		return "maxLength"
	case field.ErrorTypeDuplicate:
		return "set"
	}
	for phrase, keyword := range map[string]string{
		"should match":                       "pattern",
		"should be greater than or equal to": "minimum",
		"should be less than or equal to":    "maximum",
		"chars long":                         "minLength",
		"should have at least":               "minItems",
	} {
		if strings.Contains(err.Detail, fmt.Sprintf("in body %s", phrase)) || strings.Contains(err.Detail, phrase) && keyword == "minLength" {
			return keyword
		}
	}
	return ""
}
