// Package planning is `tenon plan`: it gathers a snapshot from files, a live cluster or a snapshot
// file, asks core/decide for a plan, and hands it to package document or table to be written.
//
// It only reads: it changes nothing in a cluster, and writes no file but the one that --save-snapshot
// names.
package planning

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/rest"

	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/core/model"
	"tenon/core/rulecost"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/cli/progress"
	"tenon/internal/cli/screen"
	"tenon/internal/cli/table"
	"tenon/internal/ingest"
	"tenon/internal/market/publication"
	"tenon/internal/provider"
	"tenon/internal/settings"
	"tenon/internal/whatif"
)

// Options are what the command line says.
type Options struct {
	// Files to read; without any, the cluster of the kubeconfig is read.
	Files []string
	// Config is the connection to a cluster that is read in place of the one of the settings.
	Config *rest.Config
	// Snapshot is read in place of files or a cluster.
	Snapshot string
	// Save says where the snapshot is written.
	Save Saving
	// Catalog is a file of offers in place of what is built in of the Region.
	Catalog, Region string
	Consolidate     bool
	Explain         bool
	// RuleCosts asks what single rules cost.
	RuleCosts bool
	// Now is the time of the plan; zero means the clock's.
	Now time.Time
	// Output is table, json or yaml.
	Output string
	// Prepare, if set, changes the objects before the plan is made, which a snapshot file does not have.
	Prepare func(*ingest.Objects) error
	// Write, if set, writes the plan instead of an output format.
	Write func(io.Writer, document.Planned) error
	// WhatIf is what is tried beside: then the difference is written.
	WhatIf   WhatIf
	Settings settings.Settings
	// Under reads the settings again, above those that the cluster's controller publishes, by flag. Without it, Settings are as they are.
	Under func(published map[string]string) (settings.Settings, error)
	// Given tells which options were set, by the names of their flags: a snapshot file has
	// settings of its own, and only what is given replaces them.
	Given func(flag string) bool
}

// Env is what the command may touch.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	// Progress is where slow steps are reported.
	Progress io.Writer
	Lookup   func(name string) (string, bool)
	// Cloud is the one whose catalogue is built in. Its settings have been read.
	Cloud provider.Cloud
	// Clock tells the time of a plan that --now does not set.
	Clock func() time.Time
}

// Run makes a plan and writes it. It reports whether every pod has a place.
func Run(ctx context.Context, o Options, w Env) (complete bool, err error) {
	if err := o.check(w.Cloud); err != nil {
		return false, err
	}
	if o.WhatIf.Given() {
		return runWhatIf(ctx, o, w)
	}
	j := &job{Options: o, Env: w, report: progress.Start(w.Progress, screen.Of(w.Progress, w.Lookup).Terminal)}
	s, err := j.gather(ctx)
	if err == nil && o.Save.File != "" {
		j.report.Set("writing "+o.Save.File, "")
		err = o.Save.Save(s)
	}
	var planned document.Planned
	if err == nil {
		planned = j.decide(s)
		j.remarkTiny(planned)
	}
	j.report.Stop()
	if err != nil {
		return false, err
	}
	j.tellNotes()
	return len(planned.Plan.Unplaced) == 0, j.write(planned)
}

// Gather makes the snapshot that a plan would be made from, and returns the currency of its prices.
func Gather(ctx context.Context, o Options, w Env) (*snapshot.Snapshot, string, error) {
	j := &job{Options: o, Env: w, report: progress.Start(w.Progress, false)}
	defer j.report.Stop()
	s, err := j.gather(ctx)
	if err == nil {
		j.tellNotes()
	}
	return s, j.currency, err
}

// The output formats.
const (
	Table = "table"
	JSON  = "json"
	YAML  = "yaml"
)

func (o *Options) check(cloud provider.Cloud) error {
	if o.Output != Table && o.Output != JSON && o.Output != YAML {
		return fmt.Errorf("unknown output format %q; use table, json or yaml", o.Output)
	}
	if err := o.WhatIf.check(o.Output); err != nil {
		return err
	}
	if o.Snapshot == "" {
		return nil
	}
	if len(o.Files) > 0 {
		return fmt.Errorf("--snapshot holds everything already: leave out -f %s", o.Files[0])
	}
	held := []string{"kubeconfig", "catalog", "region", "scheduler-config", "node-price"}
	for _, option := range cloud.Settings {
		held = append(held, option.Flag)
	}
	for _, flag := range held {
		if o.Given(flag) {
			return fmt.Errorf("--snapshot holds everything already: leave out --%s", flag)
		}
	}
	return nil
}

// job is one run.
type job struct {
	Options
	Env
	report *progress.Reporter
	notes  []string
	// objects are those of files or a cluster, and reading is how they were read.
	objects *ingest.Objects
	reading ingest.Options
	// published is what the controller of the cluster knows; nil is none. Prices say what is used of it.
	published *publication.Publication
	prices    document.Prices
	currency  string
}

// note remembers something that people should know, to be told once the work is done.
func (j *job) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

func (j *job) tellNotes() {
	for _, note := range j.notes {
		fmt.Fprintf(j.Err, "note: %s\n", note)
	}
}

func (j *job) decide(s *snapshot.Snapshot) document.Planned {
	waiting := 0
	for i := range s.Pods {
		if s.Pods[i].Pending {
			waiting++
		}
	}
	j.report.Set(fmt.Sprintf("planning for %d pending pods", waiting), "")
	start := time.Now()
	decision := decide.Decide(s, decide.Budget{Disrupt: j.Consolidate || waiting == 0 && j.live() && !j.Given("consolidate"), Sweep: disrupt.Budget{Bound: true}})
	planned := document.Planned{Snapshot: s, Plan: decision.Plan.Whole(decision.Bound), Duration: time.Since(start), Prices: j.prices, Interventions: interventions(j.objects)}
	if waiting == 0 && j.live() && j.Options.Write == nil && !j.WhatIf.Given() {
		planned.FleetBound = fleetBound(s)
	}
	if j.RuleCosts {
		j.report.Set("finding out what rules cost", "")
		planned.RuleCosts = rulecost.Of(s, &decision.Plan, rulecost.Budget{})
	}
	return planned
}

// live says that a cluster is being looked at. There the question of a plan in which no pod waits is what
// becomes of its nodes.
func (j *job) live() bool { return len(j.Files) == 0 && j.Snapshot == "" }

// fleetBound is proven about the price of any fleet that is bought at once for the pods of the nodes
// of pools; 0 if not all of them would have a place in it, or there are none.
func fleetBound(s *snapshot.Snapshot) model.Money {
	anew := whatif.Anew(s)
	if len(anew.Nodes) == len(s.Nodes) {
		return 0
	}
	d := decide.Decide(anew, decide.Budget{Unadvised: true})
	if len(d.Plan.Unplaced) > 0 {
		return 0
	}
	return d.Plan.Cost.LowerBound
}

func (j *job) write(p document.Planned) error {
	if j.Options.Write != nil {
		return j.Options.Write(j.Out, p)
	}
	switch j.Output {
	case JSON:
		return p.WriteJSON(j.Out)
	case YAML:
		return p.WriteYAML(j.Out)
	}
	return table.Write(j.Out, p, table.Options{Screen: screen.Of(j.Out, j.Lookup), Explain: j.Explain})
}
