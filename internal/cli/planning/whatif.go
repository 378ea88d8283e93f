package planning

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tenon/core/decide"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/cli/difference"
	"tenon/internal/cli/document"
	"tenon/internal/cli/progress"
	"tenon/internal/cli/screen"
	"tenon/internal/ingest"
	"tenon/internal/provider"
	"tenon/internal/whatif"
)

// WhatIf is the change that the command line asks to try.
type WhatIf struct {
	// With are files, Without objects, Scale numbers of replicas, SpotInterrupted zones; all as written.
	With, Without, Scale, SpotInterrupted []string
	// Markdown writes the difference for a pull request.
	Markdown bool
}

// Given reports whether anything is to be tried.
func (o *WhatIf) Given() bool {
	return len(o.With)+len(o.Without)+len(o.Scale)+len(o.SpotInterrupted) > 0
}

func (o *WhatIf) check(output string) error {
	switch {
	case o.Markdown && !o.Given():
		return errors.New("--diff writes what a change does: name one with --with, --without, --scale or --spot-interrupted")
	case o.Markdown && output != Table:
		return fmt.Errorf("--diff is a format of its own: leave out -o %s", output)
	case o.Given() && output == YAML:
		return errors.New("the difference that a change makes is written as table or json; --diff writes Markdown")
	}
	return nil
}

// changes are what is tried, in words.
func (o *WhatIf) changes() []string {
	var out []string
	for _, each := range []struct {
		words string
		list  []string
	}{{"without ", o.Without}, {"with ", o.With}, {"scale ", o.Scale}, {"spot interrupted in ", o.SpotInterrupted}} {
		for _, text := range each.list {
			out = append(out, each.words+text)
		}
	}
	return out
}

// trial reads what is to be tried.
func (j *job) trial() (*whatif.Trial, error) {
	t := &whatif.Trial{Interrupted: j.WhatIf.SpotInterrupted, Around: j.objects, Options: j.reading}
	for _, text := range j.WhatIf.Without {
		o, err := whatif.ParseObject(text)
		if err != nil {
			return nil, fmt.Errorf("--without=%w", err)
		}
		t.Without = append(t.Without, o)
	}
	for _, text := range j.WhatIf.Scale {
		scale, err := whatif.ParseScale(text)
		if err != nil {
			return nil, fmt.Errorf("--scale=%w", err)
		}
		t.Scales = append(t.Scales, scale)
	}
	if len(j.WhatIf.With) == 0 {
		return t, nil
	}
	if j.objects == nil { // a snapshot sells what its pools sell; how labels are read is the cloud's
		t.Options = j.snapshotOptions()
	}
	var err error
	t.With, err = j.readFiles(j.WhatIf.With, t.Options)
	return t, err
}

// snapshotOptions are how manifests are read beside a snapshot.
func (j *job) snapshotOptions() ingest.Options {
	var m provider.Market = fileMarket{words: requirement.Core()}
	if builtin, err := NewMarket("", j.Region, j.Cloud); err == nil {
		m = builtin
	}
	options := IngestOptions(m, j.now(), j.Settings)
	options.Catalog = nil
	return options
}

// tried makes a plan for the snapshot in which the change is so.
func (j *job) tried(s *snapshot.Snapshot) (*snapshot.Snapshot, whatif.Effect, error) {
	t, err := j.trial()
	if err != nil {
		return nil, whatif.Effect{}, err
	}
	return t.Apply(s)
}

// runWhatIf makes two plans and writes how they differ. It reports whether every pod has a place with
// the change.
func runWhatIf(ctx context.Context, o Options, w Env) (complete bool, err error) {
	o.RuleCosts = false
	j := &job{Options: o, Env: w, report: progress.Start(w.Progress, screen.Of(w.Progress, w.Lookup).Terminal)}
	d, err := j.compare(ctx)
	j.report.Stop()
	if err != nil {
		return false, err
	}
	j.tellNotes()
	return d.With.Unschedulable == 0, j.writeDifference(w.Out, d)
}

func (j *job) compare(ctx context.Context) (difference.Difference, error) {
	s, err := j.gather(ctx)
	if err != nil {
		return difference.Difference{}, err
	}
	changed, effect, err := j.tried(s)
	if err == nil && j.Save.File != "" {
		err = j.Save.Save(changed)
	}
	if err != nil {
		return difference.Difference{}, err
	}
	without, with := j.decide(s), j.decide(changed)
	return difference.Of(without, with, effect, j.WhatIf.changes(), j.currency), nil
}

// Difference tries a change on a snapshot that was decided about before, with the effort of that decision.
func Difference(s *snapshot.Snapshot, effort decide.Budget, tried WhatIf, w Env) (difference.Difference, error) {
	j := &job{Options: Options{WhatIf: tried, Now: s.Now}, Env: w, report: progress.Start(w.Progress, false)}
	defer j.report.Stop()
	changed, effect, err := j.tried(s)
	if err != nil {
		return difference.Difference{}, err
	}
	j.tellNotes()
	made := func(s *snapshot.Snapshot) document.Planned {
		d := decide.Decide(s, effort)
		return document.Planned{Snapshot: s, Plan: d.Plan.Whole(d.Bound)}
	}
	return difference.Of(made(s), made(changed), effect, tried.changes(), ""), nil
}

func (j *job) writeDifference(to io.Writer, d difference.Difference) error {
	switch {
	case j.WhatIf.Markdown:
		return d.WriteMarkdown(to)
	case j.Output == JSON:
		return d.WriteJSON(to)
	}
	return d.WriteText(to)
}
