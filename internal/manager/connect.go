package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tenon/internal/settings"
	"tenon/internal/version"
)

// Connection is how the process reaches its cluster.
type Connection struct {
	Config *rest.Config
	// InCluster says that the process runs in a pod of the cluster that it controls.
	InCluster bool
}

// Connect finds the cluster: the kubeconfig that the settings name, else the pod's service account,
// else ~/.kube/config. It does not talk to the cluster yet, see Reach.
func Connect(s settings.Settings, build version.Info) (Connection, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // Without a home there is no ~/.kube/config to fall back on; the others still work.
	}
	return connect(s, build, rest.InClusterConfig, home)
}

func connect(s settings.Settings, build version.Info, inCluster func() (*rest.Config, error), home string) (Connection, error) {
	c, err := locate(s.Kubeconfig, inCluster, home)
	if err != nil {
		return Connection{}, err
	}
	c.Config.QPS = float32(s.KubeClientQPS)
	c.Config.Burst = s.KubeClientBurst
	c.Config.UserAgent = build.UserAgent()
	return c, nil
}

func locate(kubeconfig string, inCluster func() (*rest.Config, error), home string) (Connection, error) {
	if kubeconfig != "" {
		return fromFiles(filepath.SplitList(kubeconfig))
	}
	config, err := inCluster()
	if err == nil {
		return Connection{Config: config, InCluster: true}, nil
	}
	if !errors.Is(err, rest.ErrNotInCluster) {
		return Connection{}, fmt.Errorf("read the pod's service account: %w", err)
	}
	path := filepath.Join(home, ".kube", "config")
	if home == "" || !exists(path) {
		return Connection{}, errors.New("no cluster to control: not in a pod, and no kubeconfig; set --kubeconfig or KUBECONFIG")
	}
	return fromFiles([]string{path})
}

// fromFiles reads one kubeconfig, or several that complete each other as kubectl merges them.
func fromFiles(paths []string) (Connection, error) {
	if !slices.ContainsFunc(paths, exists) {
		return Connection{}, fmt.Errorf("read kubeconfig %s: no such file; set --kubeconfig or KUBECONFIG to one that exists", strings.Join(paths, ", "))
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: paths}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return Connection{}, fmt.Errorf("read kubeconfig %s: %w", strings.Join(paths, ", "), err)
	}
	return Connection{Config: config}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// reachTimeout bounds the first call, so that a wrong address is reported soon.
const reachTimeout = 10 * time.Second

// Reach asks the API server for its version: this shows that address, network and credentials are
// right.
func (c Connection) Reach(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	discover, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return "", fmt.Errorf("prepare a client for %s: %w", c.Config.Host, err)
	}
	answer, err := discover.RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", fmt.Errorf("reach the API server %s: %w; is it running, and are the credentials its own?", c.Config.Host, err)
	}
	var info apiversion.Info
	if err := json.Unmarshal(answer, &info); err != nil {
		return "", fmt.Errorf("%s does not answer like an API server: %w", c.Config.Host, err)
	}
	return info.GitVersion, nil
}
