package release

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/examples"
	"tenon/lab/install"
	"tenon/lab/labtest"
)

// The page's commands install Tenon into an empty cluster, where it makes nodes. They upgrade it from the
// previous charts without any change to nodes. The page's steps to uninstall leave nothing: no object in
// the cluster, no finalizer, and in AWS no instance, launch template or instance profile.
func TestInstallUpgradeTakeOut(t *testing.T) {
	t.Parallel()
	s := newSite(t, labtest.Options{})
	before := s.everything()

	s.install(s.formerCharts())
	s.lab.AwaitPods(t, namespace, "app.kubernetes.io/name=tenon", 2, labtest.PodReady)
	stop := s.run("tenon")
	s.use(3)
	machines, definitions := s.machines(), s.definitions()
	if len(machines) == 0 {
		t.Fatal("nothing was bought")
	}

	stop()
	s.install(s.root)
	stop = s.run("tenon")
	s.use(4) // the upgraded controller works
	s.lab.Never(t, "a claim drifts", 5*time.Second, s.drift)
	for id := range machines {
		if !s.machines()[id] {
			t.Errorf("the upgrade cost the instance %s", id)
		}
	}
	now := s.definitions() // a release may add some
	for name, uid := range definitions {
		if now[name] != uid {
			t.Errorf("the definition of %s was made anew: %s, then %q", name, uid, now[name])
		}
	}

	s.takeOut()
	stop()
	for _, command := range s.commands("helm uninstall") {
		s.helm(s.root, command)
	}
	s.forget()
	s.asBefore(before)
}

// asBefore waits until there is no more in the cluster and in the account than there was.
func (s *site) asBefore(before map[string]bool) {
	s.Helper()
	s.lab.Eventually(s.T, "the cluster and the account are as they were", func(context.Context) (bool, string) {
		left := []string{}
		now := s.everything()
		for what := range now {
			if !before[what] {
				left = append(left, what)
			}
		}
		return len(left) == 0, "there is still " + strings.Join(left, ", ")
	})
}

// use runs this many pods on the example's pool.
func (s *site) use(pods int) {
	s.Helper()
	for _, name := range []string{"basic.yaml", "inflate.yaml"} {
		text, err := examples.Files.ReadFile(name)
		if err != nil {
			s.Fatal(err)
		}
		if err := install.Apply(s.Context(), s.lab.Config, []byte(strings.Replace(string(text), "replicas: 0", fmt.Sprintf("replicas: %d", pods), 1))); err != nil {
			s.Fatal(err)
		}
	}
	s.lab.AwaitPods(s.T, "default", "app=inflate", pods, labtest.PodReady)
}

// takeOut performs the page's steps that precede uninstalling the charts.
func (s *site) takeOut() {
	s.Helper()
	if err := s.lab.Clients.AppsV1().Deployments("default").Delete(s.Context(), "inflate", metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	s.documented("kubectl delete nodepools --all")
	s.documented("kubectl delete ec2nodeclasses --all")
	for _, step := range []struct {
		what  client.Object
		until client.ObjectList
	}{{&karpenterv1.NodePool{}, &karpenterv1.NodeClaimList{}}, {&awsv1.EC2NodeClass{}, &awsv1.EC2NodeClassList{}}} {
		if err := s.lab.Client.DeleteAllOf(s.Context(), step.what); err != nil {
			s.Fatal(err)
		}
		s.lab.Eventually(s.T, fmt.Sprintf("%T are gone", step.until), func(ctx context.Context) (bool, string) {
			if err := s.lab.Client.List(ctx, step.until); err != nil {
				return false, err.Error()
			}
			return meta.LenList(step.until) == 0, fmt.Sprintf("%d are left", meta.LenList(step.until))
		})
	}
}

// forget deletes the objects that the controller made for itself.
func (s *site) forget() {
	s.Helper()
	s.documented("kubectl delete --namespace kube-system --ignore-not-found lease/" + lease + " configmap/" + learned + " configmap/" + published)
	for _, object := range []client.Object{leaseOf(lease), configOf(learned), configOf(published)} {
		if err := s.lab.Client.Delete(s.Context(), object); err != nil && !apierrors.IsNotFound(err) {
			s.Fatal(err)
		}
	}
}

// drift reports whether a claim differs from what its pool asks for.
func (s *site) drift(context.Context) (bool, string) {
	for _, c := range s.claims() {
		if meta.IsStatusConditionTrue(c.Status.Conditions, "Drifted") {
			return true, c.Name
		}
	}
	return false, ""
}
