package comparison_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/internal/assembly"
	"tenon/internal/controller/comparison"
	"tenon/internal/journal"
	"tenon/internal/market"
	"tenon/internal/reconcile"
	"tenon/internal/shadow"
	"tenon/internal/testing/harness"
	"tenon/internal/world"
)

// watched is a cluster that another autoscaler runs, and the comparison that looks at it.
type watched struct {
	*harness.Harness
	world  *world.World
	record *shadow.Record
	loop   reconcile.Controller
	kept   *journal.Journal
	synced bool
}

type sample struct{}

func (sample) Catalog(context.Context, *karpenterv1.NodePool) (*catalog.Catalog, error) {
	return memory.Sample(), nil
}

func watch(t *testing.T) *watched {
	w := &watched{Harness: harness.New(t, memory.Options{}), record: shadow.NewRecord(), synced: true}
	w.world = assembly.World(w.Kit)
	var err error
	if w.kept, err = journal.Open(journal.Options{Bytes: 1 << 20}, w.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	w.loop = comparison.New(w.Kit, comparison.Options{
		World: w.world, Supply: market.NewSupply(w.Clock, sample{}, nil), Synced: func() bool { return w.synced }, Record: w.record,
		Journal: w.kept,
	})
	pool := harness.Pool("default")
	conditions := pool.Conditions(time.Unix(0, 0))
	conditions.SetTrue(karpenterv1.ConditionValidationSucceeded)
	conditions.SetTrue(karpenterv1.ConditionNodeClassReady)
	pool.Status.Conditions = conditions.List()
	w.world.Put(pool)
	return w
}

// wait has so many pods that the scheduler has refused.
func (w *watched) wait(n int) {
	for i := range n {
		w.world.Put(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web-", i), UID: types.UID(fmt.Sprint("uid-", i)), CreationTimestamp: metav1.NewTime(w.Clock.Now())},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}},
		})
	}
}

// Pods that wait have a purchase in the record and in the metrics, and nothing is written: neither objects nor machines.
func TestItDecidesAndWritesNothing(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.wait(3)
	w.Run(w.loop, "")
	report := w.record.Report()
	if report.Looks != 1 || report.Pending != 3 || report.Unplanned != 0 || report.Tenon.Nodes == 0 || report.Incumbent.Nodes != 0 {
		t.Errorf("report %+v", report)
	}
	if len(report.Latest) != 1 || !strings.Contains(report.Latest[0].Text, "3 pods") {
		t.Errorf("would have done %v, want a purchase for 3 pods", report.Latest)
	}
	if got := w.Series("", w.Kit.Metrics.ShadowNodes); !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "tenon") && !strings.HasSuffix(line, " 0") }) {
		t.Errorf("metrics %v", got)
	}
	for _, c := range w.Calls() {
		if c.IsWrite() {
			t.Errorf("call %+v", c)
		}
	}
	if machines := w.Far.Instances(); len(machines) != 0 {
		t.Errorf("machines %v", machines)
	}
}

// The journal has each decision, and how the two stand: a process that starts later goes on from there, and counts neither the
// time between nor the nodes that came in it.
func TestTheJournalHasTheComparison(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.wait(3)
	w.Run(w.loop, "")
	entries, err := journal.Entries(t.Context(), w.kept)
	if err != nil || len(entries) != 1 || entries[0].By != "comparison" || len(entries[0].Launches) == 0 {
		t.Errorf("decisions %+v, %v", entries, err)
	}
	report, err := journal.Comparison(t.Context(), w.kept)
	if err != nil || report.Looks != 1 || report.Tenon.BoughtMilli == 0 {
		t.Fatalf("report %+v, %v", report, err)
	}
	next := shadow.NewRecord()
	next.Resume(report)
	later := report.At.Add(time.Hour)
	next.See(shadow.Look{At: later, Nodes: map[string]shadow.Node{"came": {Price: 1}}})
	got := next.Report()
	if got.Looks != 2 || !got.Since.Equal(report.Since) || got.Tenon.BoughtMilli != report.Tenon.BoughtMilli || got.Incumbent.BoughtMilli != 0 || got.Incumbent.CostMicros != 0 {
		t.Errorf("after a restart %+v, before %+v", got, report)
	}
}

// A Cluster Autoscaler answers to pods with nodes that no pool made: they are counted as bought by the incumbent, at the
// catalogue's price, and Tenon would give up none of them.
func TestBesideAClusterAutoscaler(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.Run(w.loop, "")
	w.wait(3)
	w.Clock.Step(time.Second)
	w.Run(w.loop, "")
	offer := memory.Sample().Types[0]
	w.world.Put(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "group-1", Labels: map[string]string{
			corev1.LabelInstanceTypeStable: offer.Name, corev1.LabelTopologyZone: offer.Offerings[0].Zone, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		}},
		Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	})
	w.Clock.Step(time.Minute)
	w.Run(w.loop, "")
	report := w.record.Report()
	if report.Incumbent.Nodes != 1 || report.Incumbent.BoughtMilli != 1000 || report.Incumbent.PriceMicros == 0 {
		t.Errorf("incumbent %+v", report.Incumbent)
	}
	if report.Tenon.BoughtMilli == 0 || report.Tenon.GivenUp != 0 {
		t.Errorf("Tenon %+v", report.Tenon)
	}
}

// Before the picture of the cluster is whole, nothing is compared.
func TestItWaitsForTheWholePicture(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.synced = false
	if again := w.Run(w.loop, "").After; again != time.Second || w.record.Report().Looks != 0 {
		t.Errorf("again in %s after %d looks, want 1s after none", again, w.record.Report().Looks)
	}
}

// Changes that follow each other are looked at together.
func TestItLooksAtMostFourTimesASecond(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.Run(w.loop, "")
	w.Clock.Step(100 * time.Millisecond)
	w.wait(1)
	again := w.Run(w.loop, "").After
	if again != 150*time.Millisecond || w.record.Report().Looks != 1 {
		t.Errorf("again in %s after %d looks, want 150ms after one", again, w.record.Report().Looks)
	}
	w.Clock.Step(again)
	if w.Run(w.loop, ""); w.record.Report().Looks != 2 || w.record.Report().Pending != 1 {
		t.Errorf("report %+v, want a second look and its pod", w.record.Report())
	}
}
