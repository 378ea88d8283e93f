package main

import (
	"strings"
	"testing"
	"time"
)

// A campaign with baselines reports the cost of all runs, and of all baselines.
func TestSumOfBaselines(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	run(strings.Fields("-seeds 2 -hours 0.1 -pods 2 -rest 0s -parallel 1 -baseline empties"), &out, &errs)
	if text := out.String(); !strings.Contains(text, "\n2 seeds beside a baseline (empties): ") {
		t.Errorf("it says %s%s", text, errs.String())
	}
}

// A single run ends at a signal, and reports its progress.
func TestASingleRunCanBeStopped(t *testing.T) {
	t.Parallel()
	var errs strings.Builder
	stopped := make(chan struct{})
	goesOn := pulse(&errs, 168, stopped)
	if !goesOn(time.Hour) || errs.Len() > 0 {
		t.Errorf("it ends by itself, and says %q", errs.String())
	}
	close(stopped)
	if goesOn(36*time.Hour) || errs.String() != "stopped after 36.0 of 168 hours\n" {
		t.Errorf("it goes on, or says %q", errs.String())
	}
}
