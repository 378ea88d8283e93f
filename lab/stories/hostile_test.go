package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// The attackers of these stories have what Kubernetes gives them: a role in their namespace and its quota, or the credentials
// of a kubelet. In every story an app of another tenant runs beside them. It keeps its pods and its nodes, it is served
// while the attack lasts, and nothing is bought beyond what the app and the attacker's quota need.

// A tenant who may create pods only. The quota of the namespace is 30 pods and 2 cores.
func TestATenantOfPodsHarmsNoOther(t *testing.T) {
	s := tell(t)
	v := s.victim(2)
	a := s.attacker(v1.ResourceList{v1.ResourcePods: resource.MustParse("30"), v1.ResourceRequestsCPU: resource.MustParse("2")},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create", "get", "list", "delete"}})

	theirs, node := v.pods[0], v.pods[0].Spec.NodeName
	own := a.pod("own")
	a.creates(own)
	a.isRefused(map[string]error{
		"a Deployment":                          a.client.Create(a.Context(), a.deployment("large", 1000)),
		"an eviction of the other's pod":        a.client.SubResource("eviction").Create(a.Context(), &theirs, &policyv1.Eviction{}),
		"the deletion of the other's pod":       a.client.Delete(a.Context(), &theirs),
		"the deletion of a claim":               a.client.Delete(a.Context(), &v.claims[0]),
		"a nomination in a pod's status":        a.client.Status().Patch(a.Context(), own, merge(`{"status":{"nominatedNodeName":"`+node+`"}}`)),
		"a binding of a pod":                    a.client.SubResource("binding").Create(a.Context(), own, &v1.Binding{Target: v1.ObjectReference{Kind: "Node", Name: node}}),
		"a pod of more cores than the quota":    a.client.Create(a.Context(), a.pod("giant", asking("500"))),
		"pods of more cores than what is left":  a.client.Create(a.Context(), a.pod("large", asking("1951m"))),
		"a larger quota":                        a.client.Update(a.Context(), &v1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: "quota"}}),
		"a right that the tenant does not have": a.client.Create(a.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: "more"}}),
	})

	everywhere := &metav1.LabelSelector{}
	a.creates(
		// Their selectors match the pods of all others: no node suits the first two.
		a.pod("apart", func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
				{TopologyKey: "kubernetes.io/os", LabelSelector: everywhere, NamespaceSelector: everywhere}}}}
		}),
		a.pod("torn", func(p *v1.Pod) {
			term := []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: theirs.Labels}, NamespaceSelector: everywhere}}
			p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term},
				PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
		}),
		a.pod("spread", func(p *v1.Pod) {
			p.Labels = theirs.Labels
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, MinDomains: ptr.To(int32(500)), TopologyKey: v1.LabelHostname,
				WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: theirs.Labels}}}
		}),
		a.pod("forged", func(p *v1.Pod) {
			p.Labels, p.OwnerReferences = theirs.Labels, theirs.OwnerReferences
			p.Annotations = map[string]string{"tenon.sh/surge": "true", "tenon.sh/surged-for": string(theirs.UID)}
		}),
		a.pod("uninvited", func(p *v1.Pod) { p.Spec.NodeName = node }),
	)
	for i := range 12 { // just below the length from which on a pod is refused
		a.creates(a.pod(fmt.Sprintf("long-%d", i), asking("10m"), func(p *v1.Pod) {
			for k := range 499 {
				p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: fmt.Sprintf("key-%d-%d", i, k), Operator: v1.TolerationOpExists})
			}
		}), a.pod(fmt.Sprintf("wide-%d", i), asking("10m"), func(p *v1.Pod) {
			apart := &v1.PodAntiAffinity{}
			for k := range 499 {
				apart.RequiredDuringSchedulingIgnoredDuringExecution = append(apart.RequiredDuringSchedulingIgnoredDuringExecution, v1.PodAffinityTerm{
					TopologyKey: v1.LabelHostname, NamespaceSelector: everywhere,
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("other-%d-%d", i, k)}}})
			}
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: apart}
		}))
	}
	v.isServedAndUnharmed(cores("2"))
}

// A tenant who may create Deployments, in a namespace with a quota of 3 cores. What the Deployments want has no bounds.
func TestATenantOfDeploymentsStaysWithinItsQuota(t *testing.T) {
	s := tell(t)
	v := s.victim(2)
	a := s.attacker(v1.ResourceList{v1.ResourcePods: resource.MustParse("20"), v1.ResourceRequestsCPU: resource.MustParse("3")},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"*"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}})
	a.isRefused(map[string]error{
		"a pod":                   a.client.Create(a.Context(), a.pod("own")),
		"a Deployment elsewhere":  a.client.Patch(a.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "shop"}}, merge(`{"spec":{"replicas":0}}`)),
		"the other's pods":        a.client.List(a.Context(), &v1.PodList{}, client.InNamespace(s.Namespace)),
		"a change of the pool":    a.client.Patch(a.Context(), s.pool("default"), merge(`{"spec":{"weight":100}}`)),
		"a claim of the attacker": a.client.Create(a.Context(), &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: s.named("own")}}),
	})
	apart := a.deployment("apart", 1_000_000)
	apart.Spec.Template.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
		{TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}, NamespaceSelector: &metav1.LabelSelector{}}}}}
	many := a.deployment("many", 1_000_000)
	a.creates(apart, many)
	a.run(3)
	for range 3 { // announced and taken back
		for _, replicas := range []int{0, 1_000_000} {
			for _, d := range []*appsv1.Deployment{apart, many} {
				if err := a.client.Patch(a.Context(), d, merge(fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	a.run(3) // before the app grows: no pod of "apart" goes where a pod of the app is, so it may need one more node
	v.isServedAndUnharmed(a.granted("3"))
	a.run(3)
}

// An attacker with the credentials of a kubelet, which may write its own node and the status of its pods.
func TestAKubeletHarmsNoOtherNode(t *testing.T) {
	s := tell(t)
	v := s.victim(3)
	taken, other := s.nodeOf(v.pods[0]), s.nodeOf(v.pods[1])
	kubelet := s.as("system:node:"+taken.Name, "system:nodes")
	a := attacker{story: s, client: kubelet, Namespace: s.Namespace}

	a.isRefused(map[string]error{
		"another node's labels":       kubelet.Patch(s.Context(), node(other.Name), merge(`{"metadata":{"labels":{"karpenter.sh/nodepool":"mine"}}}`)),
		"another node's status":       kubelet.Status().Patch(s.Context(), node(other.Name), merge(`{"status":{"capacity":{"cpu":"1"}}}`)),
		"another node":                kubelet.Delete(s.Context(), node(other.Name)),
		"its own taints":              kubelet.Patch(s.Context(), node(taken.Name), merge(`{"spec":{"taints":[]}}`)),
		"another machine's ID":        kubelet.Patch(s.Context(), node(taken.Name), merge(`{"spec":{"providerID":"`+other.Spec.ProviderID+`"}}`)),
		"a reserved label":            kubelet.Patch(s.Context(), node(taken.Name), merge(`{"metadata":{"labels":{"node-restriction.kubernetes.io/team":"a"}}}`)),
		"a claim":                     kubelet.Delete(s.Context(), s.claimOf(v.pods[1])),
		"the status of a claim":       kubelet.Status().Patch(s.Context(), s.claimOf(v.pods[0]), merge(`{"status":{"providerID":"`+other.Spec.ProviderID+`"}}`)),
		"the status of another's pod": kubelet.Status().Patch(s.Context(), &v.pods[1], merge(`{"status":{"phase":"Failed"}}`)),
		"a nomination of its own pod": kubelet.Status().Patch(s.Context(), &v.pods[0], merge(`{"status":{"nominatedNodeName":"`+other.Name+`"}}`)),
		"an eviction elsewhere":       kubelet.SubResource("eviction").Create(s.Context(), &v.pods[1], &policyv1.Eviction{}),
		"a pod on another node":       kubelet.Create(s.Context(), mirror(a.pod("mirror", asking("500")), other)),
		"a pod without a node":        kubelet.Create(s.Context(), a.pod("free", asking("500"))),
	})
	for what, err := range map[string]error{
		"a mirror pod of 500 cores": kubelet.Create(s.Context(), mirror(a.pod("mirror", asking("500")), taken)),
		"another pool":              kubelet.Patch(s.Context(), node(taken.Name), merge(`{"metadata":{"labels":{"karpenter.sh/nodepool":"other","karpenter.sh/capacity-type":"spot"}}}`)),
		"a node of a million cores": kubelet.Status().Patch(s.Context(), node(taken.Name), merge(`{"status":{"capacity":{"cpu":"1000000","memory":"1Pi"},"allocatable":{"cpu":"1000000","memory":"1Pi"}}}`)),
		"a node that is ill": kubelet.Status().Patch(s.Context(), node(taken.Name), client.RawPatch(types.StrategicMergePatchType,
			[]byte(`{"status":{"conditions":[{"type":"NetworkUnavailable","status":"True","reason":"Forged"}]}}`))),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	v.isServedAndUnharmed(cores("0"))
}

// victim is the app of another tenant, with a node for each of its pods.
type victim struct {
	*story
	pods   []v1.Pod
	claims []karpenterv1.NodeClaim
}

func (s *story) victim(pods int) victim {
	s.Helper()
	s.apply("class.yaml", "pool.yaml", "tenants.yaml")
	s.Scale("shop", pods)
	return victim{s, s.Running("shop", pods), s.awaitClaims(pods)}
}

// isServedAndUnharmed checks what the attack has changed: the app gets one more pod and a node for it, its other pods and
// the nodes stay, and more is bought only for the cores that the attacker may have.
func (v victim) isServedAndUnharmed(attacker func() resource.Quantity) {
	v.Helper()
	v.Scale("shop", len(v.pods)+1)
	after := map[types.UID]bool{}
	for _, pod := range v.Running("shop", len(v.pods)+1) {
		after[pod.UID] = true
	}
	for _, pod := range v.pods {
		if !after[pod.UID] {
			v.Errorf("pod %s of the other tenant has gone", pod.Name)
		}
	}
	now := map[types.UID]bool{}
	var bought resource.Quantity
	for _, claim := range v.story.claims() {
		now[claim.UID] = claim.DeletionTimestamp == nil
		bought.Add(*claim.Spec.Resources.Requests.Cpu())
	}
	bought.Sub(attacker())
	for _, claim := range v.claims {
		if !now[claim.UID] {
			v.Errorf("claim %s of the other tenant goes", claim.Name)
		}
	}
	if most := resource.MustParse(fmt.Sprintf("%dm", 500*(len(v.pods)+1))); bought.Cmp(most) > 0 {
		v.Errorf("%s cores were bought beyond what the attacker may have, for an app of %s: %s", bought.String(), most.String(), told(v.story.claims()))
	}
}

// attacker acts with its own rights, in its own namespace.
type attacker struct {
	*story
	client    client.Client
	Namespace string
}

// attacker makes a namespace with a quota, and a service account that may do what the rules say.
func (s *story) attacker(quota v1.ResourceList, rules ...rbacv1.PolicyRule) attacker {
	s.Helper()
	a := attacker{story: s, Namespace: s.Lab.Namespace(s)}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: a.Namespace, Name: name} }
	limit := &v1.ResourceQuota{ObjectMeta: meta("quota"), Spec: v1.ResourceQuotaSpec{Hard: quota}}
	s.Create(limit)
	s.Create(&rbacv1.Role{ObjectMeta: meta("tenant"), Rules: rules})
	s.Create(&rbacv1.RoleBinding{ObjectMeta: meta("tenant"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "tenant"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.Namespace, Name: "default"}}})
	a.client = s.as("system:serviceaccount:"+a.Namespace+":default", "system:serviceaccounts", "system:serviceaccounts:"+a.Namespace)
	s.Eventually("the quota counts", func(ctx context.Context) (bool, string) {
		err := s.Lab.Client.Get(ctx, client.ObjectKeyFromObject(limit), limit)
		return err == nil && len(limit.Status.Hard) == len(quota), fmt.Sprintf("%v %v", limit.Status, err)
	})
	return a
}

// as is a client of another user.
func (s *story) as(user string, groups ...string) client.Client {
	s.Helper()
	config := rest.CopyConfig(s.Lab.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	c, err := client.New(config, client.Options{Scheme: s.Lab.Client.Scheme()})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func (a attacker) creates(objects ...client.Object) {
	a.Helper()
	for _, object := range objects {
		if err := a.client.Create(a.Context(), object); err != nil {
			a.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// isRefused checks that the API server has refused what the attacker tried.
func (a attacker) isRefused(tried map[string]error) {
	a.Helper()
	for what, err := range tried {
		if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
			a.Errorf("%s: %v, want a refusal", what, err)
		}
	}
}

func cores(n string) func() resource.Quantity {
	return func() resource.Quantity { return resource.MustParse(n) }
}

// granted is what a quota of cores allows, or what the attacker's pods have if that is more: when pods are deleted and made again quickly,
// kube-controller-manager counts what a quota's namespace uses a moment behind, and the API server lets in a pod too many.
func (a attacker) granted(quota string) func() resource.Quantity {
	return func() resource.Quantity {
		list, sum := &v1.PodList{}, resource.Quantity{}
		if err := a.Lab.Client.List(a.Context(), list, client.InNamespace(a.Namespace)); err != nil {
			a.Fatal(err)
		}
		for _, pod := range list.Items {
			sum.Add(*pod.Spec.Containers[0].Resources.Requests.Cpu())
		}
		if allowed := resource.MustParse(quota); allowed.Cmp(sum) > 0 {
			return allowed
		}
		return sum
	}
}

// run waits until so many pods of the attacker run, or all if it has more (see granted), and no controller has still to delete or to create
// one of them.
func (a attacker) run(pods int) {
	a.Helper()
	a.Eventually(fmt.Sprintf("%d pods of the attacker run", pods), func(ctx context.Context) (bool, string) {
		if behind, err := a.behind(ctx); err != nil || behind != "" {
			return false, fmt.Sprintf("%s %v", behind, err)
		}
		list := &v1.PodList{}
		if err := a.Lab.Client.List(ctx, list, client.InNamespace(a.Namespace)); err != nil {
			return false, err.Error()
		}
		var running []string
		for _, pod := range list.Items {
			if pod.DeletionTimestamp == nil && pod.Spec.NodeName != "" {
				running = append(running, pod.Name)
			}
		}
		return len(running) == max(pods, len(list.Items)), fmt.Sprintf("%d pods, with a node %s", len(list.Items), strings.Join(running, ", "))
	})
}

// behind names a Deployment of the attacker whose last change its controllers have not acted on yet.
func (a attacker) behind(ctx context.Context) (string, error) {
	deployments, sets := &appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}
	for _, list := range []client.ObjectList{deployments, sets} {
		if err := a.Lab.Client.List(ctx, list, client.InNamespace(a.Namespace)); err != nil {
			return "", err
		}
	}
	acted := map[string]int32{}
	for _, set := range sets.Items {
		if owner := metav1.GetControllerOf(&set); owner != nil && set.Status.ObservedGeneration == set.Generation {
			acted[owner.Name] = *set.Spec.Replicas
		}
	}
	for _, d := range deployments.Items {
		if replicas, ok := acted[d.Name]; !ok || replicas != *d.Spec.Replicas {
			return d.Name, nil
		}
	}
	return "", nil
}

// pod is a pod of the attacker for nodes of the story.
func (a attacker) pod(name string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: name}, Spec: a.spec("50m")}
	for _, c := range change {
		c(p)
	}
	return p
}

func (a attacker) deployment(name string, replicas int32) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: name}}
	d.Spec.Replicas, d.Spec.Selector = &replicas, &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	d.Spec.Template = v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: d.Spec.Selector.MatchLabels}, Spec: a.spec("1")}
	return d
}

func (a attacker) spec(cpu string) v1.PodSpec {
	return v1.PodSpec{
		NodeSelector:                  map[string]string{teamLabel: a.story.Namespace},
		Tolerations:                   []v1.Toleration{{Key: teamLabel, Operator: v1.TolerationOpExists}},
		TerminationGracePeriodSeconds: ptr.To(int64(0)),
		Containers: []v1.Container{{Name: "app", Image: "nginx",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}}},
	}
}

func asking(cpu string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse(cpu) }
}

// mirror makes a pod the mirror of a static pod of a node.
func mirror(pod *v1.Pod, on *v1.Node) *v1.Pod {
	pod.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "forged"}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: on.Name, UID: on.UID, Controller: ptr.To(true)}}
	pod.Spec.NodeName = on.Name
	return pod
}

func node(name string) *v1.Node { return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func merge(patch string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(patch)) }
