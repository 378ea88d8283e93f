package ingest

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/model"
	"tenon/core/order"
)

// selector translates a label selector. A missing selector matches nothing, an empty one matches
// everything.
func selector(s *metav1.LabelSelector) model.Selector {
	if s == nil {
		return model.Selector{}
	}
	out := model.Selector{All: len(s.MatchLabels)+len(s.MatchExpressions) == 0}
	for _, key := range order.Keys(s.MatchLabels) {
		out = withExpression(out, model.Expression{Key: key, Operator: "In", Values: []string{s.MatchLabels[key]}})
	}
	for _, e := range s.MatchExpressions {
		out = withExpression(out, model.Expression{Key: e.Key, Operator: string(e.Operator), Values: sorted(e.Values)})
	}
	return out
}

// withExpression adds a condition unless the selector has it already, as it does when the API
// server has already merged matchLabelKeys into it.
func withExpression(s model.Selector, e model.Expression) model.Selector {
	for _, has := range s.Expressions {
		if has.Key == e.Key && has.Operator == e.Operator && slices.Equal(has.Values, e.Values) {
			return s
		}
	}
	return model.Selector{Expressions: append(slices.Clip(s.Expressions), e)}
}

// foldKeys adds a condition for each key that the pod has as a label: the same value (In) for
// matchLabelKeys, another one (NotIn) for mismatchLabelKeys. A selector that matches nothing still
// matches nothing.
func foldKeys(s model.Selector, keys []string, operator string, podLabels map[string]string) model.Selector {
	if !s.All && len(s.Expressions) == 0 {
		return s
	}
	for _, key := range keys {
		if value, ok := podLabels[key]; ok {
			s = withExpression(s, model.Expression{Key: key, Operator: operator, Values: []string{value}})
		}
	}
	return s
}

// checkSelector returns the error with which the scheduler would refuse a selector. Labels come in the order of their keys: the
// error is about the first one that is invalid.
func checkSelector(field string, s *metav1.LabelSelector) error {
	if s == nil {
		return nil
	}
	var ordered metav1.LabelSelector
	for _, key := range order.Keys(s.MatchLabels) {
		ordered.MatchExpressions = append(ordered.MatchExpressions,
			metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{s.MatchLabels[key]}})
	}
	ordered.MatchExpressions = append(ordered.MatchExpressions, s.MatchExpressions...)
	if _, err := metav1.LabelSelectorAsSelector(&ordered); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

func sorted(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(values))
}
