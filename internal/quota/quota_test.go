package quota_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/quota"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

type change func(*corev1.Pod)

// pod asks for half a core and a GiB, and may have a core.
func pod(changes ...change) *corev1.Pod {
	p := &corev1.Pod{}
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: list("cpu", "500m", "memory", "1Gi"), Limits: list("cpu", "1"),
	}}}
	for _, c := range changes {
		c(p)
	}
	return p
}

func asking(requests corev1.ResourceList) change {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests} }
}

func class(name string) change { return func(p *corev1.Pod) { p.Spec.PriorityClassName = name } }

func deadline(p *corev1.Pod) { seconds := int64(60); p.Spec.ActiveDeadlineSeconds = &seconds }

func nothing(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} }

func near(term corev1.PodAffinityTerm) change {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: term}}}}
	}
}

func counted(used, hard corev1.ResourceList) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{}
	q.Spec.Hard, q.Status.Hard, q.Status.Used = hard, hard, used
	return q
}

// How many pods a quota has room for. Kubernetes, "Resource Quotas": requests.cpu: "Across all pods
// in a non-terminal state, the sum of CPU requests cannot exceed this value", cpu is the "same as
// requests.cpu", pods is "the total number of Pods in a non-terminal state that can exist in the
// namespace", and for extended resources "only quota items with prefix requests. are allowed".
func TestRoom(t *testing.T) {
	t.Parallel()
	gpu := asking(list("nvidia.com/gpu", "2", "cpu", "1"))
	for name, tc := range map[string]struct {
		used, hard corev1.ResourceList
		pod        *corev1.Pod
		want       int
	}{
		"pods":                       {list("pods", "3"), list("pods", "10"), pod(), 7},
		"count of pods":              {list("count/pods", "3"), list("count/pods", "10"), pod(), 7},
		"CPU":                        {list("cpu", "1"), list("cpu", "3"), pod(), 4},
		"requests of CPU":            {list("requests.cpu", "1"), list("requests.cpu", "3200m"), pod(), 4},
		"limits of CPU":              {list("limits.cpu", "1"), list("limits.cpu", "3"), pod(), 2},
		"memory":                     {nil, list("requests.memory", "2500Mi"), pod(), 2},
		"the least of several":       {list("pods", "1", "cpu", "1"), list("pods", "4", "cpu", "2"), pod(), 2},
		"an extended resource":       {list("requests.nvidia.com/gpu", "2"), list("requests.nvidia.com/gpu", "7"), pod(gpu), 2},
		"what the pod does not ask":  {list("requests.nvidia.com/gpu", "7"), list("requests.nvidia.com/gpu", "7"), pod(), 100},
		"more than there is":         {list("pods", "12"), list("pods", "10"), pod(), 0},
		"amounts beyond all numbers": {list("cpu", "1e30"), list("cpu", "1e40"), pod(), 0},
		"a quota without end":        {nil, list("cpu", "1e40"), pod(), 100},
		"a negative one":             {nil, list("pods", "-5"), pod(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			room := quota.Of([]*corev1.ResourceQuota{counted(tc.used, tc.hard)})
			if got := room.Take(tc.pod, 100); got != tc.want {
				t.Errorf("room for %d, want %d", got, tc.want)
			}
			if got := room.Take(tc.pod, 100); tc.want < 100 && got != 0 {
				t.Errorf("and for %d more, want none", got)
			}
		})
	}
}

// TestNoQuota: a namespace without quotas has room for everything.
func TestNoQuota(t *testing.T) {
	t.Parallel()
	if got := quota.Of(nil).Take(pod(), 100); got != 100 {
		t.Errorf("room for %d, want 100", got)
	}
	uncounted := &corev1.ResourceQuota{}
	uncounted.Spec.Hard = list("pods", "10")
	if got := quota.Of([]*corev1.ResourceQuota{uncounted}).Take(pod(), 100); got != 0 {
		t.Errorf("a quota that is not counted yet has room for %d, want 0", got)
	}
}

// Which pods a quota counts. Kubernetes, "Resource Quotas", quota scopes: Terminating: "Match pods
// where .spec.activeDeadlineSeconds >= 0"; BestEffort: "Match pods that have best effort quality of
// service"; PriorityClass: "Match pods that references the specified priority class";
// CrossNamespacePodAffinity: "Match pods that have cross-namespace pod (anti)affinity terms".
func TestScopes(t *testing.T) {
	t.Parallel()
	selects := func(operator corev1.ScopeSelectorOperator, values ...string) corev1.ResourceQuotaSpec {
		return corev1.ResourceQuotaSpec{ScopeSelector: &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
			{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: operator, Values: values}}}}
	}
	scoped := func(scopes ...corev1.ResourceQuotaScope) corev1.ResourceQuotaSpec {
		return corev1.ResourceQuotaSpec{Scopes: scopes}
	}
	for name, tc := range map[string]struct {
		spec   corev1.ResourceQuotaSpec
		pod    *corev1.Pod
		counts bool
	}{
		"without a scope":                    {scoped(), pod(), true},
		"that ends":                          {scoped("Terminating"), pod(deadline), true},
		"that does not end":                  {scoped("Terminating"), pod(), false},
		"that does not end, for those":       {scoped("NotTerminating"), pod(), true},
		"that ends, for those that do not":   {scoped("NotTerminating"), pod(deadline), false},
		"that asks for nothing":              {scoped("BestEffort"), pod(nothing), true},
		"that asks for something":            {scoped("BestEffort"), pod(), false},
		"that asks for a GPU alone":          {scoped("BestEffort"), pod(asking(list("nvidia.com/gpu", "1"))), true},
		"that asks, for those that do":       {scoped("NotBestEffort"), pod(), true},
		"that does not, for those that do":   {scoped("NotBestEffort"), pod(nothing), false},
		"with two scopes that match":         {scoped("NotTerminating", "NotBestEffort"), pod(), true},
		"with two scopes of which one does":  {scoped("Terminating", "NotBestEffort"), pod(), false},
		"of any class":                       {scoped("PriorityClass"), pod(class("high")), true},
		"of no class":                        {scoped("PriorityClass"), pod(), false},
		"of a class that is listed":          {selects("In", "high", "low"), pod(class("low")), true},
		"of another class":                   {selects("In", "high"), pod(class("low")), false},
		"of no class, where some are listed": {selects("In", "high", ""), pod(), false},
		"of a class that is not listed":      {selects("NotIn", "high"), pod(class("low")), true},
		"of no class, where some are not":    {selects("NotIn", "high"), pod(), true},
		"of a class, where none exists":      {selects("DoesNotExist"), pod(class("low")), false},
		"of no class, where none exists":     {selects("DoesNotExist"), pod(), true},
		"that looks at other namespaces":     {scoped("CrossNamespacePodAffinity"), pod(near(corev1.PodAffinityTerm{Namespaces: []string{"x"}})), true},
		"that selects namespaces":            {scoped("CrossNamespacePodAffinity"), pod(near(corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}})), true},
		"that looks at its own":              {scoped("CrossNamespacePodAffinity"), pod(near(corev1.PodAffinityTerm{})), false},
		"of objects that are no pods":        {scoped("VolumeAttributesClass"), pod(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &corev1.ResourceQuota{Spec: tc.spec}
			q.Spec.Hard, q.Status.Hard = list("pods", "3"), list("pods", "3")
			want := 10
			if tc.counts {
				want = 3
			}
			if got := quota.Of([]*corev1.ResourceQuota{q}).Take(tc.pod, 10); got != want {
				t.Errorf("room for %d, want %d", got, want)
			}
		})
	}
}

// What limit ranges let be made.
func TestPermits(t *testing.T) {
	t.Parallel()
	item := func(of corev1.LimitType, least, most corev1.ResourceList) []*corev1.LimitRange {
		return []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: of, Min: least, Max: most}}}}}
	}
	twice := func(p *corev1.Pod) { p.Spec.Containers = append(p.Spec.Containers, p.Spec.Containers[0]) }
	for name, tc := range map[string]struct {
		ranges []*corev1.LimitRange
		pod    *corev1.Pod
		want   bool
	}{
		"none":                                 {nil, pod(), true},
		"a container within":                   {item("Container", list("cpu", "100m"), list("cpu", "1")), pod(), true},
		"a container that asks for too little": {item("Container", list("cpu", "600m"), nil), pod(), false},
		"one that may have too much":           {item("Container", nil, list("cpu", "900m")), pod(), false},
		"one without a limit":                  {item("Container", nil, list("memory", "8Gi")), pod(), false},
		"a pod within":                         {item("Pod", nil, list("cpu", "2")), pod(twice), true},
		"a pod that may have too much":         {item("Pod", nil, list("cpu", "1500m")), pod(twice), false},
		"of volume claims":                     {item("PersistentVolumeClaim", nil, list("storage", "1")), pod(), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := quota.Permits(tc.ranges, tc.pod); got != tc.want {
				t.Errorf("permitted: %t, want %t", got, tc.want)
			}
		})
	}
}
