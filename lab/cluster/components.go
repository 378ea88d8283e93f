package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"tenon/lab/controlplane"
	"tenon/lab/state"
	"tenon/lab/supervise"
)

// How long components may take to become ready. A laptop that is busy with other things takes
// several times what an idle one does; a component that hangs should still be told of.
const (
	startWithin      = 90 * time.Second
	controllerWithin = 60 * time.Second
)

// smallHeap makes the components collect garbage sooner than Go's default of 100: a lab shares the
// machine with a browser and an editor, and its idle components have CPU to spare. GOGC in the environment
// comes first.
func smallHeap() []string {
	if _, chosen := os.LookupEnv("GOGC"); chosen {
		return nil
	}
	return []string{"GOGC=50"}
}

// heartbeatsMissed is how many missed heartbeats make a node count as dead. The leases of the simulated
// kubelets last as long.
const heartbeatsMissed = 3

func (l *lab) etcd() supervise.Component {
	return supervise.Component{
		Name:   "etcd",
		Dir:    l.directory.Etcd(),
		Log:    l.directory.Log("etcd"),
		Env:    append(smallHeap(), controlplane.ManyCalls()...),
		Within: startWithin,
	}
}

func (l *lab) apiServer() supervise.Component {
	port := portOf(l.ports.apiServer)
	return supervise.Component{
		Name:     "kube-apiserver",
		Flags:    l.apiServerFlags(port),
		Dir:      l.directory.Etcd(), // where the socket of etcd is
		Log:      l.directory.Log("kube-apiserver"),
		Env:      append(smallHeap(), controlplane.ManyCalls()...),
		Listener: l.ports.apiServer,
		Ports:    []state.Port{{Name: "https", Number: port}},
		Check:    l.checkAPIServer,
		Within:   startWithin,
	}
}

func (l *lab) apiServerFlags(port int) []string {
	flags := controlplane.APIServerFlags(port, l.directory)
	if l.options.Audit {
		flags = append(flags, controlplane.AuditFlags(l.directory.PKI(auditPolicy), l.directory.Log("audit"))...)
	}
	return flags
}

func (l *lab) controllerManager() supervise.Component {
	return l.loopbackServer("kube-controller-manager", l.ports.controllerManager, "/healthz",
		controlplane.ControllerManagerFlags(l.directory, heartbeatsMissed*l.options.Heartbeat))
}

func (l *lab) scheduler() supervise.Component {
	return l.loopbackServer("kube-scheduler", l.ports.scheduler, "/readyz", controlplane.SchedulerFlags(l.directory))
}

func (l *lab) loopbackServer(name string, listener net.Listener, path string, flags []string) supervise.Component {
	port := portOf(listener)
	url := fmt.Sprintf("https://127.0.0.1:%d%s", port, path)
	return supervise.Component{
		Name:     name,
		Flags:    flags,
		Dir:      string(l.directory),
		Log:      l.directory.Log(name),
		Env:      smallHeap(),
		Listener: listener,
		Ports:    []state.Port{{Name: "https", Number: port}},
		Check:    func(ctx context.Context) error { return get(ctx, l.loopback, url) },
		Within:   startWithin,
	}
}

// aws is the emulated AWS, with the simulated kubelets of its instances and of machines that are
// made by hand.
func (l *lab) aws() supervise.Component {
	port := portOf(l.ports.aws)
	flags := []string{
		"--kubeconfig=" + l.directory.UserConfig("kubelets"),
		"--boot-delay=" + l.options.BootDelay.String(),
		"--heartbeat=" + l.options.Heartbeat.String(),
		"--cluster-name=" + clusterName,
		"--cluster-endpoint=" + l.server,
		"--cluster-version=" + kubernetesVersion,
		"--service-range=" + controlplane.ServiceRange,
		"--node-role=" + l.options.NodeRole,
	}
	if len(l.options.LocalZones) > 0 {
		flags = append(flags, "--local-zones="+strings.Join(l.options.LocalZones, ","))
	}
	if l.options.EnforceIAM {
		flags = append(flags, "--controller-key="+controllerKey)
	}
	if l.options.Faults != "" {
		flags = append(flags, "--faults="+l.options.Faults)
	}
	return supervise.Component{
		Name:     "aws",
		Flags:    flags,
		Dir:      string(l.directory),
		Log:      l.directory.Log("aws"),
		Env:      smallHeap(),
		Listener: l.ports.aws,
		Ports:    []state.Port{{Name: "http", Number: port}},
		Within:   startWithin,
	}
}

// awsURL is where the emulated AWS listens.
func (l *lab) awsURL() string { return fmt.Sprintf("http://127.0.0.1:%d", portOf(l.ports.aws)) }

// NodeRole is the default role of the nodes: the one in the manifests of tutorials.
const NodeRole = "karpenterNodeRole-" + clusterName

// controllerKey is the controller's access key where its policies are enforced.
const controllerKey = "AKIATENON"

// What the lab's cluster is called in AWS.
const (
	clusterName       = "demo"
	kubernetesVersion = "1.36"
)

// onMemory is the product's controller with a cloud in memory instead of AWS: the same code with the same
// rights. The simulated kubelets act as the machines that it buys.
func (l *lab) onMemory() (supervise.Component, error) {
	component, err := l.tenon("")
	if err != nil {
		return component, err
	}
	component.Name = "tenon-on-memory"
	component.Log = l.directory.Log(component.Name)
	component.Env = append(component.Env,
		"LAB_MACHINES_KUBECONFIG="+l.directory.UserConfig("kubelets"),
		"LAB_BOOT_DELAY="+l.options.BootDelay.String(),
		"LAB_CLOUD_STATE="+l.directory.Cloud(),
	)
	return component, nil
}

// tenon is the product, started as its chart starts it, with the rights of its own roles.
func (l *lab) tenon(program string) (supervise.Component, error) {
	metrics, err := freePort("tenon")
	if err != nil {
		return supervise.Component{}, err
	}
	probes, err := freePort("tenon")
	if err != nil {
		return supervise.Component{}, err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/readyz", probes)
	own := []string{"KUBECONFIG=" + l.directory.UserConfig("tenon")}
	if l.options.EnforceIAM {
		own = append(own, "AWS_ACCESS_KEY_ID="+controllerKey)
	}
	return supervise.Component{
		Name:    "tenon",
		Program: program,
		Flags: []string{
			"controller",
			"--metrics-port=" + strconv.Itoa(metrics),
			"--health-probe-port=" + strconv.Itoa(probes),
			"--disable-leader-election=true",
		},
		Env:     slices.Concat(l.environment(), own, l.options.Settings),
		Dir:     string(l.directory),
		Log:     l.directory.Log("tenon"),
		Ports:   []state.Port{{Name: "metrics", Number: metrics}, {Name: "probes", Number: probes}},
		Check:   func(ctx context.Context) error { return get(ctx, http.DefaultClient, url) },
		Within:  controllerWithin,
		Restart: true,
	}, nil
}

// environment returns what programs need to reach the lab, in the form of lab.env.
func (l *lab) environment() []string {
	return []string{
		"KUBECONFIG=" + l.directory.Kubeconfig(),
		"CLUSTER_NAME=" + clusterName,
		"CLUSTER_ENDPOINT=" + l.server,
		"SYSTEM_NAMESPACE=kube-system",
		"INTERRUPTION_QUEUE=" + clusterName,
		"AWS_ENDPOINT_URL=" + l.awsURL(),
		"AWS_REGION=us-west-2",
		"AWS_DEFAULT_REGION=us-west-2", // version 1 of the AWS CLI knows no other
		"AWS_ACCESS_KEY_ID=000000000001",
		"AWS_SECRET_ACCESS_KEY=lab",
		"AWS_EC2_METADATA_DISABLED=true",
	}
}

func (l *lab) writeEnvironment() error {
	return state.WriteFile(l.directory.Environment(), []byte(strings.Join(l.environment(), "\n")+"\n"))
}

// checkAPIServer asks the API server whether it is ready.
func (l *lab) checkAPIServer(ctx context.Context) error {
	client, err := rest.HTTPClientFor(l.administrator)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	return get(ctx, client, l.server+"/readyz")
}

// loopbackClient trusts the lab's authority alone.
func loopbackClient(directory state.Directory) (*http.Client, error) {
	authority, err := os.ReadFile(directory.PKI("ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}, nil
}

// answerWithin bounds one question to a component, which is asked again later.
const answerWithin = 3 * time.Second

func get(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return err // it names the URL already
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s says %s: %s", url, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}
