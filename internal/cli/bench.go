package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tenon/core/decide"
	"tenon/core/snapshot"
	"tenon/internal/cli/planning"
	"tenon/internal/whatif"
)

// benchOptions are what the command line of `tenon bench` says.
type benchOptions struct {
	input    planning.Options
	generate int
	seed     uint64
	times    int
	output   string
}

func benchCommand(w Env) *cobra.Command {
	o := benchOptions{input: planning.Options{Output: planning.Table}}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how long plans take on this machine, and how near to the least price they are",
		Long: `Measure how long plans take on this machine, and how near they are to the least price that is possible:
of the cluster of the kubeconfig, of files, of a snapshot, or, with --generate, of so many pods of forty
Deployments with all kinds of requests, spreads and affinities.

Three plans are made, each several times: for the pods that wait now; for what can be given up; and for the
pods of all nodes of pools at once, as if the fleet were bought anew. The same input gives the same plan and
the same gap each time and everywhere; only times depend on the machine. It changes nothing in a cluster.`,
		Example: `  tenon bench
  tenon bench --generate 20000
  tenon bench --snapshot last-night.json.gz --times 10 -o json`,
		Args: noArguments,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	inputFlags(flags, w, &o.input)
	flags.IntVar(&o.generate, "generate", 0, "number of pods of a generated input, in place of -f, a snapshot or a cluster")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the generated input")
	flags.IntVar(&o.times, "times", 5, "how often each plan is made")
	flags.StringVarP(&o.output, "output", "o", "table", "format: table or json")
	settingFlags(flags, w)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.check(); err != nil {
			return err
		}
		o.input.Given = cmd.Flags().Changed
		if _, err := readPlanSettings(cmd, w, &o.input); err != nil {
			return err
		}
		return runBench(cmd.Context(), w, o)
	}
	return cmd
}

// mostGenerated bounds the pods of a generated input, so that a typing error does not exhaust the memory.
const mostGenerated = 1_000_000

func (o *benchOptions) check() error {
	switch {
	case o.output != "table" && o.output != "json":
		return fmt.Errorf("unknown output format %q; use table or json", o.output)
	case o.times < 1:
		return fmt.Errorf("--times=%d: a plan has to be made once at least", o.times)
	case o.generate < 0 || o.generate > mostGenerated:
		return fmt.Errorf("--generate=%d is not a number of pods from 1 to %d", o.generate, mostGenerated)
	case o.generate > 0 && (len(o.input.Files) > 0 || o.input.Snapshot != ""):
		return errors.New("--generate makes an input of its own: leave out -f and --snapshot")
	}
	return nil
}

func runBench(ctx context.Context, w Env, o benchOptions) error {
	env := planning.Env{In: w.In, Out: w.Out, Err: w.Err, Progress: io.Discard, Lookup: w.LookupEnv, Cloud: w.Cloud, Clock: time.Now}
	if o.generate > 0 {
		o.input.Files, env.In = []string{"-"}, strings.NewReader(generated(o.generate, o.seed))
		o.input.Now = benchTime
	}
	began := time.Now()
	s, currency, err := planning.Gather(ctx, o.input, env)
	if err != nil {
		return err
	}
	out := benched{Input: inputOf(s), Read: time.Since(began).Seconds(), Processors: runtime.GOMAXPROCS(0), Currency: currency}
	anew := whatif.Anew(s)
	for _, each := range []struct {
		name   string
		s      *snapshot.Snapshot
		budget decide.Budget
	}{
		{"pods that wait", s, decide.Budget{}},
		{"with what can be given up", s, decide.Budget{Disrupt: true}},
		{"the fleet anew", anew, decide.Budget{Unadvised: true}},
	} {
		if each.s == anew && len(anew.Nodes) == len(s.Nodes) || each.budget.Disrupt && len(s.Nodes) == 0 {
			continue // it would be the first plan again
		}
		out.Plans = append(out.Plans, measured(each.name, each.s, each.budget, o.times))
	}
	if o.output == "json" {
		return encodedIndented(w.Out, out)
	}
	return out.write(w.Out)
}

// benchTime is the time of generated inputs.
var benchTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// benched is what `tenon bench` prints.
type benched struct {
	Input benchInput `json:"input"`
	// Read is how many seconds it took to read the input.
	Read       float64       `json:"readSeconds"`
	Processors int           `json:"processors"`
	Currency   string        `json:"currency,omitempty"`
	Plans      []benchedPlan `json:"plans"`
}

type benchInput struct {
	Pods      int `json:"pods"`
	Waiting   int `json:"waitingPods"`
	Kinds     int `json:"kindsOfPods"`
	Nodes     int `json:"nodes"`
	Pools     int `json:"pools"`
	Offerings int `json:"offerings"`
}

func inputOf(s *snapshot.Snapshot) benchInput {
	out := benchInput{Pods: len(s.Pods), Kinds: len(s.Templates), Nodes: len(s.Nodes), Pools: len(s.Pools)}
	for i := range s.Pods {
		if s.Pods[i].Pending {
			out.Waiting++
		}
	}
	for i := range s.Catalogs {
		for k := range s.Catalogs[i].Types {
			out.Offerings += len(s.Catalogs[i].Types[k].Offerings)
		}
	}
	return out
}

// benchedPlan is one plan, and how long it took: the least, the middle and the greatest of all times.
type benchedPlan struct {
	Name     string  `json:"name"`
	Least    float64 `json:"leastSeconds"`
	Middle   float64 `json:"middleSeconds"`
	Most     float64 `json:"mostSeconds"`
	NewNodes int     `json:"newNodes"`
	GivenUp  int     `json:"nodesGivenUp"`
	Unplaced int     `json:"podsWithoutAPlace"`
	Price    float64 `json:"newPerHour"`
	Bound    float64 `json:"lowerBoundPerHour"`
	// Gap is how far the price may be from the least one, as a part of the bound; 0 without a bound.
	Gap float64 `json:"gap"`
}

func measured(name string, s *snapshot.Snapshot, budget decide.Budget, times int) benchedPlan {
	var took []float64
	var d decide.Decision
	for range times {
		runtime.GC() // the garbage of the plan before is not this one's
		began := time.Now()
		d = decide.Decide(s, budget)
		took = append(took, time.Since(began).Seconds())
	}
	slices.Sort(took)
	out := benchedPlan{
		Name: name, Least: took[0], Middle: took[len(took)/2], Most: took[len(took)-1], NewNodes: len(d.Plan.Claims), Unplaced: len(d.Plan.Unplaced),
		Price: d.Plan.Cost.New.Float(), Bound: d.Plan.Cost.LowerBound.Float(),
	}
	if out.Bound > 0 {
		out.Gap = d.Plan.Cost.Gap()
	}
	for i := range d.Plan.Disruptions {
		out.GivenUp += len(d.Plan.Disruptions[i].Nodes)
	}
	return out
}

func (b benched) write(to io.Writer) error {
	in := b.Input
	fmt.Fprintf(to, "%d pods of %d kinds, %d of them wait; %d nodes; %d offerings in %d pools; read in %.2f s; %d processors\n\n", in.Pods, in.Kinds, in.Waiting, in.Nodes, in.Offerings, in.Pools, b.Read, b.Processors)
	perHour := strings.TrimSpace("/HOUR " + b.Currency)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "PLAN\tLEAST MS\tMIDDLE\tMOST\tNEW NODES\tGIVEN UP\tNO PLACE\t%s\tBOUND\tGAP\t\n", perHour)
	for _, p := range b.Plans {
		gap := "-"
		if p.Bound > 0 {
			gap = fmt.Sprintf("%.2f%%", 100*p.Gap)
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%d\t%d\t%d\t%.4f\t%.4f\t%s\t\n", p.Name, 1000*p.Least, 1000*p.Middle, 1000*p.Most, p.NewNodes, p.GivenUp, p.Unplaced, p.Price, p.Bound, gap)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// generatedKinds is how many Deployments a generated input has.
const generatedKinds = 40

// generated are the manifests of a pool that may buy most machines, and of Deployments with so many pods together. The same
// number and seed give the same manifests.
func generated(pods int, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, uint64(pods)))
	var out strings.Builder
	out.WriteString(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: bench}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: bench}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: bench}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  role: bench
  subnetSelectorTerms: [{tags: {bench: bench}}]
  securityGroupSelectorTerms: [{tags: {bench: bench}}]
`)
	kinds := min(generatedKinds, pods)
	for i := range kinds {
		replicas := pods / kinds
		if i < pods%kinds {
			replicas++
		}
		cpu := []int{100, 250, 500, 750, 1000, 1500, 2000, 4000}[random.IntN(8)]
		memory := cpu * (1 + random.IntN(8)) // MiB for a thousandth of a core
		rule := ""
		switch random.IntN(4) {
		case 0:
			rule = fmt.Sprintf("      topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: bench-%d}}}]\n", i)
		case 1:
			rule = "      nodeSelector: {kubernetes.io/arch: amd64}\n"
		}
		fmt.Fprintf(&out, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: bench-%d, namespace: bench}
spec:
  replicas: %d
  selector: {matchLabels: {app: bench-%d}}
  template:
    metadata: {labels: {app: bench-%d}}
    spec:
%s      containers: [{name: app, image: app, resources: {requests: {cpu: %dm, memory: %dMi}}}]
`, i, replicas, i, i, rule, cpu, memory)
	}
	return out.String()
}
