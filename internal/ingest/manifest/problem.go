package manifest

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one mistake in the input.
type Problem struct {
	// File is the path as given; "-" is standard input.
	File string
	// Document counts the file's documents from 1. Item counts from 1 in a list, 0 if
	// the document is no list.
	Document, Item int
	// Object is kind and name, as far as they are known.
	Object string
	// Field is the path of the field concerned, if there is one.
	Field string
	Err   error
}

// Error reads "pools.yaml: document 2: NodePool default: spec.weight: …".
func (p *Problem) Error() string {
	parts := []string{p.File}
	if p.Document > 0 {
		parts = append(parts, fmt.Sprintf("document %d", p.Document))
	}
	if p.Item > 0 {
		parts[len(parts)-1] += fmt.Sprintf(", item %d", p.Item)
	}
	for _, part := range []string{p.Object, p.Field} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ") + ": " + p.Err.Error()
}

func (p *Problem) Unwrap() error { return p.Err }

// shownProblems is how many problems an error names.
const shownProblems = 10

// joined returns one error for all problems.
func joined(problems []error) error {
	if len(problems) > shownProblems {
		more := fmt.Errorf("and %d more problems", len(problems)-shownProblems)
		problems = append(problems[:shownProblems:shownProblems], more)
	}
	return errors.Join(problems...)
}
