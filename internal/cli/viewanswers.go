package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/cli/explain"
	"tenon/internal/cli/planning"
	"tenon/internal/journal"
	"tenon/internal/settings"
	"tenon/internal/view"
	"tenon/internal/view/watch"
	"tenon/internal/viewer"
)

// viewAnswers answers the viewer's questions by the code of `tenon plan` and `tenon explain`. The snapshot is that of a
// decision or, about the present, one of the cluster. A user who may not read all that a plan depends on gets answers from
// the newest snapshot of the journal, which lags while decisions say the same.
type viewAnswers struct {
	ctx     context.Context
	env     Env
	config  *rest.Config
	journal string
}

func answersFor(ctx context.Context, w Env, config *rest.Config, watched *watch.Watch, from string) viewer.Answers {
	c := &viewAnswers{ctx: ctx, env: w, config: config, journal: from}
	out := viewer.Answers{
		Describe: func(kind, name string) (view.Details, bool) { return watched.State.Details(kind, name, time.Now()) },
		Explain:  c.explain, WhatIf: c.whatIf,
	}
	if from != "" {
		out.Past = c.past
	}
	return out
}

// planFully also looks for what can be given up, as the controller does.
var planFully = decide.Budget{Disrupt: true, Sweep: disrupt.Budget{Bound: true}}

// picture is what a question is about.
type picture struct {
	*snapshot.Snapshot
	// of says which decision it is from; empty for the cluster.
	of       string
	currency string
}

func (c *viewAnswers) picture(decision int64) (picture, error) {
	if decision == 0 && c.config != nil {
		p, err := c.ofCluster()
		if err == nil || c.journal == "" {
			return p, err
		}
	}
	source := journalSource(c.journal)
	entries, err := journal.Entries(c.ctx, source)
	if err != nil {
		return picture{}, explainUnreachable(err, c.journal)
	}
	for _, e := range slices.Backward(entries) {
		if decision != 0 && e.ID != decision || e.Snapshot == "" && decision == 0 {
			continue
		}
		s, err := journal.Snapshot(c.ctx, source, &e)
		if isMissing(err) && decision == 0 {
			continue
		}
		out := picture{Snapshot: s, of: fmt.Sprintf("by decision %d, %s", e.ID, e.At.UTC().Format(time.RFC3339))}
		if e.Cost != nil {
			out.currency = e.Cost.Currency
		}
		return out, err
	}
	if decision != 0 {
		return picture{}, fmt.Errorf("decision %d is no longer in the journal", decision)
	}
	return picture{}, errors.New("no decision with its snapshot has been recorded yet")
}

func (c *viewAnswers) ofCluster() (picture, error) {
	unset := func(string) (string, bool) { return "", false }
	s, _, err := settings.Parse(nil, unset, c.env.Cloud.Settings...)
	if err != nil {
		return picture{}, fmt.Errorf("read the settings: %w", err)
	}
	o := planning.Options{Settings: s, Under: under(nil, unset, c.env.Cloud.Settings), Config: c.config, Region: c.env.Cloud.Builtin.Region, Given: func(string) bool { return false }}
	made, currency, err := planning.Gather(c.ctx, o, c.planEnv(io.Discard))
	return picture{Snapshot: made, currency: currency}, err
}

func (c *viewAnswers) planEnv(notes io.Writer) planning.Env {
	return planning.Env{In: strings.NewReader(""), Out: io.Discard, Err: notes, Progress: io.Discard, Lookup: c.env.LookupEnv, Cloud: c.env.Cloud, Clock: time.Now}
}

// explain says what a plan does with an object, and all that holds it.
func (c *viewAnswers) explain(kind, name string, decision int64) (string, error) {
	if !slices.Contains(explain.Kinds(), kind) {
		return "", fmt.Errorf("a plan says nothing of a %s; choose one of %s", kind, strings.Join(explain.Kinds(), ", "))
	}
	p, err := c.picture(decision)
	if err != nil {
		return "", err
	}
	d := decide.Decide(p.Snapshot, planFully)
	planned := document.Planned{Snapshot: p.Snapshot, Plan: d.Plan.Whole(d.Bound)}
	planned.Prices.Currency = p.currency
	answer, err := explain.Of(planned, kind, name)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n", strings.TrimSpace(answer.State+"  "+p.of))
	for _, f := range answer.Facts {
		fmt.Fprintf(&out, "%s: %s\n", f.About, f.Text)
	}
	return out.String(), nil
}

// whatIf says what a change would do.
func (c *viewAnswers) whatIf(change string, decision int64) (string, error) {
	tried, err := parseChange(change)
	if err != nil {
		return "", err
	}
	p, err := c.picture(decision)
	if err != nil {
		return "", err
	}
	var notes, text bytes.Buffer
	d, err := planning.Difference(p.Snapshot, planFully, tried, c.planEnv(&notes))
	if err != nil {
		return "", err
	}
	if p.of != "" {
		fmt.Fprintf(&text, "%s\n\n", p.of)
	}
	if err := d.WriteText(&text); err != nil {
		return "", err
	}
	return text.String() + "\n" + notes.String(), nil
}

// parseChange reads changes with semicolons between them: without KIND/NAME, scale KIND/NAME=N, spot-interrupted ZONE,
// with FILE.
func parseChange(text string) (planning.WhatIf, error) {
	var out planning.WhatIf
	for part := range strings.SplitSeq(text, ";") {
		word, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		lists := map[string]*[]string{"without": &out.Without, "scale": &out.Scale, "spot-interrupted": &out.SpotInterrupted, "with": &out.With}
		list, known := lists[word]
		if rest = strings.TrimSpace(rest); !known || rest == "" || rest == "-" {
			return out, fmt.Errorf("%q is no change; write without KIND/NAME, scale KIND/NAMESPACE/NAME=REPLICAS, spot-interrupted ZONE or with FILE, with ; between several", strings.TrimSpace(part))
		}
		*list = append(*list, rest)
	}
	return out, nil
}

// past is the picture at a decision.
func (c *viewAnswers) past(decision int64) (*view.Fleet, error) {
	p, err := c.picture(decision)
	if err != nil {
		return nil, err
	}
	d := decide.Decide(p.Snapshot, planFully)
	return view.Past(p.Snapshot, &d.Plan, p.currency), nil
}
