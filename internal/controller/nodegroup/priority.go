package nodegroup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/expand"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// Events of the ConfigMap of priorities, as Cluster Autoscaler has them.
const (
	eventPrioritiesInvalid = "PriorityConfigMapInvalid"
	eventNotMatched        = "PriorityConfigMapNotMatchedGroup"
	eventNoneMatched       = "PriorityConfigMapNoGroupMatched"
)

// priorities are the priorities that the expander priority gives to groups in mode cas. They are unread if the ConfigMap could not be
// read; then the objects keep their priorities.
type priorities struct {
	unread bool
	of     expand.Priorities
	// mistake is why the ConfigMap has none, and what to do; empty if it can be read.
	mistake string
}

// hinders is what is wrong with the priorities of a group; empty if nothing is.
func (p *priorities) hinders(o *tenonv1alpha1.NodeGroup) string {
	if o.Spec.Mode != tenonv1alpha1.ModeCAS {
		return ""
	}
	return p.mistake
}

// lookPriorities reads the ConfigMap if the expander priority is set and a group is in mode cas, and publishes events about its
// mistakes.
func (w watcher) lookPriorities(ctx context.Context, s *seen) priorities {
	var names []string // of groups in the cloud
	for _, o := range s.objects {
		if o.Spec.Mode == tenonv1alpha1.ModeCAS {
			names = append(names, o.Spec.GroupName)
		}
	}
	if len(names) == 0 || !slices.Contains(strings.Split(w.kit.Settings.Expander, ","), expand.Priority) {
		return priorities{}
	}
	slices.Sort(names)
	var stored corev1.ConfigMap
	key := client.ObjectKey{Namespace: clusterautoscaler.Namespace, Name: clusterautoscaler.PriorityConfigMap}
	switch err := w.kit.Uncached(reconcile.Unwatched).Get(ctx, key, &stored); {
	case apierrors.IsNotFound(err):
		return priorities{}
	case err != nil:
		reconcile.Log(ctx).Error(err, "could not read the priorities of node groups", "ConfigMap", key.String())
		return priorities{unread: true}
	}
	read, err := clusterautoscaler.Priorities(&stored)
	if err != nil {
		mistake := "No priorities count: " + err.Error()
		w.kit.Events.Publish(telemetry.Warning(&stored, eventPrioritiesInvalid, mistake, string(stored.UID)))
		return priorities{mistake: withRemedy(mistake, "correct the ConfigMap "+key.String())}
	}
	w.tellUnmatched(&stored, read, names)
	return priorities{of: read}
}

func (w watcher) tellUnmatched(stored *corev1.ConfigMap, read expand.Priorities, groups []string) {
	unmatched := slices.DeleteFunc(slices.Clone(groups), func(group string) bool { _, matched := read.Of(group); return matched })
	if len(unmatched) == len(groups) {
		w.kit.Events.Publish(telemetry.Warning(stored, eventNoneMatched, "No pattern matches a group in mode cas, so no priorities count", string(stored.UID)))
		return
	}
	for _, group := range unmatched {
		text := fmt.Sprintf("No pattern matches group %s, which grows only where no other group can", group)
		w.kit.Events.Publish(telemetry.Warning(stored, eventNotMatched, text, string(stored.UID), group))
	}
}

// tellPriority writes the priority of a group into its object.
func tellPriority(o *tenonv1alpha1.NodeGroup, p *priorities) {
	if p.unread {
		return
	}
	o.Status.Priority = nil
	if o.Spec.Mode != tenonv1alpha1.ModeCAS {
		return
	}
	if number, matched := p.of.Of(o.Spec.GroupName); matched {
		priority := int64(number)
		o.Status.Priority = &priority
	}
}
