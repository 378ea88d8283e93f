package nodegroups

import (
	"context"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// A group that a running Cluster Autoscaler may change is not changed, and says why; another group is. Its settings can be imported. When the Cluster Autoscaler is
// scaled to 0, the pods that waited for its groups get nodes of the cheaper one, whichever becomes free first.
func TestAGroupOfARunningClusterAutoscalerIsKept(t *testing.T) {
	s := tell(t)
	s.native("web", "m5.large", "a", size{0, 0, 4})
	s.native("dear", "m5.xlarge", "a", size{0, 0, 4})
	s.native("free", "m5.large", "a", size{0, 0, 4})
	other := s.deployment("cluster-autoscaler", 1, func(p *v1.PodSpec) {
		p.Containers[0].Image = "registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.0"
		p.Containers[0].Args = []string{"--cloud-provider=aws", "--nodes=0:4:" + s.groups["dear"], "--nodes=0:4:" + s.groups["web"]}
	}, "elsewhere") // its pod needs no node: the Deployment is what counts
	s.Create(other)
	s.shown()
	s.awaitForeign("web", true, "DeploymentRuns")
	s.awaitForeign("free", false, "NoneSeen")
	values, said := s.tenon("groups", "import", "--deployment", s.Namespace+"/cluster-autoscaler")
	for _, part := range []string{"0:4:" + s.groups["dear"], "0:4:" + s.groups["web"], "nodeGroups: true"} {
		if !strings.Contains(string(values), part) {
			t.Errorf("values for the chart without %s:\n%s\n%s", part, values, said)
		}
	}

	s.deploy("web", 1, "web", "dear")
	s.deploy("free", 1, "free")
	s.Running("free", 1)
	s.awaitSizes(map[string]int32{"web": 0, "dear": 0, "free": 1})
	if n := s.changes(); n != 1 {
		t.Errorf("%d writes of sizes, want one, for the free group", n)
	}

	s.Scale("cluster-autoscaler", 0)
	s.Running("web", 1)
	s.awaitForeign("web", false, "NoneSeen")
	s.awaitSizes(map[string]int32{"web": 1, "dear": 0, "free": 1})
}

// awaitForeign waits until a NodeGroup says whether a Cluster Autoscaler may change its group, and why.
func (s *story) awaitForeign(name string, active bool, reason string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%s is changed by a Cluster Autoscaler: %t", name, active), func(context.Context) (bool, string) {
		o, _ := s.object(name)
		c := meta.FindStatusCondition(o.Status.Conditions, tenonv1alpha1.ConditionForeignAutoscaler)
		return c != nil && (c.Status == "True") == active && c.Reason == reason, fmt.Sprintf("%+v", c)
	})
}
