package provisioner_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// These tests take the part of a tenant who may create Deployments within a quota. SECURITY.md says
// what such a tenant cannot do.

// quota limits the namespace. The API server has counted the use.
func (h *fixture) quota(name, used, hard string) {
	h.t.Helper()
	resources := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(amount)}
	}
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "team"}}
	q.Spec.Hard = resources(hard)
	q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard}
	if used != "" {
		q.Status.Used = resources(used)
	}
	h.apply(q)
}

// apply creates an object, or updates it.
func (h *fixture) apply(object client.Object) {
	h.t.Helper()
	if err := h.API.Create(context.Background(), object); err != nil {
		h.Must(client.IgnoreAlreadyExists(err))
		h.Must(h.API.Update(context.Background(), object))
	}
	h.watch()
}

// bought is the number of cores of all claims.
func (h *fixture) bought() int {
	h.t.Helper()
	sum := 0
	for _, claim := range h.claims() {
		_, cores, _ := strings.Cut(claim, " ")
		n, err := strconv.Atoi(cores)
		h.Must(err)
		sum += n
	}
	return sum
}

// settled lets the provisioner decide, however long it gathers pods.
func (h *fixture) settled() {
	h.t.Helper()
	h.Clock.Step(1100 * time.Millisecond)
	h.Run(h.loop, "")
}

// TestNothingIsBoughtBeyondAQuota: of a ReplicaSet of a thousand, the quota allows 40 pods. The
// decision knows the quota before the ReplicaSet meets it.
func TestNothingIsBoughtBeyondAQuota(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		resource, used, hard string
		want                 int
	}{
		"by pods":                        {"pods", "20", "40", 40},
		"by requests":                    {"requests.cpu", "20", "40", 40},
		"by a part of a request":         {"requests.cpu", "20", "40500m", 40},
		"of another resource":            {"requests.memory", "20", "40", 100},
		"by count":                       {"count/pods", "20", "21", 21},
		"used up":                        {"pods", "40", "40", 20},
		"overdrawn":                      {"pods", "50", "40", 20},
		"with more room than is trusted": {"pods", "20", "1000", 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, ready("default"))
			h.quota(tc.resource, tc.used, tc.hard)
			h.replicaSet("web", 1000)
			h.pods("web", 20)
			h.settled()
			if got := h.bought(); got != tc.want {
				t.Errorf("room for %d pods was bought, want %d", got, tc.want)
			}
		})
	}
}

// TestAQuotaThatIsNotCountedYetLetsNothingBeMade: the API server allows no pods then, either.
func TestAQuotaThatIsNotCountedYetLetsNothingBeMade(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "team"}}
	q.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("40")}
	h.apply(q)
	h.replicaSet("web", 1000)
	h.pods("web", 20)
	h.settled()
	if got := h.bought(); got != 20 {
		t.Errorf("room for %d pods was bought, want 20", got)
	}
}

// TestSetsShareAQuota: two sets of one namespace announce no more than the quota has room for.
func TestSetsShareAQuota(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.quota("pods", "20", "50")
	h.replicaSet("api", 500)
	h.replicaSet("web", 500)
	h.pods("api", 10)
	h.pods("web", 10)
	h.settled()
	if got := h.bought(); got != 50 {
		t.Errorf("room for %d pods was bought, want 50", got)
	}
}

// TestALimitRangeLetsNothingBeMade: the API server would now refuse pods like the existing ones.
func TestALimitRangeLetsNothingBeMade(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "small"}}
	limits.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}}
	h.apply(limits)
	h.replicaSet("web", 100)
	h.pods("web", 20)
	h.settled()
	if got := h.bought(); got != 20 {
		t.Errorf("room for %d pods was bought, want 20", got)
	}
}

// TestTrustIsEarned: a webhook refuses all but 20 pods of each Deployment of a tenant, which no
// object shows. The first time, the unneeded purchase is a small multiple of the existing pods;
// after that it is next to nothing, and grows again once pods come.
func TestTrustIsEarned(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	deploy := func(name string, want, made int) (vain int) {
		before := h.bought()
		h.replicaSet(name, want)
		h.pods(name, made)
		h.settled()
		vain = h.bought() - before - made
		h.Clock.Step(31 * time.Second)
		h.settled()
		return vain
	}
	if vain := deploy("first", 1000, 20); vain != 80 {
		t.Errorf("the first time room for %d pods too many was bought, want 80", vain)
	}
	for i := range 3 {
		h.world.Remove(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}})
		if vain := deploy(fmt.Sprint("again-", i), 1000, 20); vain > 5 {
			t.Errorf("after a broken promise room for %d pods too many was bought, want 5 at most", vain)
		}
	}
}

// TestWhatWasThereBeforeIsBelieved: for a new workload four pods are expected for each existing
// one, or as many as an earlier workload of the namespace had.
func TestWhatWasThereBeforeIsBelieved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ before, coming, doubted int }{
		"nothing was there": {0, 4, 145},
		"a few pods":        {30, 29, 120},
		"as many":           {150, 149, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, ready("default"))
			h.replicaSet("web", tc.before)
			h.pods("web", tc.before)
			h.settled()
			for i := range tc.before {
				h.world.Remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web-", i)}})
				h.Must(h.API.Delete(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web-", i)}}))
			}
			h.replicaSet("api", 150)
			h.pods("api", 1)
			if pulse := h.world.Pulse(); pulse.Coming != tc.coming || pulse.Unlikely != tc.doubted {
				t.Errorf("%d pods are coming and %d are doubted, want %d and %d", pulse.Coming, pulse.Unlikely, tc.coming, tc.doubted)
			}
		})
	}
}

// TestRumoursAreNotBelievedTwice: pods that name a ReplicaSet which never appears hold up a
// decision once, and not again for a while.
func TestRumoursAreNotBelievedTwice(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("a", 1, ownedBy("apps/v1", "ReplicaSet", "none", "uid-1"))
	if pulse := h.world.Pulse(); !pulse.Unconfirmed {
		t.Error("a set that is not heard of is not waited for")
	}
	h.settled()
	h.pods("b", 1, ownedBy("apps/v1", "ReplicaSet", "nothing", "uid-2"))
	if pulse := h.world.Pulse(); pulse.Unconfirmed {
		t.Error("another one is waited for, although the first was in vain")
	}
	h.Clock.Step(time.Minute)
	h.pods("c", 1, ownedBy("apps/v1", "ReplicaSet", "not-yet", "uid-3"))
	if pulse := h.world.Pulse(); !pulse.Unconfirmed {
		t.Error("a minute later no set is waited for any more")
	}
}
