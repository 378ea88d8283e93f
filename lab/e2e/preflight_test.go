package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/lab/install"
	"tenon/lab/labtest"
)

// incumbents is Karpenter as its chart installs it, in its own namespace.
const incumbents = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: karpenter}}
  template:
    metadata: {labels: {app: karpenter}}
    spec: {containers: [{name: controller, image: "public.ecr.aws/karpenter/controller:1.14.0"}]}
`

// TestPreflightFindsWhatIsMissing runs the preflight on a lab that lacks nothing, under enforced IAM policies, and
// again after a right, a definition and tags are gone and Karpenter is there.
func TestPreflightFindsWhatIsMissing(t *testing.T) {
	t.Parallel()
	lab := labtest.Own(t, labtest.Options{EnforceIAM: true})
	status, findings := runPreflight(t, lab)
	if failed := findings["failed"]; status != 0 || len(failed) > 0 {
		t.Errorf("a lab that lacks nothing: status %d, %v", status, failed)
	}

	if err := lab.Client.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "tenon"}}); err != nil {
		t.Fatal(err)
	}
	const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodeclaims.karpenter.sh"
	if err := lab.Clients.Discovery().RESTClient().Delete().AbsPath(definition).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "the definition is gone", func(ctx context.Context) (bool, string) {
		err := lab.Clients.Discovery().RESTClient().Get().AbsPath(definition).Do(ctx).Error()
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
	if err := install.Apply(t.Context(), lab.Config, []byte(incumbents)); err != nil {
		t.Fatal(err)
	}
	status, findings = runPreflight(t, lab, "CLUSTER_NAME=other", "INTERRUPTION_QUEUE=other")
	if status != 2 {
		t.Errorf("status %d, want 2", status)
	}
	failed := strings.Join(findings["failed"], "\n")
	for _, want := range []string{
		"nodeclaims.karpenter.sh is not installed",
		"ServiceAccount kube-system/tenon may not list ec2nodeclasses.karpenter.k8s.aws",
		"Karpenter runs as Deployment default/karpenter",
		"no subnet is selected by the tag karpenter.sh/discovery=other",
		"no security group is selected by the tag",
		"ec2:CreateLaunchTemplate is denied",
		"queue other",
	} {
		if !strings.Contains(failed, want) {
			t.Errorf("not found: %s\n%s", want, failed)
		}
	}
}

// runPreflight asks about Tenon's ServiceAccount as an administrator of the cluster, and about the account with the
// credentials on which its policies are enforced. It gives the texts by level.
func runPreflight(t *testing.T, lab *labtest.Lab, settings ...string) (status int, findings map[string][]string) {
	t.Helper()
	program, err := labtest.Product()
	if err != nil {
		t.Fatal(err)
	}
	environment, err := os.ReadFile(lab.Directory.Environment())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "preflight", "--service-account", "kube-system/tenon", "-o", "json")
	cmd.Env = slices.Concat(os.Environ(), strings.Split(strings.TrimSpace(string(environment)), "\n"), []string{"AWS_ACCESS_KEY_ID=AKIATENON"}, settings)
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		status = failed.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Findings []struct{ Level, Text string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	findings = map[string][]string{}
	for _, f := range report.Findings {
		findings[f.Level] = append(findings[f.Level], f.Text)
	}
	return status, findings
}
