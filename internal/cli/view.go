package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tenon/internal/cli/screen"
	"tenon/internal/intervention"
	"tenon/internal/market/publication"
	"tenon/internal/version"
	"tenon/internal/view"
	"tenon/internal/view/watch"
	"tenon/internal/viewer"
)

// viewFlags are what the command line of `tenon view` says.
type viewFlags struct {
	kubeconfig, context            string
	resources, labels              []string
	columns, beside                []string
	paid                           termFlags
	selector, sort, style, output  string
	journal                        string
	unpriced, classic, ascii, once bool
	attribution, version, changes  bool
}

func viewCommand(w Env) *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:   "view",
		Short: "Watch nodes, what they cost, and the pods that wait, in the terminal",
		Long: `Watch a cluster in the terminal: pools and nodes with what pods request of them, prices an
hour and a month, how far nodes have come, what disruption would do with them and what keeps
them, and the pods that have no node with the reason. It only reads, unless --allow-changes is given.

It works on every cluster that the kubeconfig reaches, with Tenon or without: prices are those
that its controller publishes, else those of the built-in ` + w.Cloud.Builtin.Name + ` catalogue. A node's
label ` + view.PriceLabel + ` overrides them. Nodes without a known price are
counted apart.

With --classic it looks like eks-node-viewer, and reads ~/.eks-node-viewer. The flags --context,
--kubeconfig, --resources, --node-selector, --extra-labels, --node-sort, --style,
--disable-pricing and --attribution are those of eks-node-viewer in both forms. Keys are listed by ?.

With --journal the controller's newest decisions are shown too. Its address is that of its metrics port,
which it opens to its own machine alone: kubectl -n kube-system port-forward deployment/tenon 8080
The keys [ and ] then lead through the past, decision by decision.

d describes the object under the cursor, w says what a plan does with it and all that holds it, and x what
would change if it went or had another number of replicas. The plan is made on this machine, from the
cluster or, for a user who may not read all that a plan depends on, from the newest snapshot of the journal.

When the output is no terminal, or with --once, one picture is printed.`,
		Example: `  tenon view
  tenon view --context staging --resources cpu,memory,nvidia.com/gpu
  tenon view --node-selector karpenter.sh/nodepool=default --extra-labels topology.kubernetes.io/zone
  tenon view --classic --node-sort eks-node-viewer/node-cpu-usage=dsc
  tenon view --once | head
  tenon view --journal http://127.0.0.1:8080
  tenon view --context production --beside staging
  tenon view -o json | jq '.nodes[] | {name, price}'`,
		Args: noArguments,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "file that says which cluster to look at; empty: KUBECONFIG, else ~/.kube/config, else the pod's service account")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; empty: the current one")
	flags.StringSliceVar(&f.resources, "resources", nil, "resources that have bars, comma separated (default cpu,memory; cpu with --classic)")
	flags.StringVar(&f.selector, "node-selector", "", "show the nodes alone that have these labels")
	flags.StringSliceVar(&f.labels, "extra-labels", nil, "labels of nodes that are columns, comma separated; also eks-node-viewer/node-age and eks-node-viewer/node-RESOURCE-usage")
	flags.StringVar(&f.sort, "node-sort", "", "order of nodes: creation, a label or a column, with =asc or =dsc (default NAME=asc; creation=dsc with --classic)")
	flags.StringSliceVar(&f.columns, "columns", nil, "columns of nodes beside the name, comma separated, such as TYPE,PRICE/H,STATE (default all that have room)")
	flags.StringVar(&f.journal, "journal", "", journalUsage+"; empty: no decisions are shown")
	f.paid.flags(flags)
	flags.StringSliceVar(&f.beside, "beside", nil, "contexts of other clusters to show next to this one, comma separated; o goes from one to the next")
	flags.BoolVar(&f.changes, "allow-changes", false, "let the key a pin, cordon and remove nodes and pause pools, with your own rights; each change is confirmed, and recorded as an event")
	flags.StringVar(&f.style, "style", "", "colours of much, medium and little use, such as #04B575,#FFFF00,#FF0000")
	flags.BoolVar(&f.unpriced, "disable-pricing", false, "show no prices")
	flags.BoolVar(&f.classic, "classic", false, "look like eks-node-viewer")
	flags.BoolVar(&f.ascii, "ascii", false, "draw bars with letters that every terminal has")
	flags.BoolVar(&f.once, "once", false, "print one picture and end")
	flags.StringVarP(&f.output, "output", "o", topTable, "format of --once: table (the picture), name (of the nodes, as KIND/NAME), json, yaml, csv, prom or jsonpath=TEMPLATE (of what json has); all but table imply --once")
	flags.BoolVar(&f.attribution, "attribution", false, "say where prices are from and under which licences the viewer's libraries are, and end")
	flags.BoolVarP(&f.version, "version", "v", false, "print the version and end")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.fromFile(cmd, w); err != nil {
			return err
		}
		return runView(cmd.Context(), f, w)
	}
	return cmd
}

// fromFile fills in flags that are not given from ~/.eks-node-viewer: lines of FLAG=VALUE.
func (f *viewFlags) fromFile(cmd *cobra.Command, w Env) error {
	home, known := w.LookupEnv("HOME")
	if !f.classic || !known {
		return nil
	}
	path := filepath.Join(home, ".eks-node-viewer")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the settings of eks-node-viewer: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if flag := cmd.Flags().Lookup(name); flag == nil || flag.Changed {
			continue
		}
		if err := cmd.Flags().Set(name, strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("%s: %s: %w", path, name, err)
		}
	}
	return lines.Err()
}

// attribution names the authors of what the viewer is based on.
const attribution = `Prices are list prices that AWS publishes. The viewer stands on Bubble Tea and Lip Gloss
by Charmbracelet, Inc. (MIT licence), and on Kubernetes' client libraries (Apache License 2.0).
`

func runView(ctx context.Context, f viewFlags, w Env) error {
	switch {
	case f.changes && (f.classic || f.once || f.output != topTable):
		return errors.New("--allow-changes is for the interactive viewer: leave out --classic, --once and -o")
	case len(f.beside) > 0 && (f.classic || f.once || f.output != topTable):
		return errors.New("--beside is for the interactive viewer: leave out --classic, --once and -o")
	case f.version:
		fmt.Fprintf(w.Out, "tenon %s\n", version.Get().Version)
		return nil
	case f.attribution:
		fmt.Fprint(w.Out, attribution)
		return nil
	}
	if err := checkOutput(f.output, viewOutputs...); err != nil {
		return err
	}
	options, err := f.options(w)
	if err != nil {
		return err
	}
	terms, err := f.paid.read()
	if err != nil {
		return err
	}
	config, title, err := cluster(f.kubeconfig, f.context, w)
	if err != nil {
		return err
	}
	options.Title = title
	following, err := followMeasured(ctx, config, w)
	if err != nil {
		return err
	}
	defer following.stop()
	following.State.SetTerms(terms)
	if f.output != topTable {
		return writeFleet(w, f.output, options, following.Watch)
	}
	if on := screen.Of(w.Out, w.LookupEnv); f.once || !on.Terminal {
		return printOnce(w, options, following.Watch, on)
	}
	options.Answers = f.answers(ctx, w, config, following.Watch, f.journal)
	shown := []shownCluster{{options, following.Watch}}
	for _, name := range f.beside {
		other, end, err := f.open(ctx, name, options, w)
		if err != nil {
			return err
		}
		defer end()
		shown = append(shown, other)
	}
	return interact(ctx, w, shown, f.journal)
}

func (f viewFlags) options(w Env) (viewer.Options, error) {
	o := viewer.Options{Classic: f.classic, Resources: f.resources, Labels: f.labels, Sort: f.sort, Columns: f.columns, NoPrices: f.unpriced, Style: viewer.DefaultStyle(), Clock: time.Now}
	o.Style.ASCII = f.ascii
	if f.classic && o.Sort == "" {
		o.Sort = "creation=dsc"
	}
	if f.style != "" {
		var err error
		if o.Style, err = viewer.ParseStyle(f.style, f.ascii); err != nil {
			return o, err
		}
	}
	if term, _ := w.LookupEnv("TERM"); term == "dumb" || term == "linux" {
		o.Style.ASCII = true
	}
	if f.selector != "" {
		selector, err := labels.Parse(f.selector)
		if err != nil {
			return o, fmt.Errorf("--node-selector: %w", err)
		}
		o.Where = func(n *view.Node) bool { return selector.Matches(labels.Set(n.Labels)) }
	}
	return o, nil
}

// cluster is the one that the kubeconfig and its context name, and what to call it.
func cluster(kubeconfig, name string, w Env) (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	if path, set := w.LookupEnv("KUBECONFIG"); set && path != "" {
		rules.Precedence = filepath.SplitList(path)
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: name})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w; name one with --kubeconfig, and its context with --context", err)
	}
	config.QPS, config.Burst = 50, 100
	config.UserAgent = version.Get().UserAgent()
	raw, err := loader.RawConfig()
	if err == nil && name == "" {
		name = raw.CurrentContext
	}
	if name == "" {
		name = config.Host
	}
	return config, name, nil
}

// following is a cluster that is watched until stop is called.
type following struct {
	*watch.Watch
	stop func()
}

// reading is how long a cluster may take until there is something to show.
const reading = time.Minute

// followMeasured also reads what nodes really use.
func followMeasured(ctx context.Context, config *rest.Config, w Env) (following, error) {
	return followWith(ctx, config, w, (*watch.Watch).Measured)
}

// follow begins to follow a cluster and waits for the first whole picture.
func follow(ctx context.Context, config *rest.Config, w Env) (following, error) {
	return followWith(ctx, config, w, func(w *watch.Watch) *watch.Watch { return w })
}

func followWith(ctx context.Context, config *rest.Config, w Env, prepared func(*watch.Watch) *watch.Watch) (following, error) {
	w.silence()
	state := view.NewState(w.Cloud.Builtin.Offers)
	state.PricedIn(w.Cloud.Builtin.Currency)
	watched, err := watch.New(config, state, publication.Namespaces(w.LookupEnv)...)
	if err != nil {
		return following{}, err
	}
	watched.Overlaid()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); prepared(watched).Run(ctx) }()
	out := following{Watch: watched, stop: func() { cancel(); <-done }}
	patience, end := context.WithTimeout(ctx, reading)
	defer end()
	if err := watched.Wait(patience); err != nil {
		out.stop()
		return following{}, fmt.Errorf("%w (%s)", err, config.Host)
	}
	return out, nil
}

// onceHeight has room for every row of one picture.
const onceHeight = 100_000

func printOnce(w Env, options viewer.Options, watched *watch.Watch, on screen.Screen) error {
	m := viewer.New(options)
	m.Update(tea.WindowSizeMsg{Width: on.Width, Height: onceHeight})
	m.Update(viewer.Fleet{Fleet: watched.State.Fleet(), Problems: watched.Problems()})
	lines := strings.Split(m.Text(), "\n")
	if !options.Classic { // the last line lists keys
		lines = lines[:len(lines)-1]
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(ansi.Strip(line)) == "" })
	for _, line := range lines {
		if !on.Color {
			line = strings.TrimRight(ansi.Strip(line), " ")
		}
		fmt.Fprintln(w.Out, line)
	}
	return nil
}

// redraw is how often the picture is updated from the cluster, and retell how often it is drawn without a
// change, so that the ages in it stay current.
const (
	redraw = 500 * time.Millisecond
	retell = 5 * time.Second
)

// shownCluster is a cluster and how it is shown.
type shownCluster struct {
	options viewer.Options
	*watch.Watch
}

// open follows the cluster of another context, which is shown as the first one is, without a journal.
func (f viewFlags) open(ctx context.Context, name string, options viewer.Options, w Env) (shownCluster, func(), error) {
	config, title, err := cluster(f.kubeconfig, name, w)
	if err != nil {
		return shownCluster{}, nil, fmt.Errorf("--beside %s: %w", name, err)
	}
	following, err := followMeasured(ctx, config, w)
	if err != nil {
		return shownCluster{}, nil, fmt.Errorf("--beside %s: %w", name, err)
	}
	terms, err := f.paid.read()
	if err != nil {
		return shownCluster{}, nil, err
	}
	following.State.SetTerms(terms)
	options.Title, options.Answers = title, f.answers(ctx, w, config, following.Watch, "")
	return shownCluster{options, following.Watch}, following.stop, nil
}

// answers are the viewer's, with changes if they are allowed.
func (f viewFlags) answers(ctx context.Context, w Env, config *rest.Config, watched *watch.Watch, from string) viewer.Answers {
	out := answersFor(ctx, w, config, watched, from)
	if f.changes {
		out.Change = func(c intervention.Change) (string, error) {
			return intervention.Actor{Client: watched.Client(), Now: time.Now}.Do(ctx, c)
		}
	}
	return out
}

func interact(ctx context.Context, w Env, clusters []shownCluster, decisions string) error {
	var model tea.Model = viewer.New(clusters[0].options)
	to := func(_ int, message tea.Msg) tea.Msg { return message }
	if len(clusters) > 1 {
		var options []viewer.Options
		for _, c := range clusters {
			options = append(options, c.options)
		}
		model = viewer.NewSideBySide(options...)
		to = func(i int, message tea.Msg) tea.Msg { return viewer.For{Cluster: i, Message: message} }
	}
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(w.In), tea.WithOutput(w.Out))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if decisions != "" {
		go followDecisions(ctx, decisions, func(message tea.Msg) { program.Send(to(0, message)) })
	}
	for i, c := range clusters {
		go sendFleets(ctx, c.Watch, func(message tea.Msg) { program.Send(to(i, message)) })
	}
	_, err := program.Run()
	if err != nil && ctx.Err() == nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("run the viewer: %w", err)
	}
	return nil
}

// sendFleets sends new pictures of a cluster until the context ends. After each it rests for so long that pictures take a
// small part of a processor, however large the cluster is.
func sendFleets(ctx context.Context, watched *watch.Watch, send func(tea.Msg)) {
	var told time.Time
	for revision := uint64(0); ; {
		pause := redraw
		if now := watched.State.Revision(); now != revision || time.Since(told) > retell {
			revision, told = now, time.Now()
			fleet := watched.State.Fleet()
			pause = max(pause, restPerPicture*time.Since(told))
			send(viewer.Fleet{Fleet: fleet, Problems: watched.Problems()})
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// restPerPicture is the pause after a picture, as a multiple of the time that it took to make. To draw it takes about as long again.
const restPerPicture = 40
