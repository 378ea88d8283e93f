package nodegroups

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// prioritize writes the ConfigMap of the expander priority. It exists once in a cluster, so only one story does this.
func (s *story) prioritize(priorities string) {
	s.Helper()
	config := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler-priority-expander"}}
	data := map[string]string{"priorities": priorities}
	if err := s.Lab.Client.Get(s.Context(), client.ObjectKeyFromObject(config), config); err == nil {
		config.Data = data
		if err := s.Lab.Client.Update(s.Context(), config); err != nil {
			s.Fatal(err)
		}
		return
	}
	config.Data = data
	s.Create(config)
	s.Cleanup(func() {
		if err := s.Lab.Client.Delete(context.Background(), config); err != nil {
			s.Error(err)
		}
	})
}

// awaitPriorities waits until groups show their priorities.
func (s *story) awaitPriorities(wanted map[string]int64) {
	s.Helper()
	s.Eventually(fmt.Sprintf("groups have the priorities %v", wanted), func(context.Context) (bool, string) {
		for name, want := range wanted {
			if o, found := s.object(name); !found || o.Status.Priority == nil || *o.Status.Priority != want {
				return false, fmt.Sprintf("%s: %+v", name, o.Status.Priority)
			}
		}
		return true, ""
	})
}

// The ConfigMap of the expander priority says which of two groups grows, also after it was changed while the controller runs. A map that
// cannot be read is told, and the priorities that it had do not count.
func TestPrioritiesAreChangedLive(t *testing.T) {
	s := tell(t)
	s.cas("spot", "m5.large", "a", size{0, 0, 3}, nil)
	s.cas("demand", "m5a.large", "b", size{0, 0, 3}, nil) // not like the other one: such groups are balanced
	spot, demand := s.groups["spot"], s.groups["demand"]
	s.prioritize(fmt.Sprintf("10:\n- ^%s$\n50:\n- ^%s$\n", spot, demand))
	s.shown()
	s.awaitPriorities(map[string]int64{"spot": 10, "demand": 50})
	s.deploy("first", 2, "spot", "demand")
	s.awaitSizes(map[string]int32{"spot": 0, "demand": 2})
	s.prioritize(fmt.Sprintf("60:\n- ^%s$\n50:\n- ^%s$\n", spot, demand))
	s.awaitPriorities(map[string]int64{"spot": 60, "demand": 50})
	s.deploy("second", 1, "spot", "demand")
	s.awaitSizes(map[string]int32{"spot": 1, "demand": 2})
	s.prioritize("60: [\n")
	s.AwaitEvent(&v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler-priority-expander"}}, "PriorityConfigMapInvalid", "No priorities count")
	s.Running("first", 2)
	s.Running("second", 1)
}
