package command

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	emulated "tenon/lab/aws"
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/policy"
	"tenon/lab/kubelet"
	"tenon/lab/process"
)

// awsFlags are the flags of the component.
type awsFlags struct {
	kubeconfig string
	boot       time.Duration
	heartbeat  time.Duration
	cluster    string
	endpoint   string
	version    string
	services   string
	role       string
	localZones []string
	faults     string
	controller string
	seed       uint64
}

// runAWS emulates AWS, and simulates the kubelets of its instances and of hand-made machines, until the
// context ends.
func runAWS(ctx context.Context, flags []string, in *process.Inherited) error {
	f := parseAWS()
	if err := f.set.Parse(flags); err != nil {
		return err
	}
	client, err := clientcmd.BuildConfigFromFlags("", f.kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	fleet, err := kubelet.New(f.kubelets(client, log))
	if err != nil {
		return err
	}
	config, err := f.emulator(client, fleet, log)
	if err != nil {
		return err
	}
	server, err := emulated.New(config)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return fleet.Run(ctx) })
	group.Go(func() error { return server.Serve(ctx, in.Listener()) })
	group.Go(func() error {
		select {
		case <-fleet.Ready():
			in.ReportReady()
		case <-ctx.Done():
		}
		return nil
	})
	return group.Wait()
}

// awsComponent holds the flags and the set that reads them.
type awsComponent struct {
	awsFlags
	set *pflag.FlagSet
}

func parseAWS() *awsComponent {
	defaults := kubelet.Defaults()
	f := &awsComponent{set: pflag.NewFlagSet("aws", pflag.ContinueOnError)}
	f.set.StringVar(&f.kubeconfig, "kubeconfig", "", "how to reach the API server")
	f.set.DurationVar(&f.boot, "boot-delay", defaults.BootDelay, "from a machine's launch to its node")
	f.set.DurationVar(&f.heartbeat, "heartbeat", defaults.HeartbeatInterval, "how often leases are renewed")
	f.set.StringVar(&f.cluster, "cluster-name", "lab", "the cluster that instances may join")
	f.set.StringVar(&f.endpoint, "cluster-endpoint", "", "its API server, as user data must have it")
	f.set.StringVar(&f.version, "cluster-version", "", "its version, such as 1.36")
	f.set.StringVar(&f.services, "service-range", "", "addresses of its services")
	f.set.StringVar(&f.role, "node-role", "", "the role of its nodes")
	f.set.StringSliceVar(&f.localZones, "local-zones", nil, "local zones besides the ordinary ones")
	f.set.StringVar(&f.faults, "faults", "", "a file with what is wrong from the start")
	f.set.StringVar(&f.controller, "controller-key", "", "the access key on which the controller's policies are enforced; empty is none")
	f.set.Uint64Var(&f.seed, "seed", 1, "of spot prices and everything else that varies")
	return f
}

func (f *awsComponent) kubelets(client *rest.Config, log *slog.Logger) kubelet.Config {
	config := kubelet.Defaults()
	config.BootDelay, config.HeartbeatInterval = f.boot, f.heartbeat
	config.RESTConfig, config.Log = client, log
	return config
}

// strangers may not join.
const strangers = "StrangerRole"

// quick is the duration of the steps of an instance's life that are not worth watching.
const quick = time.Second

func (f *awsComponent) emulator(client *rest.Config, fleet *kubelet.Fleet, log *slog.Logger) (emulated.Config, error) {
	config := emulated.Defaults()
	config.Log = log
	config.Resources.Machines = fleet
	config.Resources.Cluster = accounts.Cluster{
		Name: f.cluster, Endpoint: f.endpoint, Version: f.version, ServiceRange: f.services,
		Authority: base64.StdEncoding.EncodeToString(client.CAData),
	}
	config.Resources.LocalZones = f.localZones
	config.Resources.Roles = []accounts.Role{{Name: f.role}, {Name: strangers, Stranger: true}}
	config.Resources.Pace.Pending, config.Resources.Pace.Boot = min(quick, f.boot/2), f.boot-min(quick, f.boot/2)
	config.Resources.Pace.ShuttingDown, config.Resources.Pace.Stopping = 2*quick, quick
	config.Resources.Pace.Scaling, config.Resources.Pace.Relaunch, config.Resources.Pace.HealthCheck = quick, 10*quick, 2*quick
	if err := f.enforce(&config); err != nil {
		return config, err
	}
	if f.faults == "" {
		return config, nil
	}
	file, err := os.Open(f.faults)
	if err != nil {
		return config, fmt.Errorf("read faults: %w", err)
	}
	defer file.Close()
	if config.Faults, err = emulated.ReadFaults(file); err != nil {
		return config, fmt.Errorf("read faults from %s: %w", f.faults, err)
	}
	return config, nil
}

// enforce gives the controller's access key the policies of the documented CloudFormation template, and no other right.
func (f *awsComponent) enforce(config *emulated.Config) error {
	if f.controller == "" {
		return nil
	}
	documents, err := emulated.Documented(config.Account, config.Region, f.cluster, f.role)
	if err != nil {
		return err
	}
	config.Accounts = map[string]string{f.controller: config.Account}
	config.Policies = map[string][]policy.Document{f.controller: documents}
	return nil
}

// defaultHeartbeat is the kubelets' own default.
func defaultHeartbeat() time.Duration { return kubelet.Defaults().HeartbeatInterval }
