package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/core/snapshot"
	"tenon/internal/cli/difference"
	"tenon/internal/cli/planning"
	"tenon/internal/dashboard"
)

// answered is what the dashboard's page What-if shows.
type answered struct {
	difference.Difference

	// Text is the difference in words, and Notes what else is to be known about it.
	Text  string `json:"text"`
	Notes string `json:"notes"`
}

// fields names the fields of the page where errors of the command line name flags and standard input.
var fields = strings.NewReplacer(
	"-: document", "manifests: document",
	"--scale=", "replicas: ",
	"--without=", "object that is taken away: ",
	"give its manifest with --with", "add its manifest to the manifests",
	"--with takes", "manifests: the field takes",
	"make two plans with -f", "make two plans with tenon plan -f",
)

// Try answers questions of the dashboard by the code of `tenon plan`.
func Try(w Env) dashboard.Try {
	return func(_ context.Context, s *snapshot.Snapshot, q dashboard.Question) (any, error) {
		change := planning.WhatIf{Scale: q.Scale, Without: q.Without, SpotInterrupted: q.SpotInterrupted}
		if strings.TrimSpace(q.Manifests) != "" {
			change.With = []string{"-"}
		}
		if !change.Given() {
			return nil, errors.New("say what is to be tried: manifests, a number of replicas, an object that goes, or a zone")
		}
		var notes, text bytes.Buffer
		d, err := planning.Difference(s, decide.Budget{Disrupt: true, Sweep: disrupt.Budget{Bound: true}}, change,
			planning.Env{In: strings.NewReader(q.Manifests), Err: &notes, Progress: io.Discard, Lookup: w.LookupEnv, Cloud: w.Cloud, Clock: func() time.Time { return s.Now }})
		if err != nil {
			return nil, errors.New(fields.Replace(err.Error()))
		}
		for i, change := range d.Changes {
			if change == "with -" {
				d.Changes[i] = "with these objects"
			}
		}
		if err := d.WriteText(&text); err != nil {
			return nil, fmt.Errorf("write the answer: %w", err)
		}
		return answered{d, text.String(), notes.String()}, nil
	}
}
