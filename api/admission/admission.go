// Package admission does to a custom object what an API server does before it stores it: it
// finds unknown fields, fills in defaults, and checks the schema and its rules, with the API
// server's own libraries.
//
// It is for tests, for simulated API servers, and for tenon validate, which reports before objects are
// applied what a server would report. Controllers must not import it: the real API server does this work.
package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitionvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"
)

// Admitter admits objects of one kind. It is safe for concurrent use.
type Admitter struct {
	// Definition is the definition that the admitter was made from, with its defaults filled in.
	Definition *apiextensionsv1.CustomResourceDefinition

	schema *structural.Structural
	fields validation.SchemaValidator
	rules  *cel.Validator
}

// New makes an admitter from a definition with one version. It refuses a definition that an API
// server would refuse, for example because its rules could cost too much.
func New(definition []byte) (*Admitter, error) {
	d := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(definition, d); err != nil {
		return nil, fmt.Errorf("read definition: %w", err)
	}
	schema, err := acceptedSchema(d)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", d.Name, err)
	}
	s, err := structural.NewStructural(schema)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", d.Name, err)
	}
	fields, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", d.Name, err)
	}
	return &Admitter{
		Definition: d, schema: s, fields: fields,
		rules: cel.NewValidator(s, true, celconfig.PerCallLimit),
	}, nil
}

// acceptedSchema defaults and validates a definition, and returns its schema.
func acceptedSchema(d *apiextensionsv1.CustomResourceDefinition) (*apiextensions.JSONSchemaProps, error) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := apiextensions.AddToScheme(scheme); err != nil {
		return nil, err
	}
	scheme.Default(d)
	if len(d.Spec.Versions) != 1 {
		return nil, fmt.Errorf("want one version, got %d", len(d.Spec.Versions))
	}
	internal := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(d, internal, nil); err != nil {
		return nil, err
	}
	internal.Status.StoredVersions = []string{d.Spec.Versions[0].Name} // as the server sets on creation
	if errs := definitionvalidation.ValidateCustomResourceDefinition(context.Background(), internal); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	// With a single version the conversion moves the schema to the top.
	return internal.Spec.Validation.OpenAPIV3Schema, nil
}

// UnknownFields returns the paths of fields that the schema does not know and that the API server
// would drop. The object stays as it is.
func (a *Admitter) UnknownFields(object map[string]any) []string {
	return pruning.PruneWithOptions(runtime.DeepCopyJSON(object), a.schema, true,
		structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

// Default returns the object with all defaults filled in.
func (a *Admitter) Default(object map[string]any) map[string]any {
	defaulted := runtime.DeepCopyJSON(object)
	defaulting.PruneNonNullableNullsWithoutDefaults(defaulted, a.schema)
	defaulting.Default(defaulted, a.schema)
	return defaulted
}

// Create returns an API server's complaints about a new object; empty if it accepts the object.
func (a *Admitter) Create(ctx context.Context, object map[string]any) field.ErrorList {
	created := a.Default(object)
	errs := validation.ValidateCustomResource(nil, created, a.fields)
	return a.checkRules(ctx, errs, created, nil)
}

// Update returns an API server's complaints about the change of an object. It ignores errors that the object
// had before and that the change did not touch.
func (a *Admitter) Update(ctx context.Context, object, old map[string]any) field.ErrorList {
	updated, stored := a.Default(object), a.Default(old)
	correlated := common.NewCorrelatedObject(updated, stored, &model.Structural{Structural: a.schema})
	errs := validation.ValidateCustomResourceUpdate(nil, updated, stored, a.fields, validation.WithRatcheting(correlated))
	return a.checkRules(ctx, errs, updated, stored, cel.WithRatcheting(correlated))
}

// checkRules adds the complaints of lists and rules about an object. It skips the rules if the object's
// fields are wrong, because rules rely on valid fields.
func (a *Admitter) checkRules(ctx context.Context, errs field.ErrorList, object, old map[string]any, options ...cel.Option) field.ErrorList {
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.schema, object)...)
	if len(errs) > 0 || a.rules == nil {
		return errs
	}
	var stored any // an untyped nil means that there is no old object
	if old != nil {
		stored = old
	}
	broken, _ := a.rules.Validate(ctx, nil, a.schema, object, stored, celconfig.RuntimeCELCostBudget, options...)
	return append(errs, broken...)
}

// Fields returns the names of the fields that the schema has at a path such as spec.template or
// spec.requirements[0], sorted.
func (a *Admitter) Fields(path string) []string {
	s := a.schema
	for part := range strings.SplitSeq(path, ".") {
		name, _, item := strings.Cut(part, "[")
		if name != "" {
			next, known := s.Properties[name]
			if !known {
				return nil
			}
			s = &next
		}
		if item && s.Items != nil {
			s = s.Items
		}
	}
	return slices.Sorted(maps.Keys(s.Properties))
}
