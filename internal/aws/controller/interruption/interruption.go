// Package interruption acts on what AWS announces: it deletes the claims of instances that will be taken
// away, so that their pods leave while there is time, and tells the market which capacity is scarce at the
// moment.
//
// Two controllers: one waits for messages of the interruption queue, the other polls the
// status of instances. Replacements are bought because pods become pending, not from here.
package interruption

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/instanceevents"
	"tenon/core/catalog"
	"tenon/internal/aws/metrics"
	"tenon/internal/departure"
	"tenon/internal/lookup"
	"tenon/internal/parallel"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/telemetry"
)

// Queue is where messages come from. Receive waits a limited time for messages. A message that is not
// deleted comes again.
type Queue interface {
	Receive(ctx context.Context) ([]instanceevents.Message, error)
	Delete(ctx context.Context, m instanceevents.Message) error
}

// Shortages learns which capacity EC2 takes back and will therefore hardly sell at the moment.
type Shortages interface {
	SpotShort(instanceType, zone string)
	ReservationShort(id string)
}

type controller struct {
	kit       reconcile.Kit
	queue     Queue
	shortages Shortages
	metrics   *metrics.Metrics
	atOnce    int
}

// most is how many messages come at the same time.
const most = 10

// New makes the controller of the queue.
func New(kit reconcile.Kit, queue Queue, market Shortages, m *metrics.Metrics) reconcile.Controller {
	return At(kit, queue, market, m, most)
}

// At makes it so that it handles so many messages at the same time; one at a time starts no
// goroutine.
func At(kit reconcile.Kit, queue Queue, market Shortages, m *metrics.Metrics, atOnce int) reconcile.Controller {
	c := controller{kit, queue, market, m, atOnce}
	return reconcile.Controller{
		Name:      "interruption",
		Workers:   reconcile.One,
		Retry:     reconcile.Backoff{First: time.Second, Longest: time.Minute},
		Reconcile: c.reconcile,
	}
}

// reconcile receives messages from the queue once, and handles them in parallel.
func (c controller) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	messages, err := c.queue.Receive(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	if len(messages) == 0 {
		return reconcile.In(0), nil
	}
	claims, err := claimsByInstance(ctx, c.kit)
	if err != nil {
		return reconcile.Never, err
	}
	members, err := membersByInstance(ctx, c.kit)
	if err != nil {
		return reconcile.Never, err
	}
	return reconcile.In(0), parallel.Try(c.atOnce, messages, func(m instanceevents.Message) error { return c.handle(ctx, m, claims, members) })
}

// claimsByInstance finds claims by what notices know: the ID of the instance.
func claimsByInstance(ctx context.Context, kit reconcile.Kit) (map[string][]*karpenterv1.NodeClaim, error) {
	var list karpenterv1.NodeClaimList
	if err := kit.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	byInstance := map[string][]*karpenterv1.NodeClaim{}
	for i := range list.Items {
		claim := &list.Items[i]
		if _, id, ok := instance.Parse(claim.Status.ProviderID); ok {
			byInstance[id] = append(byInstance[id], claim)
		}
	}
	return byInstance, nil
}

// handle acts on one message, and deletes it once there is nothing left to do for it. One
// that cannot be read now will not be readable later either.
func (c controller) handle(ctx context.Context, m instanceevents.Message, claims map[string][]*karpenterv1.NodeClaim, members map[string]*corev1.Node) error {
	n, err := instanceevents.Parse(m.Body)
	if err != nil {
		reconcile.Log(ctx).Error(err, "failed parsing interruption message")
		return c.done(ctx, m)
	}
	c.metrics.InterruptionReceivedMessagesTotal.WithLabelValues(string(n.Kind)).Inc()
	again := false
	for _, id := range n.Instances {
		for _, claim := range claims[id] {
			if err := c.act(ctx, n, claim); err != nil {
				return fmt.Errorf("act on %s of instance %s: %w", n.Kind, id, err)
			}
		}
		if node := members[id]; node != nil && len(claims[id]) == 0 {
			early, err := c.actOnMember(ctx, n, node)
			if err != nil {
				return fmt.Errorf("act on %s of instance %s: %w", n.Kind, id, err)
			}
			again = again || early
		}
	}
	if again {
		return nil // the queue delivers it again
	}
	if !n.Time.IsZero() && n.Kind != instanceevents.Nothing {
		c.metrics.InterruptionMessageQueueDurationSeconds.WithLabelValues().Observe(c.kit.Clock.Now().Sub(n.Time).Seconds())
	}
	return c.done(ctx, m)
}

func (c controller) done(ctx context.Context, m instanceevents.Message) error {
	if err := c.queue.Delete(ctx, m); err != nil {
		return err
	}
	c.metrics.InterruptionDeletedMessagesTotal.WithLabelValues().Inc()
	return nil
}

// act does for one claim what a notice asks for.
func (c controller) act(ctx context.Context, n instanceevents.Notice, claim *karpenterv1.NodeClaim) error {
	node, err := nodeOf(ctx, c.kit, claim)
	if err != nil {
		return err
	}
	about := []client.Object{claim}
	if node != nil {
		about = append(about, node)
	}
	c.kit.Events.Publish(announce(n.Kind, about...)...)
	c.noteShortage(n.Kind, claim)
	if !ends(n.Kind) {
		return nil
	}
	if err := remove(ctx, c.kit, claim, node, removal.Reason(n.Kind), false); err != nil {
		return err
	}
	return c.date(ctx, n, claim)
}

// spotWarning is how long before its end the interruption of a spot instance is announced.
const spotWarning = 2 * time.Minute

// date writes on the claim when its machine ends, if the notice tells, so that its pods are not
// waited for beyond that. It comes after the deletion, which is more urgent; a notice whose date could
// not be written comes again.
func (c controller) date(ctx context.Context, n instanceevents.Notice, claim *karpenterv1.NodeClaim) error {
	if n.Kind != instanceevents.SpotInterrupted || claim.Annotations[departure.AnnotationEnds] != "" {
		return nil
	}
	at := n.Time
	if at.IsZero() {
		at = c.kit.Clock.Now()
	}
	dated := claim.DeepCopy()
	if dated.Annotations == nil {
		dated.Annotations = map[string]string{}
	}
	dated.Annotations[departure.AnnotationEnds] = at.Add(spotWarning).UTC().Format(time.RFC3339)
	if err := patch.Merge(ctx, c.kit, claim, dated); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write when the machine of claim %s ends: %w", claim.Name, err)
	}
	return nil
}

func (c controller) noteShortage(kind instanceevents.Kind, claim *karpenterv1.NodeClaim) {
	labels := claim.Labels
	switch {
	case kind == instanceevents.SpotInterrupted && labels[karpenterv1.LabelCapacityType] == catalog.Spot:
		c.shortages.SpotShort(labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelTopologyZone])
	case kind == instanceevents.ReservationInterrupted && labels[awsv1.LabelCapacityReservationID] != "":
		c.shortages.ReservationShort(labels[awsv1.LabelCapacityReservationID])
	}
}

// ends reports whether the instance will not be there much longer.
func ends(kind instanceevents.Kind) bool {
	return kind != instanceevents.RebalanceRecommended && kind != instanceevents.Nothing
}

// nodeOf is the claim's node, if it has joined.
func nodeOf(ctx context.Context, kit reconcile.Kit, claim *karpenterv1.NodeClaim) (*corev1.Node, error) {
	nodes, err := lookup.NodesOfClaim(ctx, kit.Client, claim)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	return nodes[0], nil
}

// remove deletes a claim. With force its pods get no time. The claim may have changed since the cache saw
// it, and there is no time to wait for the cache.
func remove(ctx context.Context, kit reconcile.Kit, claim *karpenterv1.NodeClaim, node *corev1.Node, why removal.Reason, force bool) error {
	return client.IgnoreNotFound(patch.Retry(ctx, kit, claim, func(claim *karpenterv1.NodeClaim) error {
		deleted, err := removeSeen(ctx, kit, claim, why, force)
		if deleted {
			kit.Events.Publish(terminating(claim, node)...)
			reconcile.Log(ctx).Info("initiating delete from interruption message", "NodeClaim", claim.Name, "reason", string(why))
		}
		return err
	}))
}

func removeSeen(ctx context.Context, kit reconcile.Kit, claim *karpenterv1.NodeClaim, why removal.Reason, force bool) (bool, error) {
	if force && claim.DeletionTimestamp == nil {
		hurried, err := endGracePeriod(ctx, kit, claim)
		if err != nil {
			return false, client.IgnoreNotFound(err)
		}
		claim = hurried
	}
	return removal.Delete(ctx, kit, claim, why)
}

// endGracePeriod gives the claim's pods no time, unless a deadline is set already.
func endGracePeriod(ctx context.Context, kit reconcile.Kit, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	if _, set := claim.Annotations[karpenterv1.AnnotationTerminationTimestamp]; set {
		return claim, nil
	}
	changed := claim.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[karpenterv1.AnnotationTerminationTimestamp] = kit.Clock.Now().UTC().Format(time.RFC3339)
	return changed, patch.IfUnchanged(ctx, kit, claim, changed)
}

// announce says on objects what is going to happen.
func announce(kind instanceevents.Kind, objects ...client.Object) []telemetry.Event {
	say := telemetry.Warning
	var reason, message string
	switch kind {
	case instanceevents.SpotInterrupted:
		reason, message = "SpotInterrupted", "Spot interruption warning was triggered"
	case instanceevents.RebalanceRecommended:
		say, reason, message = telemetry.Normal, "SpotRebalanceRecommendation", "Spot rebalance recommendation was triggered"
	case instanceevents.ReservationInterrupted:
		reason, message = "CapacityReservationInstanceInterrupted", "Capacity Reservation interruption warning was triggered"
	case instanceevents.InstanceStopped:
		reason, message = "InstanceStopping", "Instance is stopping"
	case instanceevents.InstanceTerminated:
		reason, message = "InstanceTerminating", "Instance is terminating"
	case instanceevents.ScheduledChange:
		reason, message = unhealthy, unhealthyMessage
	default:
		return nil
	}
	var events []telemetry.Event
	for _, o := range objects {
		events = append(events, say(o, reason, message))
	}
	return events
}

const (
	unhealthy        = "InstanceUnhealthy"
	unhealthyMessage = "An unhealthy warning was triggered for the instance"
)

func both(claim *karpenterv1.NodeClaim, node *corev1.Node, event func(client.Object) telemetry.Event) []telemetry.Event {
	events := []telemetry.Event{event(claim)}
	if node != nil {
		events = append(events, event(node))
	}
	return events
}

func terminating(claim *karpenterv1.NodeClaim, node *corev1.Node) []telemetry.Event {
	events := []telemetry.Event{telemetry.Warning(claim, "TerminatingOnInterruption", "Interruption triggered termination for the NodeClaim")}
	if node != nil {
		events = append(events, telemetry.Warning(node, "TerminatingOnInterruption", "Interruption triggered termination for the Node"))
	}
	return events
}
