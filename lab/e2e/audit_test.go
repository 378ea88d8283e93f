package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/install"
	"tenon/lab/labtest"
)

// unreached lists rights that the test below does not use, each with what uses it.
var unreached = map[string]string{
	"update nodeclaims/finalizers.karpenter.sh":              "owner references, where the admission plugin OwnerReferencesPermissionEnforcement is on",
	"update nodepools/finalizers.karpenter.sh":               "owner references, where the admission plugin OwnerReferencesPermissionEnforcement is on",
	"get deployments.apps":                                   "pods with tenon.sh/surge: stories, TestSinglePodSurges",
	"get replicasets.apps":                                   "pods with tenon.sh/surge: stories, TestSinglePodSurges",
	"patch deployments.apps":                                 "pods with tenon.sh/surge: stories, TestSinglePodSurges",
	"delete pods":                                            "pods that outlive the grace period of their node: stories, drain_test.go",
	"patch nodeoverlays/status.karpenter.sh":                 "overlays: stories, pool_test.go",
	"patch capacitybuffers/status.autoscaling.x-k8s.io":      "buffers: stories, buffer_test.go",
	"patch provisioningrequests/status.autoscaling.x-k8s.io": "requests: nodegroups, request_test.go",
	"patch events":                                           "events that are told again",
	"update leases.coordination.k8s.io":                      "leader election: package handover",
	"get leases.coordination.k8s.io":                         "leader election: package handover",
	"create leases.coordination.k8s.io":                      "leader election: package handover",
	"create configmaps":                                      "memory of nodes that was learned, after an hour",
	"update configmaps":                                      "memory of nodes that was learned, after an hour",
	"patch pods/status":                                      "nominations of pods whose nodes open at the same time: lab/stopwatch",
	"get nodepools.karpenter.sh":                             "roll-outs and static pools: stories, pool_test.go",
	"get nodes":                                              "claims whose node never joined",
	"create nodegroups.tenon.sh":                             "Auto Scaling groups that are found: lab/aws",
	"delete nodegroups.tenon.sh":                             "Auto Scaling groups that are found: lab/aws",
	"get nodegroups.tenon.sh":                                "Auto Scaling groups that are found: lab/aws",
	"patch nodegroups/status.tenon.sh":                       "Auto Scaling groups that are found: lab/aws",
}

// TestRightsAreUsed has Tenon buy nodes, drain one and give the others up, under the token and the
// rights of its chart. The API server's audit log has no request that was forbidden: nothing is
// missing. And each right of the chart is used, or is listed above with what uses it.
func TestRightsAreUsed(t *testing.T) {
	t.Parallel()
	lab := labtest.Own(t, labtest.Options{Controller: "tenon", Audit: true, Settings: []string{
		"FEATURE_GATES=NodeOverlay=true,CapacityBuffer=true,NodeGroups=true",
		"ENABLE_PROVISIONING_REQUESTS=true",
		`SCHEDULER_CONFIG={"podTopologySpread": {"defaultConstraints": [{"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}]}}`,
	}})
	for _, file := range []string{"basic.yaml", "inflate.yaml"} {
		text, err := os.ReadFile("../../examples/" + file)
		if err != nil {
			t.Fatal(err)
		}
		soon := strings.Replace(string(text), "consolidateAfter: 30s", "consolidateAfter: 0s", 1)
		if err := install.Apply(t.Context(), lab.Config, []byte(soon)); err != nil {
			t.Fatal(err)
		}
	}
	inflate := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "inflate"}}
	scale := func(n int) {
		t.Helper()
		if err := lab.Client.Patch(t.Context(), inflate, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))); err != nil {
			t.Fatal(err)
		}
	}
	scale(2)
	lab.AwaitPods(t, "default", "app=inflate", 2, labtest.PodReady)

	// A user deletes a claim: its pods are evicted.
	claims := &karpenterv1.NodeClaimList{}
	if err := lab.Client.List(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	first := claims.Items[0].DeepCopy()
	if err := lab.Client.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	lab.AwaitGone(t, first)
	lab.AwaitPods(t, "default", "app=inflate", 2, labtest.PodReady)

	// Tenon gives up the nodes that are empty.
	scale(0)
	lab.Eventually(t, "no claims are left", func(ctx context.Context) (bool, string) {
		left := &karpenterv1.NodeClaimList{}
		if err := lab.Client.List(ctx, left); err != nil {
			return false, err.Error()
		}
		nodes := &corev1.NodeList{}
		if err := lab.Client.List(ctx, nodes); err != nil {
			return false, err.Error()
		}
		return len(left.Items)+len(nodes.Items) == 0, fmt.Sprintf("%d claims, %d nodes", len(left.Items), len(nodes.Items))
	})

	used, forbidden := readAudit(t, lab.Directory.Log("audit"))
	if len(forbidden) > 0 {
		t.Errorf("rights that are missing in the chart: %v", forbidden)
	}
	for _, right := range granted(t, lab) {
		verb, what, _ := strings.Cut(right, " ")
		if verb == "list" && used["watch "+what] {
			continue // older API servers do not send the initial objects of a watch
		}
		if reason := unreached[right]; !used[right] && reason == "" {
			t.Errorf("the chart grants %q, and nothing uses it", right)
		}
	}
	for right := range unreached {
		if !slices.Contains(granted(t, lab), right) {
			t.Errorf("%q is listed as unreached, and the chart does not grant it", right)
		}
	}
}

// readAudit reads which rights requests used, and which requests were forbidden.
func readAudit(t *testing.T, path string) (used map[string]bool, forbidden []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	used = map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb        string            `json:"verb"`
			Annotations map[string]string `json:"annotations"`
			ObjectRef   *struct{ Resource, Subresource, APIGroup string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if event.ObjectRef == nil {
			continue // discovery and versions, which every user may read
		}
		right := rightName(event.Verb, event.ObjectRef.Resource, event.ObjectRef.Subresource, event.ObjectRef.APIGroup)
		if event.Annotations["authorization.k8s.io/decision"] == "forbid" && !slices.Contains(forbidden, right) {
			forbidden = append(forbidden, right)
		}
		used[right] = true
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(used) == 0 {
		t.Fatalf("%s has no requests", path)
	}
	return used, forbidden
}

func rightName(verb, resource, subresource, group string) string {
	if subresource != "" {
		resource += "/" + subresource
	}
	if group != "" {
		resource += "." + group
	}
	return verb + " " + resource
}

// granted lists the rights of Tenon's roles, as the cluster has them.
func granted(t *testing.T, lab *labtest.Lab) []string {
	t.Helper()
	var rules []rbacv1.PolicyRule
	for _, name := range []string{"tenon", "tenon-core"} {
		role := &rbacv1.ClusterRole{}
		if err := lab.Client.Get(t.Context(), client.ObjectKey{Name: name}, role); err != nil {
			t.Fatal(err)
		}
		rules = append(rules, role.Rules...)
	}
	for _, key := range []client.ObjectKey{{Namespace: "kube-system", Name: "tenon"}, {Namespace: "kube-system", Name: "tenon-dns"}} {
		role := &rbacv1.Role{}
		if err := lab.Client.Get(t.Context(), key, role); err != nil {
			t.Fatal(err)
		}
		rules = append(rules, role.Rules...)
	}
	var rights []string
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				name, subresource, _ := strings.Cut(resource, "/")
				for _, verb := range rule.Verbs {
					rights = append(rights, rightName(verb, name, subresource, group))
				}
			}
		}
	}
	slices.Sort(rights)
	return slices.Compact(rights)
}
