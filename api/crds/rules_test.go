package crds_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"tenon/api/admission"
	"tenon/api/crds"
	"tenon/api/rulecase"
)

// admitters makes an admitter for every kind.
func admitters(t *testing.T) map[string]*admission.Admitter {
	t.Helper()
	byKind := map[string]*admission.Admitter{}
	for _, definition := range crds.All() {
		admitter, err := admission.New(definition.YAML)
		if err != nil {
			t.Fatal(err)
		}
		if admitter.Definition.Name != definition.Name {
			t.Errorf("definition %s is filed as %s", admitter.Definition.Name, definition.Name)
		}
		byKind[admitter.Definition.Spec.Names.Kind] = admitter
	}
	return byKind
}

func cases(t *testing.T) []rulecase.Case {
	t.Helper()
	all, err := rulecase.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func apply(t *testing.T, admitter *admission.Admitter, object, before map[string]any) field.ErrorList {
	t.Helper()
	if before == nil {
		return admitter.Create(t.Context(), object)
	}
	return admitter.Update(t.Context(), object, before)
}

// TestRules applies the accepted and the refused object of every rule.
func TestRules(t *testing.T) {
	t.Parallel()
	kinds := admitters(t)
	for _, c := range cases(t) {
		t.Run(c.Kind+"/"+c.Name, func(t *testing.T) {
			t.Parallel()
			admitter := kinds[c.Kind]
			for what, object := range map[string]map[string]any{"accepted": c.Accepted, "refused": c.Refused} {
				if unknown := admitter.UnknownFields(object); len(unknown) > 0 {
					t.Errorf("%s object has unknown fields %v", what, unknown)
				}
			}
			if errs := apply(t, admitter, c.Accepted, c.Before); len(errs) > 0 {
				t.Errorf("accepted object is refused: %v", errs.ToAggregate())
			}
			errs := apply(t, admitter, c.Refused, c.Before)
			if len(errs) == 0 {
				t.Fatal("refused object is accepted")
			}
			if got := errs.ToAggregate().Error(); !strings.Contains(got, c.Message) {
				t.Errorf("got  %s\nwant %s", got, c.Message)
			}
		})
	}
}
