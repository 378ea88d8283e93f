package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"tenon/internal/cli/planning"
	"tenon/internal/journal"
)

// defaultJournal is where a controller on this machine, or one to whose port kubectl forwards, serves
// its journal.
const defaultJournal = "http://127.0.0.1:8080"

const journalUsage = "journal: address of a controller, folder, or file"

// journalSource is what a flag names.
func journalSource(from string) journal.Source {
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		return journal.Server(from)
	}
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		return journal.Folder(from)
	}
	return journal.File(from)
}

// journalOptions are what the command line says.
type journalOptions struct {
	from, output, since, until, by, about string
	follow                                bool
}

// journalOutputs are the formats of `tenon journal`.
var journalOutputs = []string{"text", outputWide, outputName, "json", "yaml", "otlp", outputPath}

func journalCommand(w Env) *cobra.Command {
	var o journalOptions
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "List what the controller decided, and what came of it",
		Long: `List what the controller decided, and what came of it: when, what woke it, what it bought and gave
up, which pods found no place and why, the price before and after, and of each action whether it was
carried out. Decisions that say the same as the one before are counted, not listed. Between them stands
what users changed by hand with tenon view --allow-changes.

The journal is read from the controller on this machine, from another address, from a folder
(the controller's --journal-folder), or from a file that -o json wrote. The controller serves it to its
own machine alone; kubectl brings it here:

  kubectl -n kube-system port-forward deployment/tenon 8080

-o json writes lines of JSON with the snapshots, as far as they are kept: tenon replay reads them.
-o yaml writes a document for each entry, and -o jsonpath fills in a template of kubectl's, whose .items
are the entries; both without snapshots. -o name lists the decisions as tenon replay takes them.
-o otlp writes OpenTelemetry logs as lines of JSON, each of which a collector reads from a file or takes
at /v1/logs.

Exit status: 0, or 1 when the journal could not be read.`,
		Example: `  tenon journal --since 2h
  tenon journal --about default/web-7d4b9 --follow
  tenon journal --by disruption -o json > last-night.jsonl && tenon replay last-night.jsonl
  tenon journal --follow -o otlp >> decisions.otlp.jsonl`,
		Args: noArguments,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.from, "from", defaultJournal, journalUsage)
	flags.StringVarP(&o.output, "output", "o", "text", "format: text, wide (all names and reasons), name (decision/NUMBER, for tenon replay), json (lines), yaml, otlp (lines of OpenTelemetry logs) or jsonpath=TEMPLATE")
	flags.StringVar(&o.since, "since", "", "only decisions after a time, as RFC 3339 or as a duration before now, such as 2h")
	flags.StringVar(&o.until, "until", "", "only decisions before a time, as for --since")
	flags.StringVar(&o.by, "by", "", "only decisions of a controller: provisioner, disruption or comparison (shadow mode); or hand, for changes that users made")
	flags.StringVar(&o.about, "about", "", "only decisions about an object: name of a pool, claim, node or instance type, or NAMESPACE/NAME of a pod")
	flags.BoolVar(&o.follow, "follow", false, "go on with new decisions until it is stopped")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runJournal(cmd.Context(), w, o) }
	return cmd
}

func runJournal(ctx context.Context, w Env, o journalOptions) error {
	keep, err := o.filter(time.Now())
	if err != nil {
		return err
	}
	if err := checkOutput(o.output, journalOutputs...); err != nil {
		return err
	}
	if o.follow && strings.HasPrefix(o.output, outputPath) {
		return errors.New("-o jsonpath fills in one template from all decisions: it cannot --follow")
	}
	tail, told := journal.NewTail(readJournal(w, o.from), 0), telling{outcomes: map[int64]int{}}
	for {
		if err := tail.Read(ctx); err != nil {
			return explainUnreachable(err, o.from)
		}
		entries, later := told.news(tail.Entries, keep)
		if err := o.write(ctx, w.Out, journalSource(o.from), entries, later); err != nil || !o.follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// telling is what has been written of a journal that is followed.
type telling struct {
	last     int64
	at       time.Time     // of that decision
	outcomes map[int64]int // by decision
}

// news returns the decisions that are new, and those told before of which more has come, with that alone.
func (t *telling) news(all []*journal.Entry, keep func(*journal.Entry) bool) (entries, later []journal.Entry) {
	if t.anew(all) {
		*t = telling{outcomes: map[int64]int{}}
	}
	last := t.last
	for _, e := range all {
		t.last, t.at = e.ID, e.At
		told, known := t.outcomes[e.ID]
		switch {
		case !known && e.ID <= last || !keep(e):
			continue
		case e.ID > last:
			entries = append(entries, *e)
		case len(e.Outcomes) > told:
			more := *e
			more.Outcomes = e.Outcomes[told:]
			later = append(later, more)
		}
		t.outcomes[e.ID] = len(e.Outcomes)
	}
	return entries, later
}

// anew reports whether the journal has begun anew since, as one in memory does with its process.
func (t *telling) anew(all []*journal.Entry) bool {
	return t.last > 0 && !slices.ContainsFunc(all, func(e *journal.Entry) bool { return e.ID == t.last && e.At.Equal(t.at) })
}

// explainUnreachable says what to do if no controller answers.
func explainUnreachable(err error, from string) error {
	if from == defaultJournal {
		return fmt.Errorf("%w; bring the controller's port here with kubectl port-forward, or name a journal with --from", err)
	}
	return err
}

func (o *journalOptions) filter(now time.Time) (func(*journal.Entry) bool, error) {
	since, err := moment("--since", o.since, now)
	if err != nil {
		return nil, err
	}
	until, err := moment("--until", o.until, now)
	if err != nil {
		return nil, err
	}
	return func(e *journal.Entry) bool {
		return (since.IsZero() || !e.At.Before(since)) && (until.IsZero() || e.At.Before(until)) &&
			(o.by == "" || o.by == e.By) && (o.about == "" || e.Concerns(o.about))
	}, nil
}

// moment is a time, or a duration before now.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s=%q is neither a time such as 2026-07-20T12:00:00Z nor a duration such as 2h", flag, text)
	}
	return at, nil
}

func (o *journalOptions) write(ctx context.Context, to io.Writer, from journal.Source, entries, later []journal.Entry) error {
	switch o.output {
	case "json":
		return journal.Export(ctx, to, from, entries, later)
	case "otlp":
		return journal.ExportLogs(to, entries, later)
	}
	if template, found := strings.CutPrefix(o.output, outputPath); found {
		return writeTemplate(to, template, map[string]any{"items": entries})
	}
	out := bufio.NewWriter(to)
	switch o.output {
	case outputName:
		writeDecisions(out, entries)
		return out.Flush()
	case "yaml":
		if err := writeEntries(out, append(entries, later...)); err != nil {
			return err
		}
		return out.Flush()
	}
	for i := range entries {
		entries[i].Describe(out, o.output == "wide")
	}
	for i := range later {
		later[i].DescribeOutcomes(out, o.output == "wide")
	}
	return out.Flush()
}

// writeDecisions writes the names of decisions. What a user changed has none.
func writeDecisions(out io.Writer, entries []journal.Entry) {
	for i := range entries {
		if entries[i].Intervention == nil {
			fmt.Fprintf(out, "%s%d\n", decisionPrefix, entries[i].ID)
		}
	}
}

// decisionPrefix stands before the number of a decision in its name.
const decisionPrefix = "decision/"

// writeEntries writes entries as documents of YAML.
func writeEntries(out io.Writer, entries []journal.Entry) error {
	for i := range entries {
		text, err := yaml.Marshal(&entries[i])
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
		fmt.Fprintf(out, "---\n%s", text)
	}
	return nil
}

// replayOptions are what the command line says.
type replayOptions struct{ from, output string }

func replayCommand(w Env) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay NUMBER|FILE...",
		Short: "Make decisions of the journal again, and say whether they are the same",
		Long: `Make decisions of the journal again, from the snapshots that they were made from, and say whether the
plans are the same to the byte. A number, or decision/NUMBER, is a decision in the journal; a file is what
tenon journal -o json wrote, or the folder of a journal, and all of its decisions are made again; the last line
says how many are the same, how many are not, and how many have no snapshot any more.

--save-snapshot writes the snapshot of one decision: tenon plan --snapshot reads it, with any other
settings. With --redact it may be shown to others: names and labels of the cluster are replaced in it.

With --with, --without, --scale or --spot-interrupted the decision is made again as it was and with the
change, and what differs is told: nodes, evictions, money, and pods without a place. The budget is the
decision's own, so that a change is seen beside what was really decided.

Exit status: 0 when every plan is the same; 2 when some is another, or has no snapshot any more; of a change 0
when every pod has a place with it, 2 when some has none; 1 when the journal could not be read.`,
		Example: `  tenon replay 4711
  tenon replay last-night.jsonl --summary
  tenon replay 4711 --with pool.yaml
  tenon replay 4711 --save-snapshot report.json.gz --redact
  tenon replay 4711 --save-snapshot s.json.gz && tenon plan --snapshot s.json.gz --preference-policy Ignore`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name a decision by its number, as tenon journal lists it, or a file")
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.from, "from", defaultJournal, journalUsage)
	flags.StringVarP(&o.output, "output", "o", "text", "format: text or json")
	var save planning.Saving
	flags.StringVar(&save.File, "save-snapshot", "", "write the snapshot of the decision to this file; compressed if it ends in .gz")
	redactFlag(flags, &save)
	var brief bool
	flags.BoolVar(&brief, "summary", false, "list only the decisions that are not the same, and their numbers in sum")
	var tried planning.WhatIf
	whatIfFlags(flags, &tried)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := save.Check(); err != nil {
			return err
		}
		if save.File != "" && len(args) != 1 {
			return errors.New("--save-snapshot is for one decision")
		}
		if tried.Given() {
			if len(args) != 1 || save.File != "" {
				return errors.New("a change is tried on one decision, without --save-snapshot")
			}
			return o.whatIf(cmd.Context(), w, args[0], tried)
		}
		r := replayer{ctx: cmd.Context(), env: w, json: o.output == "json", save: save, brief: brief}
		for _, arg := range args {
			if err := r.replay(arg, o.from); err != nil {
				return err
			}
		}
		if err := r.finish(); err != nil {
			return err
		}
		if r.sum.Same < r.sum.all() {
			return ErrIncomplete
		}
		return nil
	}
	return cmd
}

// replayed is what is said of a decision.
type replayed struct {
	ID   int64     `json:"id"`
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	Same bool      `json:"same"`
	// Why says why the decision cannot be made again.
	Why string `json:"why,omitempty"`
}

func (r replayed) String() string {
	head := fmt.Sprintf("decision %d of %s at %s: ", r.ID, r.By, r.At.Format(time.RFC3339))
	switch {
	case r.Same:
		return head + "the same plan, byte for byte"
	case r.Why != "":
		return head + r.Why
	}
	return head + "another plan: this program decides otherwise than the one that recorded it"
}

// decisionNumber reads NUMBER or decision/NUMBER.
func decisionNumber(arg string) (int64, error) {
	return strconv.ParseInt(strings.TrimPrefix(arg, decisionPrefix), 10, 64)
}

func encoded(to io.Writer, value any) error {
	if err := json.NewEncoder(to).Encode(value); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
