package v1

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"tenon/api/label"
	"tenon/api/scalar"
)

// ReasonValidationFailed is the reason of ValidationSucceeded when Validate finds something.
const ReasonValidationFailed = "NodePoolValidationFailed"

// Problems are all that is wrong with an object, in one error.
//
// +kubebuilder:object:generate=false
type Problems []error

// Error joins the texts, as the condition's message shows them.
func (p Problems) Error() string {
	texts := make([]string, 0, len(p))
	for _, problem := range p {
		texts = append(texts, problem.Error())
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the single problems, for errors.Is and errors.As.
func (p Problems) Unwrap() []error { return p }

func (p Problems) orNil() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Validate checks what the schema cannot: rules that depend on the cloud's labels, and rules that
// compare parts of the object with each other. The error is of type Problems.
func (p *NodePool) Validate(rules label.Rules) error {
	spec := p.Spec.Template.Spec
	return slices.Concat(
		labelProblems(p.Spec.Template.Labels, rules),
		taintProblems(spec.Taints, spec.StartupTaints),
		requirementProblems(spec.Requirements, rules),
		limitProblems(p.Spec.Limits),
	).orNil()
}

func limitProblems(limits Limits) Problems {
	if err := scalar.CheckResources(corev1.ResourceList(limits)); err != nil {
		return Problems{fmt.Errorf("invalid limits: %w", err)}
	}
	return nil
}

func labelProblems(labels map[string]string, rules label.Rules) Problems {
	var found Problems
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if key == LabelNodePool {
			found = append(found, fmt.Errorf("invalid key name %q in labels, restricted", key))
			continue
		}
		for _, text := range validation.IsQualifiedName(key) {
			found = append(found, fmt.Errorf("invalid key name %q in labels, %q", key, text))
		}
		for _, text := range validation.IsValidLabelValue(labels[key]) {
			found = append(found, fmt.Errorf("invalid value: %s for label[%s], %s", labels[key], key, text))
		}
		if err := rules.CheckAllowed(key); err != nil {
			found = append(found, fmt.Errorf("invalid key name %q in labels, %w", key, err))
		}
	}
	return found
}

// taintIdentity is the part of a taint that may occur only once in both lists of taints together.
type taintIdentity struct {
	key    string
	effect corev1.TaintEffect
}

func taintProblems(taints, startupTaints []corev1.Taint) Problems {
	seen := map[taintIdentity]bool{}
	return slices.Concat(
		taintListProblems(taints, "taints", seen),
		taintListProblems(startupTaints, "startupTaints", seen),
	)
}

func taintListProblems(taints []corev1.Taint, field string, seen map[taintIdentity]bool) Problems {
	var found Problems
	for _, taint := range taints {
		for _, text := range taintTexts(taint) {
			found = append(found, fmt.Errorf("invalid value: %s in %s", text, field))
		}
		identity := taintIdentity{taint.Key, taint.Effect}
		if seen[identity] {
			found = append(found, fmt.Errorf("duplicate taint Key/Effect pair %s=%s", taint.Key, taint.Effect))
		}
		seen[identity] = true
	}
	return found
}

func taintTexts(taint corev1.Taint) []string {
	var texts []string
	if taint.Key == "" {
		texts = append(texts, "a taint needs a key")
	} else {
		texts = append(texts, validation.IsQualifiedName(taint.Key)...)
	}
	if taint.Value != "" {
		texts = append(texts, validation.IsQualifiedName(taint.Value)...)
	}
	switch taint.Effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute, "":
	default:
		texts = append(texts, fmt.Sprintf("unknown effect %s", taint.Effect))
	}
	return texts
}

func requirementProblems(requirements []Requirement, rules label.Rules) Problems {
	var found Problems
	for _, requirement := range requirements {
		if requirement.Key == LabelNodePool {
			found = append(found, fmt.Errorf("invalid key: %q in requirements, restricted", requirement.Key))
		}
		for _, problem := range problemsOf(requirement, rules) {
			found = append(found, fmt.Errorf("invalid value: %w in requirements, restricted", problem))
		}
	}
	return found
}

// ValidateRequirement checks one requirement, of a pool or of a pod's node selector or affinity.
// The error is of type Problems.
func ValidateRequirement(requirement Requirement, rules label.Rules) error {
	return problemsOf(requirement, rules).orNil()
}

// operators are those that a requirement may have, sorted.
var operators = []corev1.NodeSelectorOperator{
	corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpExists,
	corev1.NodeSelectorOpGt, OperatorGte, corev1.NodeSelectorOpIn,
	corev1.NodeSelectorOpLt, OperatorLte, corev1.NodeSelectorOpNotIn,
}

func problemsOf(r Requirement, rules label.Rules) Problems {
	var found Problems
	r.Key = rules.Normalize(r.Key)
	if !slices.Contains(operators, r.Operator) {
		found = append(found, fmt.Errorf("key %s has an unsupported operator %s not in %s", r.Key, r.Operator, operators))
	}
	if err := rules.CheckAllowed(r.Key); err != nil {
		found = append(found, err)
	}
	if err := checkKnownValues(r, rules); err != nil {
		found = append(found, err)
	}
	for _, text := range validation.IsQualifiedName(r.Key) {
		found = append(found, fmt.Errorf("key %s is not a qualified name, %s", r.Key, text))
	}
	for _, value := range r.Values {
		for _, text := range validation.IsValidLabelValue(value) {
			found = append(found, fmt.Errorf("invalid value %s for key %s, %s", value, r.Key, text))
		}
	}
	if err := checkOperands(r); err != nil {
		found = append(found, err)
	}
	return found
}

// checkOperands checks that the operator has the values that it needs.
func checkOperands(r Requirement) error {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		if len(r.Values) == 0 {
			return fmt.Errorf("key %s with operator %s must have a value defined", r.Key, r.Operator)
		}
		if r.MinValues != nil && len(r.Values) < *r.MinValues {
			return fmt.Errorf("key %s with operator %s must have at least minimum number of values defined in 'values' field", r.Key, r.Operator)
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, OperatorGte, OperatorLte:
		if len(r.Values) != 1 || !isCount(r.Values[0]) {
			return fmt.Errorf("key %s with operator %s must have a single positive integer value", r.Key, r.Operator)
		}
	}
	return nil
}

func isCount(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 0
}

// checkKnownValues refuses, for a key whose values are all known, a list with too few known values.
// If enough of its values are known, unknown values lead only to a warning.
func checkKnownValues(r Requirement, rules label.Rules) error {
	valid, unknown, expected := partition(r, rules)
	switch {
	case expected == nil:
		return nil
	case len(valid) == 0:
		return fmt.Errorf("no valid values found in %v for %s, expected one of: %v, got: %v", r.Values, r.Key, expected, unknown)
	case r.MinValues != nil && len(valid) < *r.MinValues:
		return fmt.Errorf("not enough valid values found in %v for %s, expected at least %d valid values from: %v, got: %v",
			r.Values, r.Key, *r.MinValues, expected, valid)
	default:
		return nil
	}
}

// partition splits the values of an In requirement into those that its key can have and others.
// If the values that the key can have are not known, expected is nil.
func partition(r Requirement, rules label.Rules) (valid, unknown, expected []string) {
	expected, ok := rules.KnownValues(r.Key)
	if !ok || r.Operator != corev1.NodeSelectorOpIn {
		return nil, nil, nil
	}
	for _, value := range r.Values {
		if slices.Contains(expected, value) {
			valid = append(valid, value)
		} else {
			unknown = append(unknown, value)
		}
	}
	return valid, unknown, expected
}

// Warnings lists probable mistakes in a pool that is valid.
func (p *NodePool) Warnings(rules label.Rules) []string {
	var warnings []string
	for _, r := range p.Spec.Template.Spec.Requirements {
		r.Key = rules.Normalize(r.Key)
		if valid, unknown, expected := partition(r, rules); len(valid) > 0 && len(unknown) > 0 {
			warnings = append(warnings, fmt.Sprintf("please correct found invalid values, proceeding with valid values "+
				"(key=%s, valid-values=%v, invalid-values=%v, expected-values=%v)", r.Key, valid, unknown, expected))
		}
	}
	return warnings
}
