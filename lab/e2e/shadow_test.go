package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/lab/install"
	"tenon/lab/labtest"
)

// shadowReport is the part of the report that the test reads.
type shadowReport struct {
	Looks, Pods      int
	Incumbent, Tenon struct {
		Nodes        int
		BoughtMilli  int64
		WaitedMillis int64
	}
}

// TestShadowOnlyReads runs a controller in shadow mode beside one that acts, under the chart's rights for shadow mode. It
// sees the pods that the other buys nodes for, has a place for them sooner, and writes only its Lease: the audit
// log has no other write, and nothing that was forbidden.
func TestShadowOnlyReads(t *testing.T) {
	t.Parallel()
	lab := labtest.Own(t, labtest.Options{Controller: "tenon", Audit: true, BootDelay: 8 * time.Second})
	for _, file := range []string{"basic.yaml", "inflate.yaml"} {
		text, err := os.ReadFile("../../examples/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := install.Apply(t.Context(), lab.Config, text); err != nil {
			t.Fatal(err)
		}
	}
	url := startShadow(t, lab)
	lab.Eventually(t, "the shadow looks", func(context.Context) (bool, string) {
		r, err := reportOf(t, url)
		return err == nil && r.Looks > 1, fmt.Sprintf("%+v, %v", r, err)
	})
	inflate := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "inflate"}}
	if err := lab.Client.Patch(t.Context(), inflate, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":5}}`))); err != nil {
		t.Fatal(err)
	}
	lab.AwaitPods(t, "default", "app=inflate", 5, labtest.PodReady)
	lab.Eventually(t, "the shadow has compared", func(context.Context) (bool, string) {
		r, err := reportOf(t, url)
		return err == nil && r.Pods == 5 && r.Incumbent.BoughtMilli > 0, fmt.Sprintf("%+v, %v", r, err)
	})
	if r, _ := reportOf(t, url); r.Tenon.WaitedMillis >= r.Incumbent.WaitedMillis {
		t.Errorf("the shadow decided no sooner than the node was there: %+v", r)
	}
	for _, request := range shadowRequests(t, lab.Directory.Log("audit")) {
		t.Error(request)
	}
}

// startShadow runs tenon in shadow mode, under the rights of a release of the chart, and returns where it serves.
func startShadow(t *testing.T, lab *labtest.Lab) string {
	t.Helper()
	program, err := labtest.Product()
	if err != nil {
		t.Fatal(err)
	}
	token, err := install.Shadow(t.Context(), lab.Config)
	if err != nil {
		t.Fatal(err)
	}
	config := api.NewConfig()
	config.Clusters["lab"] = &api.Cluster{Server: lab.Config.Host, CertificateAuthorityData: lab.Config.CAData}
	config.AuthInfos["shadow"] = &api.AuthInfo{Token: token}
	config.Contexts["shadow"] = &api.Context{Cluster: "lab", AuthInfo: "shadow"}
	config.CurrentContext = "shadow"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	environment, err := os.ReadFile(lab.Directory.Environment())
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "controller", "--mode=shadow", "--kubeconfig="+file,
		"--leader-election-namespace=kube-system", "--health-probe-port=0", fmt.Sprintf("--metrics-port=%d", port))
	cmd.Env = slices.Concat(os.Environ(), strings.Split(strings.TrimSpace(string(environment)), "\n"))
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Log(output.String())
		}
	})
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// reportOf asks as a user does.
func reportOf(t *testing.T, url string) (r shadowReport, err error) {
	t.Helper()
	program, err := labtest.Product()
	if err != nil {
		return r, err
	}
	out, err := exec.Command(program, "shadow", "report", "--url", url, "-o", "json").Output()
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(out, &r)
}

// shadowRequests are those of the shadow that were forbidden, or wrote something else than its Lease.
func shadowRequests(t *testing.T, path string) (wrong []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb        string
			RequestURI  string
			User        struct{ Username string }
			Annotations map[string]string
			ObjectRef   *struct{ Resource, Name, Namespace string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if event.User.Username != install.ShadowUser {
			continue
		}
		seen++
		reads := slices.Contains([]string{"get", "list", "watch"}, event.Verb)
		own := event.ObjectRef != nil && event.ObjectRef.Resource == "leases" && event.ObjectRef.Namespace == "kube-system"
		if event.Annotations["authorization.k8s.io/decision"] == "forbid" || !reads && !own {
			wrong = append(wrong, event.Verb+" "+event.RequestURI+" "+event.Annotations["authorization.k8s.io/decision"])
		}
	}
	if seen == 0 {
		t.Errorf("%s has no request of %s", path, install.ShadowUser)
	}
	return wrong
}
