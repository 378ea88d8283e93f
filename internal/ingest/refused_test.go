package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/decide"
	"tenon/internal/ingest"
)

// TestQuotasRefusePodsOfAClusterToo checks which missing pods of a workload are listed: those for which a quota has no
// room, under names that no pod has; the plan for the others is as good as without them.
func TestQuotasRefusePodsOfAClusterToo(t *testing.T) {
	t.Parallel()
	quota := func(pods string) string {
		return "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: team, namespace: default}\nspec: {hard: {pods: \"" + pods + "\"}}\nstatus: {hard: {pods: \"" + pods + "\"}, used: {pods: \"1\"}}\n"
	}
	set := func(kind string) string {
		return "---\napiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: web, namespace: default, uid: u1}\nspec:\n  replicas: 4\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}\n"
	}
	owned := func(kind string) string {
		return "namespace: default\nuid: p1\nownerReferences: [{apiVersion: apps/v1, kind: " + kind + ", name: web, uid: u1, controller: true}]\n"
	}
	cases := map[string]struct {
		kind, quotas string
		want         []string
	}{
		"a quota with room for one more":    {"ReplicaSet", quota("2"), []string{"web-1", "web-2"}},
		"a quota without room":              {"StatefulSet", quota("1"), []string{"web-1", "web-2", "web-3"}},
		"a quota with room for all":         {"ReplicaSet", quota("9"), nil},
		"no quota":                          {"ReplicaSet", "", nil},
		"a Deployment, whose sets are told": {"Deployment", quota("1"), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := objects(t, aPool("default", "")+podNamed("web-0", owned(tc.kind), "containers: [{name: c, resources: {requests: {cpu: 100m}}}]\n")+tc.quotas)
			all.Makers = workloadsOf(t, set(tc.kind))
			options := fromCluster(t)
			s := ingest.Build(all, options)
			var got []string
			for _, p := range s.Pods {
				if p.UID == "" {
					got = append(got, p.Name)
					if text := p.Refused.Text(); !strings.Contains(text, "ResourceQuota team leaves no room") {
						t.Errorf("%s: %s", p.Name, text)
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("refused are %v, want %v", got, tc.want)
			}
			all.Makers = nil
			with, without := decide.Decide(s, decide.Budget{}).Plan, decide.Decide(ingest.Build(all, options), decide.Budget{}).Plan
			if with.Cost.New != without.Cost.New || with.Cost.LowerBound != without.Cost.LowerBound || len(with.Unplaced) != len(without.Unplaced)+len(tc.want) {
				t.Errorf("the plan costs %+v with %d pods without a place; else it would cost %+v with %d", with.Cost, len(with.Unplaced), without.Cost, len(without.Unplaced))
			}
		})
	}
}

// workloadsOf reads the workloads of a text.
func workloadsOf(t testing.TB, text string) []metav1.Object {
	t.Helper()
	return objects(t, text).Others
}
