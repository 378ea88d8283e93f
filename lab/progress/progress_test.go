package progress_test

import (
	"regexp"
	"strings"
	"testing"

	"tenon/lab/progress"
)

// times vary from run to run.
var times = regexp.MustCompile(`\d+\.\d+s`)

func show(style progress.Style, do func(*progress.Printer)) string {
	var out strings.Builder
	do(progress.New(&out, style))
	return times.ReplaceAllString(out.String(), "0.0s")
}

func twoSteps(p *progress.Printer) {
	p.Begin("etcd")
	p.End("ready")
	p.Begin("kube-apiserver")
	p.Fail()
	p.Fail()
	p.Line("done")
}

func TestPlainHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	want := "  ✓ etcd                       0.0s  ready\n" +
		"  ✗ kube-apiserver             0.0s  failed\n" +
		"done\n"
	if got := show(progress.Plain, twoSteps); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLiveWithoutColour(t *testing.T) {
	t.Parallel()
	got := show(progress.Live, twoSteps)
	if strings.Contains(got, "\x1b[32m") || strings.Contains(got, "\x1b[31m") {
		t.Errorf("there is colour in %q", got)
	}
	if !strings.Contains(got, "\r\x1b[K  ✓ etcd") {
		t.Errorf("the moving line is not replaced in %q", got)
	}
}

func TestColour(t *testing.T) {
	t.Parallel()
	if got := show(progress.Colour, twoSteps); !strings.Contains(got, "\x1b[32m✓\x1b[0m etcd") {
		t.Errorf("no green mark in %q", got)
	}
}

func TestALineGoesAboveTheAnimatedOne(t *testing.T) {
	t.Parallel()
	got := show(progress.Live, func(p *progress.Printer) {
		p.Begin("etcd")
		p.Line("a remark")
		p.End("ready")
	})
	line, step := strings.Index(got, "a remark\n"), strings.LastIndex(got, "etcd")
	if line < 0 || step < line {
		t.Errorf("the remark is not above the step in %q", got)
	}
}

func TestRedirect(t *testing.T) {
	t.Parallel()
	var first, second strings.Builder
	p := progress.New(&first, progress.Colour)
	p.Redirect(&second, progress.Plain)
	p.Line(p.Strong("later"))
	if first.Len() != 0 || second.String() != "later\n" {
		t.Errorf("first %q, second %q", first.String(), second.String())
	}
}
