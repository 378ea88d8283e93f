package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// knownWords are the names that packages may have beside the words of docs/glossary.md. A new
// package takes one of these, or brings its word to the glossary.
var knownWords = map[string][]string{
	"Kubernetes": {
		"admission", "api", "capacitybuffer", "claims", "clusterautoscaler", "condition", "consistency", "counter", "crds", "eviction", "expiration", "garbagecollection", "hash", "health",
		"hydration", "label", "launches", "lifecycle", "lookup", "manager", "metrics", "node", "nodeclaim", "nodeclass", "nodegroup", "nodeoverlay",
		"nodepool", "nomination", "owner", "pod", "podevents", "podpolicy", "podresources", "provisioner", "provisioningrequest", "quota", "readiness", "reconcile", "registration",
		"registrationhealth", "rollout", "rolloutpace", "scale", "status", "termination", "topology", "validation", "watch", "workload",
	},
	"AWS": {
		"ami", "aws", "capacity", "capacityreservation", "classstatus", "iampolicy", "instance", "instanceevents",
		"instanceprofile", "instancetype", "interruption", "inventory", "launch", "launchtemplate", "network", "offering",
		"providers", "sqs", "stack", "tagging", "userdata", "zonalshift",
	},
	"Go, and programs in general": {
		"apply", "arch", "assembly", "bitset", "check", "cli", "cloud", "command", "conformance", "convert", "decide", "disrupt", "disruptable",
		"document", "drainable", "evaluation", "examples", "execute", "expand", "explain", "feasible", "fidelity", "fingerprint", "generate", "harness", "ingest", "invariant",
		"listing", "manifest", "preflight", "measure", "memory", "mirror", "model", "order", "pack", "parallel", "patch", "planning", "plant", "planted",
		"progress", "provision", "randomcluster", "reference", "refine", "removal", "rulecase", "savings", "scalar", "scenario", "screen", "search", "settings",
		"sim", "static", "store", "table", "telemetry", "tenon", "traffic", "translate", "trim", "version", "versionguard", "source", "sarif", "validate",
	},
}

// riddles are words that hide who is meant. A comment, a text, a test's name and a page name their
// subject: the caller, the controller, the user.
var riddles = regexp.MustCompile(`(?i)\b(whoever|nobody|somebody|everybody|whatever|anybody|nothing but)\b`)

// riddleInName finds the same words in the name of a function, most often of a test.
var riddleInName = regexp.MustCompile(`Whoever|Nobody|Somebody|Everybody|Whatever|Anybody`)

// Plain checks that comments, texts and names of functions name their subjects. A text is a literal of several words; a
// single one may be a name that a test made up. The words themselves stand in this package.
func Plain(t Tree) []Violation {
	var found []Violation
	for _, f := range t.Files {
		if f.Folder != "internal/arch" {
			found = append(found, t.texts(f)...)
		}
		for _, declared := range f.Syntax.Decls {
			if fn, is := declared.(*ast.FuncDecl); is && riddleInName.MatchString(fn.Name.Name) {
				found = append(found, Violation{Rule: rulePlain, At: t.at(fn), What: "the name " + fn.Name.Name, Why: whyPlain})
			}
		}
		for _, group := range f.Syntax.Comments {
			for _, comment := range group.List {
				if word := riddles.FindString(comment.Text); word != "" {
					found = append(found, Violation{Rule: rulePlain, At: t.at(comment), What: "a comment says " + word, Why: whyPlain})
				}
			}
		}
	}
	return found
}

func (t Tree) texts(f File) []Violation {
	var found []Violation
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		literal, is := n.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING || !strings.Contains(literal.Value, " ") {
			return true
		}
		if word := riddles.FindString(literal.Value); word != "" {
			found = append(found, Violation{Rule: rulePlain, At: t.at(literal), What: "a text says " + word, Why: whyPlain})
		}
		return true
	})
	return found
}

// riddlesOf are those of a page; what is in code spans is not ours to say.
func riddlesOf(name, text string) []Violation {
	var found []Violation
	number := 0
	for line := range strings.Lines(text) {
		number++
		if word := riddles.FindString(codeSpan.ReplaceAllString(line, "")); word != "" {
			found = append(found, Violation{Rule: rulePlain, At: fmt.Sprintf("%s:%d", name, number), What: "a page says " + word, Why: whyPlain})
		}
	}
	return found
}

// Words checks that every package has a name that its reader knows. The glossary is the text of
// docs/glossary.md.
func Words(t Tree, glossary string) []Violation {
	known := glossaryWords(glossary)
	for _, words := range knownWords {
		for _, word := range words {
			known[word] = true
		}
	}
	var found []Violation
	seen := map[string]bool{}
	for _, f := range t.Files {
		name := path.Base(f.Folder)
		if seen[f.Folder] || name == "." || isVersion(name) || known[name] {
			continue
		}
		seen[f.Folder] = true
		found = append(found, Violation{Rule: ruleKnown, At: t.at(f.Syntax.Name), What: "the name " + name + " of " + f.Folder, Why: whyKnown})
	}
	return found
}

var glossaryEntry = regexp.MustCompile(`(?m)^\| \*\*([^|]*)\|`)

// glossaryWords are the words that the glossary explains, as packages are named: without spaces
// and hyphens. A word in brackets is another name for the same.
func glossaryWords(text string) map[string]bool {
	words := map[string]bool{}
	for _, entry := range glossaryEntry.FindAllStringSubmatch(text, -1) {
		for word := range strings.FieldsFuncSeq(entry[1], func(r rune) bool { return strings.ContainsRune("*,()", r) }) {
			words[strings.NewReplacer(" ", "", "-", "").Replace(word)] = true
		}
	}
	return words
}

// unusedWords are those of the list that no package has any more.
func unusedWords(t Tree) []string {
	var unused []string
	for _, words := range knownWords {
		for _, word := range words {
			if !slices.ContainsFunc(t.Files, func(f File) bool { return path.Base(f.Folder) == word }) {
				unused = append(unused, word)
			}
		}
	}
	slices.Sort(unused)
	return unused
}
