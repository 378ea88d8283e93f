package manager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"tenon/internal/settings"
)

func kubeconfig(t *testing.T, path, server string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"` + server + `"}}],` +
		`"users":[{"name":"c","user":{}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"c"}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConnectFindsTheCluster(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	kubeconfig(t, filepath.Join(home, ".kube", "config"), "https://home.example")
	named := kubeconfig(t, filepath.Join(t.TempDir(), "named"), "https://named.example")
	outside := func() (*rest.Config, error) { return nil, rest.ErrNotInCluster }
	inside := func() (*rest.Config, error) { return &rest.Config{Host: "https://pod.example"}, nil }
	broken := func() (*rest.Config, error) { return nil, os.ErrPermission }
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("clusters: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		kubeconfig string
		inCluster  func() (*rest.Config, error)
		home       string
		want       string
		inside     bool
		wrong      string
	}{
		"a kubeconfig that is named comes first":  {kubeconfig: named, inCluster: inside, home: home, want: "https://named.example"},
		"of several files those that exist count": {kubeconfig: "/nowhere/config" + string(filepath.ListSeparator) + named, inCluster: outside, want: "https://named.example"},
		"a pod uses its service account":          {inCluster: inside, home: home, want: "https://pod.example", inside: true},
		"elsewhere it is the one of kubectl":      {inCluster: outside, home: home, want: "https://home.example"},
		"a kubeconfig that is not there":          {kubeconfig: "/nowhere/config", inCluster: inside, wrong: "/nowhere/config: no such file; set --kubeconfig"},
		"a kubeconfig that is none":               {kubeconfig: garbage, inCluster: outside, wrong: "read kubeconfig " + garbage},
		"a service account that cannot be read":   {inCluster: broken, home: home, wrong: "service account"},
		"nothing at all":                          {inCluster: outside, home: t.TempDir(), wrong: "set --kubeconfig or KUBECONFIG"},
		"nothing at all, and no home directory":   {inCluster: outside, wrong: "set --kubeconfig or KUBECONFIG"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := connect(settings.Settings{Kubeconfig: tc.kubeconfig, KubeClientQPS: 7, KubeClientBurst: 9}, build, tc.inCluster, tc.home)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Errorf("error %v lacks %q", err, tc.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Config.Host != tc.want || got.InCluster != tc.inside {
				t.Errorf("connects to %s, in cluster: %t; want %s, %t", got.Config.Host, got.InCluster, tc.want, tc.inside)
			}
			if got.Config.QPS != 7 || got.Config.Burst != 9 || got.Config.UserAgent != "karpenter/1.2.3" {
				t.Errorf("config %v %v %s, want 7, 9, karpenter/1.2.3", got.Config.QPS, got.Config.Burst, got.Config.UserAgent)
			}
		})
	}
}

func TestLeaderElectionHasAClientOfItsOwn(t *testing.T) {
	t.Parallel()
	shared := &rest.Config{Host: "https://x.example", QPS: 200, Burst: 300}
	own := unhurried(shared)
	if own.QPS != 0 || own.Burst != 0 || own.Host != shared.Host {
		t.Errorf("its config is %v", own)
	}
	if shared.QPS != 200 || shared.Burst != 300 {
		t.Errorf("the shared config changed to %v %v", shared.QPS, shared.Burst)
	}
}

func TestInsideAClusterEveryInterfaceIsServed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args      []string
		inCluster bool
		loopback  bool
	}{
		"in a pod":                        {inCluster: true},
		"on a laptop":                     {loopback: true},
		"in a pod, told to keep to local": {args: []string{"--listen-address=127.0.0.1"}, inCluster: true, loopback: true},
		"on a laptop, told to open up":    {args: []string{"--listen-address=0.0.0.0"}},
	} {
		open, err := listen(configured(t, tc.args...), tc.inCluster)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{open.metrics.Addr().String(), open.probes.Addr().String()} {
			if loopback := strings.HasPrefix(address, "127.0.0.1:"); loopback != tc.loopback {
				t.Errorf("%s: listens on %s, loopback wanted: %t", name, address, tc.loopback)
			}
		}
		open.close()
	}
}
