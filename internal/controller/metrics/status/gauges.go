package status

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// gauges tell how all objects of a kind are now. Only the empty key's calls touch them, and
// those never come twice at the same time.
type gauges struct {
	kit     reconcile.Kit
	kind    kind
	targets []target
	shown   map[string][][]string
	last    time.Time
	told    int // objects, at last
}

func newGauges(kit reconcile.Kit, k kind, targets []target) *gauges {
	return &gauges{kit: kit, kind: k, targets: targets, shown: map[string][][]string{}}
}

// refresh sets the gauges again. Every change of an object asks for it; it runs at most every ten seconds,
// and less often with many objects.
func (w *watcher) refresh(ctx context.Context) (reconcile.Result, error) {
	g, now := w.gauges, w.kit.Clock.Now()
	if wait := pause(g.told) - now.Sub(g.last); !g.last.IsZero() && wait > 0 {
		return reconcile.In(wait), nil
	}
	list := g.kind.list()
	if err := g.kit.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list %ss: %w", g.kind.name, err)
	}
	var objects []client.Object
	_ = apimeta.EachListItem(list, func(o runtime.Object) error { // our own function never fails
		if object := o.(client.Object); g.kind.ours(object) {
			objects = append(objects, object)
		}
		return nil
	})
	for i, t := range g.targets {
		g.tell(i, t, objects, now)
	}
	g.last, g.told = now, len(objects)
	return reconcile.In(pause(g.told)), nil
}

// pause is how long to wait until the next round with so many objects. Every one of them has half a
// dozen conditions, and most people look every half a minute.
func pause(objects int) time.Duration {
	return min(refreshEvery*time.Duration(1+objects/few), scrape)
}

func (g *gauges) tell(i int, t target, objects []client.Object, now time.Time) {
	share := telemetry.Share(g.kit.Settings.MetricsSeries)
	joined := func(name string, labels ...string) *telemetry.JoinedGauge {
		return telemetry.NewJoinedGauge(name, share, append(labels, t.metrics.Tail...)...)
	}
	count := joined("count", "namespace", "name", "type", "status", "reason")
	current := joined("current_status_seconds", "namespace", "name", "type", "status", "reason")
	ending := joined("termination_current_time_seconds", "namespace", "name")
	for _, o := range objects {
		values := t.tail(o)
		for _, c := range g.kind.conditions(o) {
			row := append([]string{o.GetNamespace(), o.GetName(), c.Type, string(c.Status), c.Reason}, values...)
			count.Add(1, row...)
			current.Add(age(c, now), row...)
		}
		if deleted := o.GetDeletionTimestamp(); deleted != nil {
			ending.Add(now.Sub(deleted.Time).Seconds(), append([]string{o.GetNamespace(), o.GetName()}, values...)...)
		}
	}
	for name, pair := range map[string]struct {
		joined *telemetry.JoinedGauge
		gauge  *prometheus.GaugeVec
	}{
		"count":   {count, t.metrics.StatusConditionCount},
		"current": {current, t.metrics.StatusConditionCurrentStatusSeconds},
		"ending":  {ending, t.metrics.TerminationCurrentTimeSeconds},
	} {
		key := fmt.Sprint(name, i)
		g.shown[key] = pair.joined.Replace(pair.gauge, g.shown[key])
	}
}

func age(c metav1.Condition, now time.Time) float64 {
	return max(now.Sub(c.LastTransitionTime.Time).Seconds(), 0)
}
