// Package policy decides what IAM policies allow: identity-based ones, with actions, resources and the
// condition operators that the project's own policies use. It refuses to read anything else, so that no
// decision rests on a part that was skipped.
//
// It knows nothing of services: the caller says which action on which resource, with which condition
// keys.
package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Document is a policy.
type Document struct {
	Version   string
	ID        string `json:"Id"`
	Statement []Statement
}

// Statement allows or denies actions.
type Statement struct {
	Sid       string
	Effect    string
	Action    Texts
	Resource  Texts
	Condition map[string]map[string]Texts
}

// Texts is a list; a single element may be written without the list.
type Texts []string

// UnmarshalJSON reads a text or a list of texts.
func (t *Texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = Texts{one}
		return nil
	}
	var list []string
	err := json.Unmarshal(b, &list)
	*t = list
	return err
}

// Parse reads a document. Elements and operators that are not modelled are an error.
func Parse(text []byte) (Document, error) {
	var d Document
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("read policy: %w", err)
	}
	for _, s := range d.Statement {
		if s.Effect != "Allow" && s.Effect != "Deny" || len(s.Action) == 0 || len(s.Resource) == 0 {
			return d, fmt.Errorf("statement %q wants an effect, actions and resources", s.Sid)
		}
		for operator := range s.Condition {
			if _, _, known := parseOperator(operator); !known {
				return d, fmt.Errorf("statement %q: operator %s is not modelled", s.Sid, operator)
			}
		}
	}
	return d, nil
}

// Request is one question: may this be done to that?
type Request struct {
	Action   string // service:Operation
	Resource string // an ARN, or * for actions that know no resources
	// Keys are the condition keys of the request. A missing key has no value.
	Keys map[string][]string
}

// Allows reports whether the documents together allow what is asked: a statement must
// allow it, and none may deny it.
func Allows(documents []Document, r Request) bool {
	allowed := false
	for _, d := range documents {
		for _, s := range d.Statement {
			if !s.concerns(r) {
				continue
			}
			if s.Effect == "Deny" {
				return false
			}
			allowed = true
		}
	}
	return allowed
}

func (s Statement) concerns(r Request) bool {
	// "The prefix and the action name are case insensitive" (IAM, JSON policy elements: Action).
	action := strings.ToLower(r.Action)
	if !slices.ContainsFunc(s.Action, func(p string) bool { return like(strings.ToLower(p), action) }) {
		return false
	}
	if !slices.ContainsFunc(s.Resource, func(p string) bool { return likeARN(p, r.Resource) }) {
		return false
	}
	for operator, keys := range s.Condition {
		o, needed, _ := parseOperator(operator)
		for key, want := range keys {
			have, there := valuesOf(r.Keys, key)
			if !o.holds(have, there, want, needed) {
				return false
			}
		}
	}
	return true
}

// valuesOf finds a key: "Condition key names are not case-sensitive".
func valuesOf(keys map[string][]string, name string) ([]string, bool) {
	for key, values := range keys {
		if strings.EqualFold(key, name) {
			return values, true
		}
	}
	return nil, false
}

// operator compares the values of a key with the values in a policy.
type operator struct {
	negated, all bool
	same         func(pattern, value string) bool
}

// parseOperator reads an operator's name, and whether the key must be there.
func parseOperator(name string) (o operator, needed, known bool) {
	name, o.all = strings.CutPrefix(name, "ForAllValues:")
	name, optional := strings.CutSuffix(name, "IfExists")
	switch name {
	case "StringEquals", "StringNotEquals":
		o.same = func(pattern, value string) bool { return pattern == value }
	case "StringLike", "StringNotLike", "ArnLike", "ArnEquals":
		o.same = like
	default:
		return o, false, false
	}
	o.negated = strings.HasPrefix(name, "StringNot")
	return o, !optional, true
}

// holds follows IAM: without the key an operator does not hold, unless it is negated or ends in
// IfExists; ForAllValues holds if every value of the request is among those of the policy, and so without any.
func (o operator) holds(have []string, there bool, want []string, needed bool) bool {
	matches := func(value string) bool {
		return slices.ContainsFunc(want, func(pattern string) bool { return o.same(pattern, value) })
	}
	switch {
	case o.all:
		return !slices.ContainsFunc(have, func(value string) bool { return matches(value) == o.negated })
	case !there:
		return o.negated || !needed
	case o.negated:
		return !slices.ContainsFunc(have, matches)
	default:
		return slices.ContainsFunc(have, matches)
	}
}

// likeARN compares the parts of ARNs, so that a star does not reach over a colon; a lone star is everything.
func likeARN(pattern, arn string) bool {
	if pattern == "*" {
		return true
	}
	p, a := strings.SplitN(pattern, ":", 6), strings.SplitN(arn, ":", 6)
	if len(p) != 6 || len(a) != 6 {
		return like(pattern, arn)
	}
	for i := range p {
		if !like(p[i], a[i]) {
			return false
		}
	}
	return true
}

// like matches IAM's wildcards: a star is any text, a question mark any one character.
func like(pattern, text string) bool {
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '*':
			for j := 0; j <= len(text); j++ {
				if like(pattern[i+1:], text[j:]) {
					return true
				}
			}
			return false
		case text == "" || pattern[i] != '?' && pattern[i] != text[0]:
			return false
		}
		text = text[1:]
	}
	return text == ""
}
