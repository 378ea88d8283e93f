// Package validate finds mistakes in files of Kubernetes objects: what an API server would refuse, and what
// it would accept but does not work: requirements that nothing meets, pools that are never reached, budgets
// that never allow anything, pods that fit nowhere.
//
// It asks the same functions that an API server and the controller run. It only reads, and its
// findings are data: the command line turns them into text, JSON or SARIF.
package validate

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/convert"
	"tenon/internal/ingest"
	"tenon/internal/ingest/manifest"
	"tenon/internal/source"
)

// Options are what checks depend on beside the files.
type Options struct {
	// Ingest says how objects are read, and what pools can buy.
	Ingest ingest.Options
	// Stdin is the text of the file "-".
	Stdin []byte
}

// Result is what was found, in the order of the files.
type Result struct {
	Findings []Finding `json:"findings"`
	Files    int       `json:"files"`
	Objects  int       `json:"objects"`
}

// Count is how many findings have a level.
func (r Result) Count(l Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// checker is one run.
type checker struct {
	options   Options
	documents []source.Document
	files     map[string]int
	findings  []Finding

	objects    *ingest.Objects
	translator *ingest.Translator
}

// Files checks files and directories; "-" is standard input. An error means that a file could not
// be read; what is wrong in a file is a finding.
func Files(ctx context.Context, paths []string, options Options) (Result, error) {
	c := &checker{options: options, files: map[string]int{}}
	if err := c.read(paths); err != nil {
		return Result{}, err
	}
	c.checkVersions()
	if err := c.checkSchemas(ctx); err != nil {
		return Result{}, err
	}
	if err := c.readObjects(paths); err != nil {
		return Result{}, err
	}
	c.translator = ingest.NewTranslator(ingest.NewIndex(), options.Ingest)
	c.checkPools()
	c.checkDisruptionBudgets()
	c.checkPodDisruptionBudgets()
	c.checkPods()
	if !slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Level == Error }) {
		c.checkPlaces()
	}
	return Result{Findings: sorted(c.findings, c.files), Files: len(c.files), Objects: len(c.documents)}, nil
}

// read reads the trees. What is in the files and is no Kubernetes object is left alone: hooks are
// given all files of a kind.
func (c *checker) read(paths []string) error {
	documents, problems := source.Read(paths, bytes.NewReader(c.options.Stdin))
	var unreadable []error
	for _, problem := range problems {
		var syntax *source.SyntaxError
		if !errors.As(problem, &syntax) {
			unreadable = append(unreadable, problem)
			continue
		}
		c.sawFile(syntax.File)
		c.findings = append(c.findings, Finding{Rule: ruleSyntax, Level: Error, File: syntax.File, Line: syntax.Line, Message: syntax.Text})
	}
	for _, d := range documents {
		c.sawFile(d.File)
		if d.Kind() != "" && d.APIVersion() != "" {
			c.documents = append(c.documents, d)
		}
	}
	return errors.Join(unreadable...)
}

func (c *checker) sawFile(name string) {
	if _, known := c.files[name]; !known {
		c.files[name] = len(c.files)
	}
}

// add notes a finding about a field of a document.
func (c *checker) add(d source.Document, rule string, level Level, field, message, fix string) {
	c.findings = append(c.findings, Finding{Rule: rule, Level: level, File: d.File, Line: d.Line(field), Object: d.Object(), Field: field, Message: message, Fix: fix})
}

// isWrong reports whether the API server would refuse a document, as far as is told already.
func (c *checker) isWrong(d source.Document) bool {
	return slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Level == Error && f.File == d.File && f.Object == d.Object() })
}

// checkVersions finds objects and names of former APIs.
func (c *checker) checkVersions() {
	for _, d := range c.documents {
		if convert.IsFormer(d.APIVersion(), d.Kind()) {
			c.add(d, ruleFormer, Error, "apiVersion", d.Kind()+" of "+d.APIVersion()+" is no longer served", "run 'tenon convert "+d.File+"'")
			continue
		}
		for _, name := range convert.FormerNames(d.Root) {
			c.findings = append(c.findings, Finding{Rule: ruleFormerName, Level: Warning, File: d.File, Line: name.Line, Object: d.Object(), Message: name.Old + " has no effect any more", Fix: "write " + name.New})
		}
	}
}

// readObjects reads the same files as typed objects. What the schemas found already is not told again.
func (c *checker) readObjects(paths []string) error {
	objects, report, err := manifest.Read(paths, manifest.Options{Stdin: bytes.NewReader(c.options.Stdin)})
	if objects == nil {
		return err
	}
	c.objects = objects
	for _, problem := range report.Problems {
		var p *manifest.Problem
		if !errors.As(problem, &p) {
			return problem
		}
		at := slices.IndexFunc(c.documents, func(d source.Document) bool { return d.File == p.File && d.Number == p.Document && d.Item == p.Item })
		if at < 0 {
			continue // no object, or no YAML: told where the trees were read
		}
		d := c.documents[at]
		if c.isWrong(d) {
			continue
		}
		c.add(d, ruleUnreadable, Error, p.Field, p.Err.Error(), formFix(d, p.Field, p.Err.Error()))
	}
	return nil
}

// documentOf finds where an object was written.
func (c *checker) documentOf(kind string, object metav1.Object) source.Document {
	for _, d := range c.documents {
		namespace := source.Value(source.Lookup(d.Root, "metadata", "namespace"))
		if d.Kind() == kind && d.Name() == strings.TrimSuffix(object.GetName(), "-") && (object.GetNamespace() == namespace || namespace == "" && object.GetNamespace() == corev1.NamespaceDefault) {
			return d
		}
	}
	for _, d := range c.documents { // names that were generated begin alike
		if d.Kind() == kind && strings.HasPrefix(object.GetName(), d.Name()) {
			return d
		}
	}
	return source.Document{Root: source.Mapping()}
}
