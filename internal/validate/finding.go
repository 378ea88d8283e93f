package validate

import (
	"cmp"
	"slices"
)

// Level is how serious a finding is.
type Level string

// Levels, the gravest first.
const (
	// Error: the API server refuses the object, or it can never do what it is for.
	Error Level = "error"
	// Warning: the API server accepts it, but it probably does not do what its author wants.
	Warning Level = "warning"
	// Note: useful to know.
	Note Level = "note"
)

// rank orders levels.
func (l Level) rank() int { return slices.Index([]Level{Error, Warning, Note}, l) }

// AtLeast reports whether a level is at least as serious as another.
func (l Level) AtLeast(other Level) bool { return l.rank() <= other.rank() }

// Finding is one thing that is wrong, where it is, and what to do about it.
type Finding struct {
	Rule    string `json:"rule"`
	Level   Level  `json:"level"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Object  string `json:"object,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// The rules, by the names that findings have.
const (
	ruleSyntax         = "yaml-syntax"
	ruleFormer         = "former-api"
	ruleFormerName     = "former-name"
	ruleUnknownField   = "unknown-field"
	ruleSchema         = "schema"
	ruleSetting        = "pool-setting"
	ruleUnreadable     = "unreadable"
	ruleNoType         = "no-instance-type"
	ruleOneType        = "one-instance-type"
	ruleMinValues      = "min-values"
	ruleClassMissing   = "node-class-missing"
	ruleUnreachable    = "pool-unreachable"
	ruleShadowed       = "pool-shadowed"
	ruleBudgetBlocks   = "budget-always-blocks"
	ruleBudgetNever    = "budget-never-counts"
	ruleBudgetLine     = "budget-schedule"
	rulePDBNever       = "pdb-never-allows"
	rulePDBTwice       = "pdb-overlap"
	ruleLabel          = "label-unknown"
	ruleLabelValue     = "label-value"
	ruleDoNotDisrupt   = "do-not-disrupt-value"
	rulePodFitsNowhere = "pod-fits-nothing"
)

// Rules says in a sentence what each rule finds, by name.
func Rules() map[string]string {
	return map[string]string{
		ruleSyntax:         "The file is no YAML.",
		ruleFormer:         "The object is of a former API, which is no longer served.",
		ruleFormerName:     "A label or annotation has another name in today's API.",
		ruleUnknownField:   "The API server drops the field, because no schema knows it.",
		ruleSchema:         "The API server refuses the object: a type, a bound, a pattern or a rule of its definition is broken.",
		ruleSetting:        "The controller refuses the pool, although the API server accepts it.",
		ruleUnreadable:     "A quantity, duration or other value cannot be read.",
		ruleNoType:         "No instance type meets the pool's requirements: nothing can be bought.",
		ruleOneType:        "Only one instance type meets the pool's requirements: a shortage of it stops the pool, and of spot there often is one.",
		ruleMinValues:      "The types that meet the pool's requirements have fewer values than minValues asks for.",
		ruleClassMissing:   "The pool's node class is not among the files, although others are.",
		ruleUnreachable:    "The pool may never have a node.",
		ruleShadowed:       "A heavier pool takes every pod that this pool could take, unless the pod names the pool.",
		ruleBudgetBlocks:   "A budget always allows no node to be disrupted.",
		ruleBudgetNever:    "A budget never bounds anything.",
		ruleBudgetLine:     "A budget's schedule cannot be read, so that no node of the pool is disrupted.",
		rulePDBNever:       "A PodDisruptionBudget never allows an eviction: its pods keep their nodes.",
		rulePDBTwice:       "Two PodDisruptionBudgets cover a pod, and the eviction API refuses such pods.",
		ruleLabel:          "A pod asks for a label that no node has, or a pool for one that is nearly a well-known label.",
		ruleLabelValue:     "A pod asks for a value that the label never has.",
		ruleDoNotDisrupt:   "The annotation is neither true nor a duration, and protects nothing.",
		rulePodFitsNowhere: "No node that can be bought has room for the pod.",
	}
}

// sorted puts findings in the order of the files, each once.
func sorted(findings []Finding, files map[string]int) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Level.rank(), b.Level.rank()), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(findings)
}

// Text is the finding in one line, without its place.
func (f Finding) Text() string {
	text := f.Message
	for _, part := range []string{f.Field, f.Object} {
		if part != "" {
			text = part + ": " + text
		}
	}
	if f.Fix != "" {
		text += "; " + f.Fix
	}
	return text
}
