package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tenon/internal/cli/document"
	"tenon/internal/cli/explain"
	"tenon/internal/cli/planning"
	"tenon/internal/journal"
)

func explainCommand(w Env) *cobra.Command {
	o := planning.Options{Consolidate: true, RuleCosts: true, Output: planning.Table}
	var now, from, output string
	var number int64
	cmd := &cobra.Command{
		Use:   "explain pod|node|nodeclaim|nodepool NAME",
		Short: "Say why a pod waits or is where it is, and why a node is still here",
		Long: `Say why a pod waits or is where it is, and why a node is still here: of a pod without a place what
stood in the way in each pool, what came nearest, and the smallest change that would help, with its
price; of one that gets a node which, and what the next best would cost; of a node what keeps it or
what will be done with it, and when; of a pool what it has, may buy and give up, and what its rules cost.

The answer is that of tenon plan --consolidate for the same input: files, a snapshot, or the cluster of
the kubeconfig. With --decision it is that of a decision of the journal, as it was decided then.

Words are 1 KB at most; -o json has everything. Linked as kubectl-tenon, the program is
kubectl tenon explain.

Exit status: 0, or 1 when there is no such object or the input was wrong.`,
		Example: `  tenon explain pod shop/web-7d4b9
  tenon explain node ip-10-0-1-5 --snapshot last-night.json.gz
  tenon explain nodepool default -o json | jq .facts
  tenon explain pod web-7d4b9 --decision 4711`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || !slices.Contains(explain.Kinds(), args[0]) {
				return fmt.Errorf("write what to explain as KIND NAME, where KIND is one of %s", strings.Join(explain.Kinds(), ", "))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	inputFlags(flags, w, &o)
	flags.StringVarP(&output, "output", "o", "text", "format: text or json")
	flags.StringVar(&now, "now", "", "time of the plan as RFC 3339 (default: the clock's)")
	flags.Int64Var(&number, "decision", 0, "number of a decision of the journal, in place of a plan that is made now")
	flags.StringVar(&from, "from", defaultJournal, journalUsage)
	settingFlags(flags, w)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if output != "text" && output != "json" {
			return fmt.Errorf("unknown output format %q; use text or json", output)
		}
		o.Write = func(to io.Writer, p document.Planned) error {
			answer, err := explain.Of(p, args[0], args[1])
			if err != nil {
				return err
			}
			if output == "json" {
				return answer.WriteJSON(to)
			}
			_, err = io.WriteString(to, answer.Text())
			return err
		}
		if number != 0 {
			p, err := recorded(cmd.Context(), readJournal(w, from), number)
			if err != nil {
				return explainUnreachable(err, from)
			}
			return o.Write(w.Out, p)
		}
		_, err := makePlan(cmd, w, o, now)
		return err
	}
	return cmd
}

// recorded is a decision of a journal, made again.
func recorded(ctx context.Context, source journal.Source, number int64) (document.Planned, error) {
	tail := journal.NewTail(source, 0)
	if err := tail.Read(ctx); err != nil {
		return document.Planned{}, err
	}
	at := slices.IndexFunc(tail.Entries, func(e *journal.Entry) bool { return e.ID == number })
	if at < 0 {
		return document.Planned{}, fmt.Errorf("there is no decision %d in the journal; tenon journal lists them", number)
	}
	entry, interventions := tail.Entries[at], map[string]string{}
	if entry.Intervention != nil {
		return document.Planned{}, fmt.Errorf("%d in the journal is no decision: %s", number, entry.Head())
	}
	for _, e := range tail.Entries[:at] {
		if i := e.Intervention; i != nil {
			interventions[i.Kind+"/"+i.Name] = fmt.Sprintf("%s, by %s at %s", i.Verb, i.By, i.At.Format(time.RFC3339))
		}
	}
	s, err := journal.Snapshot(ctx, source, entry)
	if err != nil {
		return document.Planned{}, err
	}
	d, _ := journal.Replay(entry, s)
	p := document.Planned{Snapshot: s, Plan: d.Plan.Whole(d.Bound), Interventions: interventions}
	if cost := entry.Cost; cost != nil {
		p.Prices.Currency = cost.Currency
	}
	return p, nil
}
