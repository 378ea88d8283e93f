package memorycloud

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/internal/provider"
	"tenon/lab/kubelet"
)

// raise makes a cloud whose machines have no network.
func raise(t *testing.T, path string) *Stage {
	t.Helper()
	s, err := New(t.Context(), Options{Machines: &rest.Config{Host: "127.0.0.1:1"}, State: path}, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func connect(t *testing.T, s *Stage) cloud.Provider {
	t.Helper()
	backend, err := s.Open(t.Context(), provider.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	return backend.Provider
}

func claim(uid string) cloud.Claim {
	return cloud.Claim{
		UID: uid, Name: uid, Class: cloud.ClassRef{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		Annotations: map[string]string{kubelet.AnnotationFault: "never-join"},
		Requests:    model.Resources{},
	}
}

// A controller that is killed after the answer to a purchase finds the machine again.
func TestPurchasesAreWrittenBeforeTheyAreAnswered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cloud.json")
	provider := connect(t, raise(t, path))
	var buyers sync.WaitGroup
	for n := range 40 {
		buyers.Go(func() {
			bought, err := provider.Create(context.Background(), claim(fmt.Sprint("claim-", n)))
			if err != nil {
				t.Errorf("create: %v", err)
				return
			}
			books, err := Read(path)
			if err != nil {
				t.Errorf("read: %v", err)
			}
			for _, r := range books.Records {
				if r.Machine.Instance.ProviderID == bought.ProviderID {
					return
				}
			}
			t.Errorf("%s was answered but is not among the %d in the file", bought.ProviderID, len(books.Records))
		})
	}
	buyers.Wait()
	if n := len(raise(t, path).Cloud.Instances()); n != 40 {
		t.Errorf("a new cloud from the file has %d machines, want 40", n)
	}
}

// Two controllers on one cloud see each other's machines.
func TestControllersShareACloud(t *testing.T) {
	t.Parallel()
	s := raise(t, "")
	bought, err := connect(t, s).Create(t.Context(), claim("one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, s).Get(t.Context(), bought.ProviderID); err != nil {
		t.Errorf("the second provider: %v", err)
	}
}

// Machines have EC2's default tenancy, shared, unless the claim excludes it.
func TestTenancyIsDefaultUnlessRuledOut(t *testing.T) {
	t.Parallel()
	provider := connect(t, raise(t, ""))
	bought, err := provider.Create(t.Context(), claim("any"))
	if err != nil {
		t.Fatal(err)
	}
	if got := bought.Labels[awsv1.LabelInstanceTenancy]; got != awsv1.TenancyDefault {
		t.Errorf("tenancy %q, want %q", got, awsv1.TenancyDefault)
	}
}

// A machine with this annotation on its claim runs and never makes a Node; every other machine boots.
func TestAMachineThatNeverJoinsDoesNotBoot(t *testing.T) {
	t.Parallel()
	l := &launcher{log: logr.Discard(), life: t.Context(), boots: map[string]*boot{}}
	broken := memory.Machine{Node: "broken", Annotations: map[string]string{kubelet.AnnotationFault: "never-join"}}
	broken.Instance.ProviderID = "broken"
	l.Launch(broken)
	if len(l.boots) != 0 {
		t.Errorf("%d machines boot, want none", len(l.boots))
	}
	l.Terminate("broken")
}

// The Node has the labels and taints of its machine.
func TestTheNodeHasItsMachinesLabelsAndTaints(t *testing.T) {
	t.Parallel()
	m := memory.Machine{
		Node: "n", Labels: map[string]string{"team": "a"},
		Taints: []model.Taint{{Key: "k", Value: "v", Effect: model.NoSchedule}},
	}
	m.Instance.ProviderID = "memory:///z/n"
	node := nodeOf(m)
	if node.Spec.ProviderID != m.Instance.ProviderID || node.Labels["team"] != "a" || node.Labels[v1.LabelHostname] != "n" {
		t.Errorf("node is %+v", node.ObjectMeta)
	}
	if len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Effect != v1.TaintEffectNoSchedule {
		t.Errorf("taints are %v", node.Spec.Taints)
	}
}
