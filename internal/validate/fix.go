package validate

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"tenon/core/requirement"
	"tenon/internal/source"
)

// forms are patterns of the definitions by a part that no other has, with how to write what they allow.
var forms = []struct{ part, fix string }{
	{"(s|m|h)", "write a duration in hours, minutes and seconds, such as 30m"},
	{"[numkMGTPE]", quantityFix},
	{"[eEinumkKMGTP]", quantityFix},
	{"[0-9]{1,2})%", "write a number of nodes such as 5, or a part of the nodes such as 10%"},
}

const quantityFix = "write a quantity such as 10, 500m or 16Gi"

var (
	quoted    = regexp.MustCompile(`"([^"]*)"`)
	oneOf     = regexp.MustCompile(`expected one of: \[([^\]]*)\], got: \[([^\]]*)\]`)
	restrict  = regexp.MustCompile(`label domain "[^"]*" is restricted`)
	positions = regexp.MustCompile(`\[[^\]]*\]`)
)

// schemaFix says what to write in place of what the API server refuses.
func (c *checker) schemaFix(d source.Document, problem *field.Error) string {
	value := fmt.Sprint(problem.BadValue)
	switch {
	case problem.Type == field.ErrorTypeRequired:
		return "add it"
	case problem.Type == field.ErrorTypeNotSupported:
		var supported []string
		for _, match := range quoted.FindAllStringSubmatch(problem.Detail, -1) {
			supported = append(supported, match[1])
		}
		if near, found := nearestFold(value, supported); found {
			return "did you mean " + near + "?"
		}
		return "use one of these"
	case restrict.MatchString(problem.Detail):
		if near, found := nearest(value, c.options.Ingest.Vocabulary.WellKnown().Sorted()); found {
			return "did you mean " + near + "?"
		}
		return "use a label of a domain of your own"
	}
	return formFix(d, problem.Field, problem.Detail)
}

// settingFix says what to write in place of what the controller refuses.
func settingFix(d source.Document, path, message string) string {
	if lists := oneOf.FindStringSubmatch(message); lists != nil {
		for _, got := range strings.Fields(lists[2]) {
			if near, found := nearestFold(got, strings.Fields(lists[1])); found {
				return "did you mean " + near + "?"
			}
		}
	}
	return formFix(d, path, message)
}

// formFix knows the form of some values, and where to read about every other one.
func formFix(d source.Document, path, message string) string {
	for _, form := range forms {
		if !strings.Contains(message, form.part) {
			continue
		}
		if strings.Contains(message, "|Never)") {
			return form.fix + ", or Never"
		}
		return form.fix
	}
	where := strings.Trim(strings.ToLower(d.Kind())+"."+positions.ReplaceAllString(path, ""), ".")
	return fmt.Sprintf("'kubectl explain %s' says what it may be", where)
}

// nearestFold is the word that was probably meant; upper and lower case are the same.
func nearestFold(word string, words []string) (string, bool) {
	for _, w := range words {
		if strings.EqualFold(w, word) {
			return w, true
		}
	}
	return nearest(word, words)
}

// checkLabels finds labels of a pool's nodes that are nearly well-known ones. The API server takes them for labels of the user's
// own, and the pool buys as if its author had said nothing.
func (c *checker) checkLabels(p *pool) {
	check := func(path, key string) {
		if near, found := c.misspelt(key); found {
			c.add(p.document, ruleLabel, Warning, path, fmt.Sprintf("%s is no label that Kubernetes or the cloud gives: it bounds nothing that is bought", key), "did you mean "+near+"?")
		}
	}
	for key := range p.object.Spec.Template.Labels {
		check("spec.template.metadata.labels["+key+"]", key)
	}
	for i, r := range p.object.Spec.Template.Spec.Requirements {
		check(fmt.Sprintf("%s[%d].key", requirementsField, i), r.Key)
	}
}

// misspelt finds the well-known label of which a label differs in at most two letters. Short names differ in as many by chance.
func (c *checker) misspelt(key string) (near string, found bool) {
	vocabulary := c.options.Ingest.Vocabulary
	if vocabulary.IsWellKnown(vocabulary.Key(key)) {
		return "", false
	}
	_, name, _ := strings.Cut(key, "/")
	fewest := min(2, len(name)/3) + 1
	for _, known := range vocabulary.WellKnown().Sorted() {
		if edits := requirement.EditDistance(key, known); edits < fewest {
			near, fewest = known, edits
		}
	}
	return near, near != ""
}
