package dashboard_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe is the script of axe-core, which make test installs; empty if it is not there.
func axe(t testing.TB) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// finding is a rule of axe-core that an element of the page breaks.
type finding struct {
	Page, Rule, Impact, Help string
	Elements                 []string
}

// audit lists the rules of axe-core that the open page breaks, those of good practice too.
const audit = `axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations.map(v => (
	{rule: v.id, impact: v.impact, help: v.help, elements: v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any[0] || n.all[0] || n.none[0] || {message: ""}).message)})))`

// accessible notes what axe-core finds on the open page.
func (b *browser) accessible(t testing.TB, page string) {
	t.Helper()
	if b.axe == "" {
		return
	}
	if !read[bool](t, b, "!!window.axe") {
		read[bool](t, b, b.axe+"\n;true")
	}
	found, err := chromedp.Run(b, chromedp.Evaluate[[]finding](audit, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("axe-core on %s: %v", page, err)
	}
	for _, f := range found {
		f.Page = page
		b.found = append(b.found, f)
	}
}

// report fails for what axe-core found on all pages. Findings that are not serious fail too: there are none.
func (b *browser) report(t *testing.T) {
	t.Run("axe-core finds nothing", func(t *testing.T) {
		if b.axe == "" {
			t.Skip("skipped: axe-core is not installed; make test installs it with npm")
		}
		for _, f := range b.found {
			t.Errorf("%s: %s (%s): %s\n%q", f.Page, f.Rule, f.Impact, f.Help, f.Elements)
		}
	})
}
