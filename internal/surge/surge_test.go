package surge_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tenon/internal/surge"
)

// fixture is a pod of a Deployment with one replica that wants to be replaced before it goes.
type fixture struct {
	pod        *corev1.Pod
	set        *appsv1.ReplicaSet
	deployment *appsv1.Deployment
	claims     []*corev1.PersistentVolumeClaim
	denied     string
}

func usual() *fixture {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}, Annotations: map[string]string{surge.Annotation: "true"}}}
	s := &fixture{pod: &corev1.Pod{}, set: &appsv1.ReplicaSet{}, deployment: &appsv1.Deployment{}}
	s.deployment.Namespace, s.deployment.Name, s.deployment.Spec.Template = "default", "web", template
	s.deployment.Generation, s.deployment.Status.ObservedGeneration = 1, 1
	s.set.Name, s.set.Spec.Template = "web-1", *template.DeepCopy()
	s.set.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = "1"
	s.set.OwnerReferences = owner("Deployment", "web")
	s.pod.Name, s.pod.UID, s.pod.Annotations = "web-1-x", "uid-x", template.Annotations
	s.pod.OwnerReferences, s.pod.Status.Phase = owner("ReplicaSet", "web-1"), corev1.PodRunning
	return s
}

func owner(kind, name string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, Controller: &yes}}
}

func (s *fixture) next() string {
	step := surge.Next(s.pod, surge.Workload{Set: s.set, Deployment: s.deployment, Claims: s.claims, Denied: s.denied})
	return []string{"evict", "roll", "wait"}[step.Verb] + strings.TrimSuffix(": "+step.Why, ": ")
}

func (s *fixture) rolling(up, down string) {
	u, d := intstr.Parse(up), intstr.Parse(down)
	s.deployment.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: &u, MaxUnavailable: &d}
}

func (s *fixture) progressing(is corev1.ConditionStatus, reason string) {
	s.deployment.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: is, Reason: reason}}
}

func (s *fixture) unready() {
	s.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
}

func (s *fixture) ask() { s.deployment = surge.Ask(s.deployment, s.pod) }

func (s *fixture) mount(modes ...corev1.PersistentVolumeAccessMode) {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name, claim.Spec.AccessModes = "data", modes
	s.claims = append(s.claims, claim)
}

// Who is replaced before it goes, and what keeps the others from it.
func TestPodsThatAreReplaced(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*fixture)
		want   string
	}{
		"the single pod of a Deployment":       {func(*fixture) {}, "roll"},
		"with the bounds that people write":    {func(s *fixture) { s.rolling("1", "0") }, "roll"},
		"a quarter of one pod is none missing": {func(s *fixture) { s.rolling("25%", "25%") }, "roll"},
		"it may be missing":                    {func(s *fixture) { s.rolling("1", "1") }, "evict: maxUnavailable of Deployment default/web comes to 1 of 1 pod"},
		"all may be missing":                   {func(s *fixture) { s.rolling("25%", "100%") }, "evict: maxUnavailable of Deployment default/web comes to 1 of 1 pod"},
		"none may be added":                    {func(s *fixture) { s.rolling("0", "0") }, "evict: maxSurge of Deployment default/web comes to 0"},
		"a bound that cannot be read":          {func(s *fixture) { s.rolling("some", "0") }, "evict: maxSurge of Deployment default/web comes to 0"},
		"replicas that are not said are one":   {func(s *fixture) { s.deployment.Spec.Replicas = nil }, "roll"},
		"one of three":                         {func(s *fixture) { s.deployment.Spec.Replicas = new(int32(3)) }, "evict: Deployment default/web has 3 replicas, and only single ones are replaced before they go"},
		"ended before others are made":         {func(s *fixture) { s.deployment.Spec.Strategy.Type = "Recreate" }, "evict: Deployment default/web has strategy Recreate, which ends pods first"},
		"a Deployment that goes":               {func(s *fixture) { s.deployment.DeletionTimestamp = &metav1.Time{} }, "evict: Deployment default/web is being deleted"},
		"a Deployment that is paused":          {func(s *fixture) { s.deployment.Spec.Paused = true }, "evict: Deployment default/web is paused"},
		"which does not ask itself":            {func(s *fixture) { s.deployment.Spec.Template.Annotations = nil }, "evict: Deployment default/web does not have the annotation tenon.sh/surge in its template"},
		"a volume for one node":                {func(s *fixture) { s.mount("ReadWriteOnce") }, "evict: its volume claim data can be used on one node only"},
		"a volume for one pod":                 {func(s *fixture) { s.mount("ReadWriteMany"); s.mount("ReadWriteOncePod") }, "evict: its volume claim data can be used on one node only"},
		"a volume for all":                     {func(s *fixture) { s.mount("ReadWriteOnce", "ReadWriteMany"); s.mount("ReadOnlyMany") }, "roll"},
		"of a StatefulSet":                     {func(s *fixture) { s.pod.OwnerReferences = owner("StatefulSet", "db") }, "evict: StatefulSet db made it, and only Deployments can replace pods before they go"},
		"without an owner":                     {func(s *fixture) { s.pod.OwnerReferences = nil }, "evict: nothing makes it again"},
		"of a ReplicaSet that is gone":         {func(s *fixture) { s.set, s.deployment = nil, nil }, "evict: its ReplicaSet web-1 is gone"},
		"of a ReplicaSet alone":                {func(s *fixture) { s.set.OwnerReferences, s.deployment = nil, nil }, "evict: its ReplicaSet web-1 has no Deployment"},
		"of something like a Deployment":       {func(s *fixture) { s.set.OwnerReferences, s.deployment = owner("Rollout", "web"), nil }, "evict: Rollout web made its ReplicaSet, and only Deployments can replace pods before they go"},
		"of a Deployment that is gone":         {func(s *fixture) { s.deployment = nil }, "evict: its ReplicaSet web-1 has no Deployment"},
		"reads are forbidden":                  {func(s *fixture) { s.denied, s.deployment = "forbidden", nil }, "evict: forbidden"},
		"a pod that is not ready":              {func(s *fixture) { s.unready() }, "evict: it is not Ready, so that nothing is lost by its eviction"},
		"a pod that has not started":           {func(s *fixture) { s.pod.Status.Phase = corev1.PodPending }, "evict: it is not Ready, so that nothing is lost by its eviction"},
		"an earlier roll-out that was stuck":   {func(s *fixture) { s.progressing("False", "ProgressDeadlineExceeded") }, "roll"},
		"another pod has been replaced before": {func(s *fixture) { *s = *replacedBefore() }, "roll"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := usual()
			tc.change(s)
			if got := s.next(); got != tc.want {
				t.Errorf("\ngot  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// replacedBefore is a pod that took another's place, and has to go itself now.
func replacedBefore() *fixture {
	s := usual()
	for _, t := range []*corev1.PodTemplateSpec{&s.deployment.Spec.Template, &s.set.Spec.Template} {
		t.Annotations[surge.AnnotationFor] = "uid-of-an-earlier-one"
	}
	return s
}

// How a roll-out is followed, and when there is no hope for it.
func TestRollOut(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*fixture)
		want   string
	}{
		"it has begun":                    {func(*fixture) {}, "wait"},
		"it goes on":                      {func(s *fixture) { s.progressing("True", "ReplicaSetUpdated") }, "wait"},
		"it is stuck":                     {func(s *fixture) { s.progressing("False", "ProgressDeadlineExceeded") }, "evict: the roll-out of Deployment default/web is stuck (ProgressDeadlineExceeded)"},
		"what was stuck was an earlier":   {func(s *fixture) { s.progressing("False", "ProgressDeadlineExceeded"); s.deployment.Generation++ }, "wait"},
		"a user pauses it":                {func(s *fixture) { s.deployment.Spec.Paused = true }, "evict: Deployment default/web is paused"},
		"a user scales up":                {func(s *fixture) { s.deployment.Spec.Replicas = new(int32(2)) }, "wait"},
		"the old pod is not Ready now":    {func(s *fixture) { s.unready() }, "wait"},
		"the template of the set is lost": {func(s *fixture) { s.set.Spec.Template = corev1.PodTemplateSpec{} }, "wait"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := usual()
			s.ask()
			tc.change(s)
			if got := s.next(); got != tc.want {
				t.Errorf("\ngot  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// A roll-out that others have begun replaces the pod just as well: nothing more is asked.
func TestRollOutOfOthers(t *testing.T) {
	t.Parallel()
	s := usual()
	s.deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "new"}}
	if got := s.next(); got != "wait" {
		t.Errorf("got %s", got)
	}
	s.unready()
	if got := s.next(); got != "wait" {
		t.Errorf("once the pod is not Ready, got %s", got)
	}
	s.deployment.Spec.Replicas = new(int32(3))
	if got := s.next(); !strings.HasPrefix(got, "evict: Deployment default/web has 3 replicas") {
		t.Errorf("of three pods, got %s", got)
	}
}

// Asking twice for one pod changes nothing, and does not change what was given.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	s := usual()
	before := s.deployment
	s.ask()
	first := s.deployment
	s.ask()
	if surge.Asked(before, s.pod) || before.Spec.Template.Annotations[surge.AnnotationFor] != "" {
		t.Error("the Deployment that was given has changed")
	}
	if !surge.Asked(first, s.pod) || s.deployment.Spec.Template.Annotations[surge.AnnotationFor] != "uid-x" || s.deployment.Spec.Template.Annotations[surge.Annotation] != "true" {
		t.Errorf("asked with %v", s.deployment.Spec.Template.Annotations)
	}
}

// What can be told by looking at a pod alone.
func TestForeseeable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*fixture)
		want   bool
	}{
		"of a ReplicaSet":                  {func(*fixture) {}, true},
		"that does not ask":                {func(s *fixture) { s.pod.Annotations = nil }, false},
		"with another value":               {func(s *fixture) { s.pod.Annotations = map[string]string{surge.Annotation: "yes"} }, false},
		"of a StatefulSet":                 {func(s *fixture) { s.pod.OwnerReferences = owner("StatefulSet", "db") }, false},
		"of a ReplicaSet that is gone":     {func(s *fixture) { s.set, s.deployment = nil, nil }, false},
		"whose Deployment does not ask":    {func(s *fixture) { s.deployment.Spec.Template.Annotations = nil }, false},
		"whose Deployment ends pods first": {func(s *fixture) { s.deployment.Spec.Strategy.Type = "Recreate" }, false},
		"with a volume for one node":       {func(s *fixture) { s.mount("ReadWriteOnce") }, false},
		"without an owner":                 {func(s *fixture) { s.pod.OwnerReferences = nil }, false},
		"that is not Ready":                {func(s *fixture) { s.unready() }, false},
		"that waits for a node":            {func(s *fixture) { s.pod.Status.Phase = corev1.PodPending }, false},
		"that was made to replace others":  {func(s *fixture) { s.pod.Annotations[surge.AnnotationFor] = "uid-y" }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := usual()
			tc.change(s)
			if got := surge.Foreseeable(s.pod, surge.Workload{Set: s.set, Deployment: s.deployment, Claims: s.claims}); got != tc.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// A replacement names the pod that it replaces, while it lives.
func TestReplaces(t *testing.T) {
	t.Parallel()
	s := usual()
	if got := surge.Replaces(s.pod); got != "" {
		t.Errorf("a usual pod replaces %q", got)
	}
	s.pod.Annotations = map[string]string{surge.AnnotationFor: "uid-y"}
	if got := surge.Replaces(s.pod); got != "uid-y" {
		t.Errorf("replaces %q", got)
	}
	s.pod.DeletionTimestamp = &metav1.Time{}
	if got := surge.Replaces(s.pod); got != "" {
		t.Errorf("one that ends replaces %q", got)
	}
}
