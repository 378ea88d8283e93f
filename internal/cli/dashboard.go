package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tenon/internal/dashboard"
)

// dashboardFlags are what the command line of `tenon dashboard` says.
type dashboardFlags struct {
	kubeconfig, context, listen, tokenFile, journal, prometheus string
	links, beside                                               []string
	paid                                                        termFlags
}

func dashboardCommand(w Env) *cobra.Command {
	var f dashboardFlags
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Serve pages that show nodes, what they cost, and the pods that wait, to a browser",
		Long: `Serve pages to a browser: a map of pools, nodes and pods, what they cost now and by pool,
namespace and owner, what becomes of each node and what keeps it, and why pods have no node. The
pages follow the cluster live. They only show, and fetch nothing from any network.

With --journal the decisions of a controller are shown too, with their reasons and what came of
them. Its address is that of its metrics port, which it opens to its own machine alone:
kubectl -n kube-system port-forward deployment/tenon 8080

It works on every cluster that the kubeconfig reaches, with Tenon or without. It listens on
127.0.0.1 unless --listen says otherwise; another address needs --token-file, and then a
browser asks for the token, and programs send it as "Authorization: Bearer TOKEN".`,
		Example: `  tenon dashboard
  tenon dashboard --context staging --listen 127.0.0.1:0
  tenon dashboard --context production --beside staging,test
  tenon dashboard --journal http://127.0.0.1:8080
  tenon dashboard --link 'Grafana=https://grafana.example/d/node?var-node={node}' --prometheus http://127.0.0.1:9090
  tenon dashboard --listen 0.0.0.0:8082 --token-file token`,
		Args: noArguments,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "file that says which cluster to look at; empty: KUBECONFIG, else ~/.kube/config, else the pod's service account")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; empty: the current one")
	flags.StringSliceVar(&f.beside, "beside", nil, "contexts of other clusters to show as well, comma separated; their pages have no decisions")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8082", "address and port to serve on; port 0: any that is free")
	flags.StringVar(&f.journal, "journal", "", journalUsage+"; empty: no decisions are shown")
	flags.StringVar(&f.prometheus, "prometheus", "", "address of a Prometheus server that has the controller's metrics, for the price over a day, a week and a month")
	flags.StringArrayVar(&f.links, "link", nil, "link to another tool as NAME=ADDRESS, with {node}, {instance}, {pool}, {namespace} or {pod} for what a page shows; may be repeated")
	f.paid.flags(flags)
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token that is asked for; needed beyond this machine")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runDashboard(cmd.Context(), f, w) }
	return cmd
}

func runDashboard(ctx context.Context, f dashboardFlags, w Env) error {
	token, err := dashboard.Token("--listen", f.listen, "--token-file", f.tokenFile)
	if err != nil {
		return err
	}
	terms, err := f.paid.read()
	if err != nil {
		return err
	}
	links, err := dashboard.ParseLinks(f.links)
	if err != nil {
		return fmt.Errorf("--link: %w", err)
	}
	var prometheus dashboard.Prometheus
	if f.prometheus != "" {
		if prometheus, err = dashboard.PrometheusAt(f.prometheus, &http.Client{}); err != nil {
			return fmt.Errorf("--prometheus: %w", err)
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("serve the dashboard: %w; choose another address with --listen", err)
	}
	defer listener.Close()
	w.silence()
	var all []*dashboard.Dashboard
	var titles []string
	for i, name := range append([]string{f.context}, f.beside...) {
		config, title, err := cluster(f.kubeconfig, name, w)
		if err == nil && slices.Contains(titles, title) {
			err = errors.New("this cluster is shown already")
		}
		var followed following
		if err == nil {
			followed, err = followMeasured(ctx, config, w)
		}
		switch {
		case err != nil && i > 0:
			return fmt.Errorf("--beside %s: %w", name, err)
		case err != nil:
			return err
		}
		defer followed.stop()
		followed.State.SetTerms(terms)
		options := dashboard.Options{Title: title, Fleet: followed.State.Fleet, Problems: followed.Problems, Details: followed.State.Details, Market: followed.State.Market, Console: w.Cloud.Builtin.Console, Token: token, Try: Try(w), Clock: time.Now,
			Links: links}
		if i == 0 {
			options.Prometheus = prometheus
			if f.journal != "" {
				options.Journal = journalSource(f.journal)
			}
		}
		all, titles = append(all, dashboard.New(options)), append(titles, title)
	}
	fmt.Fprintf(w.Out, "the dashboard of %s is at http://%s; Ctrl-C ends it\n", strings.Join(titles, ", "), listener.Addr())
	return serve(ctx, listener, all)
}

// headerTimeout keeps slow clients from holding connections open.
const headerTimeout = 10 * time.Second

func serve(ctx context.Context, listener net.Listener, all []*dashboard.Dashboard) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: dashboard.Several(all), ReadHeaderTimeout: headerTimeout, BaseContext: func(net.Listener) context.Context { return ctx }}
	for _, d := range all {
		go d.Remember(ctx)
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // streams never end by themselves
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the dashboard: %w", err)
	}
	return nil
}
