package world_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/instancetype"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// platform is a world with a DaemonSet whose template asks for 100m.
type platform struct{ *world.World }

func newPlatform() platform {
	p := platform{world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, testclock.NewFakePassiveClock(noon))}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent", UID: "agent"}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: requesting("100m")}}
	p.Put(set)
	return p
}

func requesting(cpu string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
}

// agent is a daemon pod on its own node, made so many minutes after noon.
func agent(minute int, cpu string, change ...func(*corev1.Pod)) *corev1.Pod {
	yes := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprint("agent-", minute), UID: types.UID(fmt.Sprint("agent-", minute)), CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute)),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "agent", Controller: &yes}},
		},
		Spec: corev1.PodSpec{NodeName: fmt.Sprint("node-", minute), Containers: []corev1.Container{{Name: "c", Resources: requesting(cpu)}}},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// takes checks how many thousandths of a CPU daemons take of a new node.
func (p platform) takes(t *testing.T, when string, want int64) {
	t.Helper()
	s := p.Picture(world.Moment{Now: noon.Add(time.Hour)}).Snapshot
	if got := s.Templates[s.Daemons[0].Template].Requests.CPU; got != want {
		t.Errorf("%s: daemons take %dm of a new node, want %dm", when, got, want)
	}
}

// TestWhatAdmissionMadeOfDaemonsIsRemembered: the newest pod says what the next one asks for. When it
// goes, the pod before it says so, and when it changes, its new state counts.
func TestWhatAdmissionMadeOfDaemonsIsRemembered(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.takes(t, "without a pod", 100)
	p.Put(agent(1, "200m"))
	p.Put(agent(3, "400m"))
	p.Put(agent(2, "300m"))
	p.takes(t, "with three pods", 400)
	p.Put(agent(3, "450m"))
	p.takes(t, "the last one is resized", 450)
	p.Put(agent(1, "999m"))
	p.takes(t, "an older one is resized", 450)
	p.Remove(agent(3, "450m"))
	p.takes(t, "the last one goes", 300)
	p.Put(agent(2, "300m", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))
	p.takes(t, "the next one has failed", 999)
	p.Put(agent(1, "999m", func(p *corev1.Pod) { p.OwnerReferences = nil }))
	p.takes(t, "the last one that is left is let go", 100)
	p.Put(agent(4, "600m", func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another" }))
	p.takes(t, "a DaemonSet of that name has one, which is gone", 100)
}

// TestADaemonSetThatIsMadeAnew: the pods of a deleted DaemonSet say nothing about one made later with its
// name.
func TestADaemonSetThatIsMadeAnew(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.Put(agent(1, "200m"))
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent", UID: "agent-anew"}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: requesting("50m")}}
	p.Put(set)
	p.takes(t, "with a pod of the one before", 50)
}
