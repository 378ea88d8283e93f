package handover

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
	"tenon/lab/memorycloud"
)

const (
	pods   = 200
	each   = 7 // pods of one processor on a machine of eight
	needed = (pods + each - 1) / each

	leaseName = "karpenter-leader-election"
)

// The leader stops while pods scale out, as in a roll-out: it gives the Lease back, and the other
// replica goes on.
func TestTheLeaderStops(t *testing.T) {
	handOver(t, func(leader *replica) {
		leader.stop()
		if err := leader.wait(t); err != nil {
			t.Errorf("the leader ended with %v; what still runs:\n%s", err, running(t))
		}
	})
}

// running is what the goroutines of this process do: the ones that did not end are among them.
func running(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		t.Error(err)
	}
	return text.String()
}

// The leader loses the API server and keeps the cloud: it ends when its Lease has run out, and the
// other replica takes over.
func TestTheLeaderIsCutOff(t *testing.T) {
	handOver(t, func(leader *replica) {
		leader.wire.cut()
		if err := leader.wait(t); err == nil {
			t.Error("the leader ended as if it had been told to")
		}
	})
}

// handOver scales out under a first leader that is lost in the middle: in the end all pods run, on no
// more machines than needed.
func handOver(t *testing.T, lose func(leader *replica)) {
	lab := labtest.Start(t)
	forgetLeader(t, lab)
	cloud := raise(t, lab)
	first := start(t, lab, cloud, "first")
	awaitLeader(t, lab, "", first)
	holder := leaderOf(t, lab)
	second := start(t, lab, cloud, "second")

	namespace := lab.Namespace(t)
	for _, object := range []client.Object{class(), pool(t), inflate(namespace)} {
		if err := lab.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	lab.Eventually(t, "the first has begun to buy", func(context.Context) (bool, string) {
		return cloud.Cloud.Bought() > 0, "it has not"
	})
	lose(first)
	awaitLeader(t, lab, holder, second)
	lab.AwaitPods(t, namespace, "app=inflate", pods, labtest.PodReady)
	settled(t, lab, cloud)
}

// forgetLeader takes the Lease from a replica of another test, which may not have given it back.
func forgetLeader(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	err := lab.Clients.CoordinationV1().Leases("kube-system").Delete(t.Context(), leaseName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

func leaderOf(t *testing.T, lab *labtest.Lab) string {
	t.Helper()
	lease, err := lab.Clients.CoordinationV1().Leases("kube-system").Get(t.Context(), leaseName, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// awaitLeader waits until a process holds the Lease that did not hold it before.
func awaitLeader(t *testing.T, lab *labtest.Lab, before string, next *replica) {
	t.Helper()
	lab.Eventually(t, "there is another leader", func(context.Context) (bool, string) {
		select {
		case err := <-next.ended:
			t.Fatalf("the %s replica has ended: %v", next.name, err)
		default:
		}
		now := leaderOf(t, lab)
		return now != "" && now != before, fmt.Sprintf("the leader is %q", now)
	})
}

// settled checks that machines, claims and nodes are the same, and no more than there must be.
func settled(t *testing.T, lab *labtest.Lab, cloud *memorycloud.Stage) {
	t.Helper()
	lab.Eventually(t, "every machine is a node with its claim", func(ctx context.Context) (bool, string) {
		claims := &karpenterv1.NodeClaimList{}
		if err := lab.Client.List(ctx, claims); err != nil {
			return false, err.Error()
		}
		named := map[string]bool{}
		for _, claim := range claims.Items {
			named[claim.Status.ProviderID] = claim.Status.NodeName != ""
		}
		machines := cloud.Cloud.Instances()
		for _, machine := range machines {
			if !named[machine.ProviderID] {
				return false, fmt.Sprintf("machine %s has no claim with a node", machine.ProviderID)
			}
		}
		return len(machines) == len(claims.Items), fmt.Sprintf("%d machines, %d claims", len(machines), len(claims.Items))
	})
	if n := cloud.Cloud.Bought(); n > needed {
		t.Errorf("%d machines were bought, %d are needed", n, needed)
	}
}

func class() *awsv1.EC2NodeClass {
	return &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: awsv1.EC2NodeClassSpec{
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
			Role:                       "karpenterNodeRole-demo",
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "demo"}}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "demo"}}},
		},
	}
}

// pool is the one in testdata.
func pool(t *testing.T) *karpenterv1.NodePool {
	t.Helper()
	text, err := os.ReadFile("testdata/pool.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pool := &karpenterv1.NodePool{}
	if err := yaml.UnmarshalStrict(text, pool); err != nil {
		t.Fatal(err)
	}
	return pool
}

func inflate(namespace string) *appsv1.Deployment {
	replicas := int32(pods)
	labels := map[string]string{"app": "inflate"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "inflate"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: v1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: v1.PodSpec{Containers: []v1.Container{{
					Name: "inflate", Image: "public.ecr.aws/eks-distro/kubernetes/pause:3.7",
					Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}},
				}}},
			},
		},
	}
}
