package requirement

import (
	"fmt"
	"strings"
)

// What Kubernetes says of malformed keys and values. Users search for these texts, so
// they are its own, to the letter.
const (
	nameRule = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	keyRule = "a valid label key " + nameRule +
		" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
	domainRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
		` (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	valueRule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	maxName   = 63
	maxDomain = 253
)

// KeyProblems are what is wrong with key as a label's key (a qualified name), in the
// words of Kubernetes; none when it is well formed.
func KeyProblems(key string) []string {
	var problems []string
	domain, name, qualified := strings.Cut(key, "/")
	if !qualified {
		domain, name = "", key
	}
	if strings.Contains(name, "/") {
		return []string{keyRule}
	}
	if qualified {
		problems = domainProblems(domain)
	}
	switch {
	case name == "":
		problems = append(problems, "name part must be non-empty")
	case len(name) > maxName:
		problems = append(problems, "name part "+tooLong(maxName))
	}
	if !isName(name) {
		problems = append(problems, "name part "+nameRule)
	}
	return problems
}

// ValueProblems are what is wrong with value as a label's value.
func ValueProblems(value string) []string {
	var problems []string
	if len(value) > maxName {
		problems = append(problems, tooLong(maxName))
	}
	if value != "" && !isName(value) {
		problems = append(problems, valueRule)
	}
	return problems
}

func domainProblems(domain string) []string {
	if domain == "" {
		return []string{"prefix part must be non-empty"}
	}
	var problems []string
	if len(domain) > maxDomain {
		problems = append(problems, "prefix part "+tooLong(maxDomain))
	}
	for part := range strings.SplitSeq(domain, ".") {
		if !isDomainPart(part) {
			return append(problems, "prefix part "+domainRule)
		}
	}
	return problems
}

func tooLong(length int) string { return fmt.Sprintf("must be no more than %d bytes", length) }

// isName accepts any length but zero.
func isName(text string) bool {
	for i := range len(text) {
		inner := i > 0 && i < len(text)-1
		switch c := text[i]; {
		case isLower(c), 'A' <= c && c <= 'Z':
		case inner && (c == '-' || c == '_' || c == '.'):
		default:
			return false
		}
	}
	return text != ""
}

func isDomainPart(text string) bool {
	for i := range len(text) {
		inner := i > 0 && i < len(text)-1
		if c := text[i]; !isLower(c) && !(inner && c == '-') {
			return false
		}
	}
	return text != ""
}

// isLower is true for lower-case letters and digits.
func isLower(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
