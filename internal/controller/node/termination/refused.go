package termination

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/departure"
	"tenon/internal/drain"
	"tenon/internal/nodegroup"
	"tenon/internal/patch"
	"tenon/internal/telemetry"
)

// refused counts the drain of a node as a failed scale-down, by the rules of Cluster Autoscaler, if the pods of the present group do
// not begin to leave for too long. It goes on: a node that is being deleted cannot stay. Since when they should leave is written on
// the node, so that a restart does not begin anew.
func (c *controller) refused(ctx context.Context, p *pass, d drain.Decision) error {
	longest := c.Settings.GroupDrain.MaxEviction
	if p.Claim != nil || longest == 0 || len(d.Steps) == 0 || !departure.ByAutoscaler(p.Node) {
		return nil
	}
	group, now := fmt.Sprint(int(d.Turn)), p.State.Now
	said := strings.Fields(p.Node.Annotations[tenonv1alpha1.AnnotationEvicting])
	if len(said) < 2 || said[0] != group {
		return c.writeEvicting(ctx, p, group, now.UTC().Format(time.RFC3339))
	}
	since, err := time.Parse(time.RFC3339, said[1])
	switch {
	case err != nil:
		return c.writeEvicting(ctx, p, group, now.UTC().Format(time.RFC3339))
	case len(said) > 2 || now.Sub(since) < longest:
		return nil
	}
	object, err := c.groupOf(ctx, p.Node)
	if err != nil || object == nil {
		return err
	}
	for _, step := range d.Steps {
		c.Events.Publish(drain.NotScaledDown(p.Node, step.Pod, longest))
		c.Metrics.ClusterAutoscalerEvictedPodsTotal.WithLabelValues("failed").Inc()
	}
	text := fmt.Sprintf("%d pods could not be evicted within %s; evictions are tried further", len(d.Steps), longest)
	nodegroup.TellNode(c.Kit, object, p.Node, telemetry.Warning(nil, eventScaleDownFailed, text, p.Node.Name, "pods"))
	if err := nodegroup.Refused(ctx, c.Kit, object); err != nil {
		return err
	}
	return c.writeEvicting(ctx, p, group, said[1], "failed")
}

func (c *controller) writeEvicting(ctx context.Context, p *pass, words ...string) error {
	told := p.Node.DeepCopy()
	if told.Annotations == nil {
		told.Annotations = map[string]string{}
	}
	told.Annotations[tenonv1alpha1.AnnotationEvicting] = strings.Join(words, " ")
	if err := patch.Merge(ctx, c.Kit, p.Node, told); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write on node %s since when pods are evicted: %w", p.Node.Name, err)
	}
	return nil
}
