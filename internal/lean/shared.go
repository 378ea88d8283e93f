package lean

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// shared lets pods of one owner have the very same containers, tolerations and so on in
// memory. Nobody changes objects of a cache, so nobody notices.
type shared struct {
	mu     sync.Mutex
	models map[types.UID]*corev1.Pod // by owner: its pod that was trimmed last
}

func newShared() shared { return shared{models: map[types.UID]*corev1.Pod{}} }

// mostModels is how many owners are remembered. When there are more, all are forgotten:
// those that matter come back with their next pod.
const mostModels = 10_000

// adopt takes over from the model what is equal.
func (s *shared) adopt(p *corev1.Pod) {
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	model := s.models[owner.UID]
	if model == nil {
		if len(s.models) >= mostModels {
			clear(s.models)
		}
		s.models[owner.UID] = p
		return
	}
	take(&p.OwnerReferences, model.OwnerReferences)
	take(&p.Labels, model.Labels)
	take(&p.Spec.NodeSelector, model.Spec.NodeSelector)
	take(&p.Spec.Affinity, model.Spec.Affinity)
	take(&p.Spec.Tolerations, model.Spec.Tolerations)
	take(&p.Spec.TopologySpreadConstraints, model.Spec.TopologySpreadConstraints)
	take(&p.Spec.InitContainers, model.Spec.InitContainers)
	take(&p.Spec.Containers, model.Spec.Containers)
	take(&p.Spec.Volumes, model.Spec.Volumes)
	take(&p.Spec.Priority, model.Spec.Priority)
	take(&p.Spec.PreemptionPolicy, model.Spec.PreemptionPolicy)
	take(&p.Spec.TerminationGracePeriodSeconds, model.Spec.TerminationGracePeriodSeconds)
	take(&p.Status.ContainerStatuses, model.Status.ContainerStatuses)
	p.Namespace, p.Spec.SchedulerName = intern(p.Namespace, model.Namespace), intern(p.Spec.SchedulerName, model.Spec.SchedulerName)
}

func take[T any](own *T, model T) {
	if equality.Semantic.DeepEqual(*own, model) {
		*own = model
	}
}

func intern(own, model string) string {
	if own == model {
		return model
	}
	return own
}
