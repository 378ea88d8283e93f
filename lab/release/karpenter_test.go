package release

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
	"tenon/lab/pages"
)

// The page about migrating from Karpenter, from top to bottom, on a fleet in EC2 as a former release of Karpenter leaves it: with
// former hashes of pool and class, a machine that lost tags, and a claim that has drifted from its class, whose replacement
// a budget holds back. Helm changes the release and changes it back. Neither change costs a node, Tenon ends the machine without tags, and
// continues the roll-out when the budget allows it; what it leaves is what Karpenter expects, and the next process works with it.
//
// The program that plays Karpenter, before and after, is Tenon's, as the release's own Deployment specifies it.
func TestFromKarpenterAndBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, labtest.Options{})
	s.installKarpenter()
	definitions := s.definitions()
	stop := s.run("karpenter")
	s.spread(3)
	stop()
	f := s.asKarpenterLeaves()
	machines := s.machines()

	steps, err := pages.Read("docs/migrating-from-karpenter.md")
	if err != nil {
		t.Fatal(err)
	}
	shell := pages.NewShell(t, append(s.inAccount(), "KUBECONFIG="+s.lab.Directory.Kubeconfig())...)
	shell.Run(steps,
		pages.Want{Command: "tenon preflight", Prints: `(?m)^warning +autoscalers .*kube-system/karpenter`},
		pages.Want{Command: "helm upgrade karpenter ", Prints: "STATUS: deployed", After: func() { stop = s.run("karpenter") }},
		pages.Want{Command: "kubectl get nodeclaims", Prints: "default-", After: func() {
			f.await("v3", awsv1.HashVersion)
			s.lab.Never(t, "a machine is bought or ended", 5*time.Second, s.others(machines))
			f.finish()
			machines = s.machines()
			stop()
		}},
		pages.Want{Command: "helm rollback karpenter", Prints: "Rollback was a success", After: func() { stop = s.run("karpenter") }},
	)
	s.lab.Never(t, "a machine is bought or ended", 5*time.Second, s.others(machines))
	s.scale(4)
	s.same(machines)
	if now := s.definitions(); fmt.Sprint(now) != fmt.Sprint(definitions) {
		t.Errorf("definitions were made anew: %v, then %v", definitions, now)
	}
	stop()
}

// installKarpenter installs the release that plays Karpenter, with its definitions.
func (s *site) installKarpenter() {
	s.Helper()
	s.helm(s.root, "helm install karpenter-crd charts/tenon-crd --namespace "+namespace)
	s.helm(s.root, "helm install karpenter lab/release/testdata/karpenter --namespace "+namespace+" --set settings.clusterName=demo --set settings.interruptionQueue=demo")
}

// spread runs this many pods, each on a node of its own.
func (s *site) spread(pods int) {
	s.Helper()
	s.use(0)
	const apart = `{"spec":{"template":{"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
		{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"inflate"}}}]}}}}}}`
	s.patchInflate(apart)
	s.scale(pods)
}

func (s *site) scale(pods int) {
	s.Helper()
	s.patchInflate(fmt.Sprintf(`{"spec":{"replicas":%d}}`, pods))
	s.lab.AwaitPods(s.T, "default", "app=inflate", pods, labtest.PodReady)
}

func (s *site) patchInflate(text string) {
	s.Helper()
	if _, err := s.lab.Clients.AppsV1().Deployments("default").Patch(s.Context(), "inflate", types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// others reports whether there are other machines than these.
func (s *site) others(machines map[string]bool) func(context.Context) (bool, string) {
	return func(context.Context) (bool, string) {
		now := s.machines()
		return !maps.Equal(now, machines), fmt.Sprintf("%v, then %v", machines, now)
	}
}

// fleet is what a former release of Karpenter left.
type fleet struct {
	*site
	drifted  string                 // a claim that the release was about to replace
	untagged *karpenterv1.NodeClaim // the claim of the machine that lost its tags
}

// Hashes of the former release, and versions that say so. The drifted claim has another hash of its class.
const (
	formerHash, formerPool, formerClass = "1", "v2", "v4"
	driftedHash                         = "0"
)

// kept are the hashes of a claim that has drifted, so that the drift stays visible.
var kept = map[string]string{karpenterv1.AnnotationNodePoolHash: formerHash, awsv1.AnnotationNodeClassHash: driftedHash}

// asKarpenterLeaves takes away what only Tenon writes, stamps all objects as a former release, and puts the fleet into the middle of a roll-out.
func (s *site) asKarpenterLeaves() fleet {
	s.Helper()
	s.patch(&karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, map[string]any{
		"metadata": map[string]any{"annotations": stamps(karpenterv1.AnnotationNodePoolHash, formerPool, formerHash)},
		"spec":     map[string]any{"disruption": map[string]any{"budgets": []any{map[string]any{"nodes": "0"}}}},
	})
	s.annotate(&awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, stamps(awsv1.AnnotationNodeClassHash, formerClass, formerHash))
	claims := s.claims()
	if len(claims) != 3 {
		s.Fatalf("%d claims, want 3", len(claims))
	}
	for i := range claims {
		claim := &claims[i]
		class := formerHash
		if i == 0 {
			class = driftedHash
		}
		set := stamps(karpenterv1.AnnotationNodePoolHash, formerPool, formerHash)
		maps.Copy(set, stamps(awsv1.AnnotationNodeClassHash, formerClass, class))
		s.annotate(claim, set)
		node := &v1.Node{}
		if err := s.lab.Client.Get(s.Context(), client.ObjectKey{Name: claim.Status.NodeName}, node); err != nil {
			s.Fatal(err)
		}
		s.annotate(node, nil)
	}
	before := claims[0].DeepCopy()
	conditions := claims[0].Conditions(time.Now())
	conditions.SetTrueBecause(karpenterv1.ConditionDrifted, "NodeClassDrifted", "")
	claims[0].Status.Conditions = conditions.List()
	if err := s.lab.Client.Status().Patch(s.Context(), &claims[0], client.MergeFrom(before)); err != nil {
		s.Fatal(err)
	}
	id := claims[1].Status.ProviderID[strings.LastIndex(claims[1].Status.ProviderID, "/")+1:]
	lost := fmt.Sprintf(`{"kind": "tag-removal", "instances": [%q], "tags": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass"]}`, id)
	if struck := s.lab.AWS(s).Cause(s, lost); !slices.Contains(struck, id) {
		s.Fatalf("tags of %v were removed, want those of %s", struck, id)
	}
	return fleet{s, claims[0].Name, &claims[1]}
}

func stamps(hash, version, value string) map[string]any {
	return map[string]any{hash: value, hash + "-version": version}
}

// annotate sets annotations, and removes Tenon's.
func (s *site) annotate(object client.Object, set map[string]any) {
	s.Helper()
	annotations := maps.Clone(set)
	if annotations == nil {
		annotations = map[string]any{}
	}
	for key := range object.GetAnnotations() {
		if strings.HasPrefix(key, "tenon.sh/") {
			annotations[key] = nil
		}
	}
	s.patch(object, map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

// await waits until pool, class and claims have hashes of these versions, claims that have not drifted those of pool and class, and no
// claim has a finalizer but Karpenter's.
func (f fleet) await(poolVersion, classVersion string) {
	f.Helper()
	f.lab.Eventually(f.T, "hashes are of today", func(ctx context.Context) (bool, string) {
		pool, class := &karpenterv1.NodePool{}, &awsv1.EC2NodeClass{}
		for _, o := range []client.Object{pool, class} {
			if err := f.lab.Client.Get(ctx, client.ObjectKey{Name: "default"}, o); err != nil {
				return false, err.Error()
			}
		}
		wanted := map[string]string{}
		for key, version := range map[string]string{karpenterv1.AnnotationNodePoolHash: poolVersion, awsv1.AnnotationNodeClassHash: classVersion} {
			of := pool.Annotations
			if key == awsv1.AnnotationNodeClassHash {
				of = class.Annotations
			}
			if of[key] == formerHash || of[key+"-version"] != version {
				return false, fmt.Sprintf("%s is %q, version %q", key, of[key], of[key+"-version"])
			}
			wanted[key], wanted[key+"-version"] = of[key], version
		}
		for _, c := range f.claims() {
			for key, want := range wanted {
				if kept, is := kept[key]; is && c.Name == f.drifted {
					want = kept
				}
				if c.Annotations[key] != want {
					return false, fmt.Sprintf("%s of claim %s is %q, want %q", key, c.Name, c.Annotations[key], want)
				}
			}
			if !slices.Equal(c.Finalizers, []string{"karpenter.sh/termination"}) {
				return false, fmt.Sprintf("finalizers of claim %s: %v", c.Name, c.Finalizers)
			}
			if meta.IsStatusConditionTrue(c.Status.Conditions, karpenterv1.ConditionDrifted) != (c.Name == f.drifted) {
				return false, fmt.Sprintf("conditions of claim %s: %v", c.Name, c.Status.Conditions)
			}
		}
		return true, ""
	})
}

// finish ends the machine that lost tags with its claim, and opens the budget for the roll-out.
func (f fleet) finish() {
	f.Helper()
	id := f.untagged.Status.ProviderID[strings.LastIndex(f.untagged.Status.ProviderID, "/")+1:]
	if err := f.lab.Client.Delete(f.Context(), f.untagged); err != nil {
		f.Fatal(err)
	}
	f.lab.Eventually(f.T, "the machine without tags is ended", func(context.Context) (bool, string) { return !f.machines()[id], id + " runs" })
	f.lab.AwaitPods(f.T, "default", "app=inflate", 3, labtest.PodReady)
	f.patch(&karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, map[string]any{
		"spec": map[string]any{"disruption": map[string]any{"budgets": []any{map[string]any{"nodes": "1"}}}},
	})
	f.lab.AwaitGone(f.T, &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: f.drifted}})
	f.lab.AwaitPods(f.T, "default", "app=inflate", 3, labtest.PodReady)
}

func (s *site) patch(object client.Object, change map[string]any) {
	s.Helper()
	text, err := json.Marshal(change)
	if err == nil {
		err = s.lab.Client.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, text))
	}
	if err != nil {
		s.Fatal(err)
	}
}
