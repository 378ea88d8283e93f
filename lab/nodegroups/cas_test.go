package nodegroups

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/lab/labtest"
)

// cas makes a group that is managed by the rules of Cluster Autoscaler once it is shown, with options in its tags.
func (s *story) cas(name, instanceTypes, zones string, n size, options map[string]string) {
	s.Helper()
	s.group(name, instanceTypes, zones, n)
	s.modes[name] = tenonv1alpha1.ModeCAS
	in := &autoscaling.CreateOrUpdateTagsInput{}
	for key, value := range options {
		in.Tags = append(in.Tags, asgtypes.Tag{
			ResourceId: sdk.String(s.groups[name]), ResourceType: sdk.String("auto-scaling-group"), PropagateAtLaunch: sdk.Bool(false),
			Key: sdk.String("k8s.io/cluster-autoscaler/node-template/autoscaling-options/" + key), Value: sdk.String(value),
		})
	}
	if len(in.Tags) > 0 {
		got(s.scaling.CreateOrUpdateTags(s.Context(), in))(s)
	}
}

// A group in mode cas grows for pods and tells them so. It shrinks by the rules of Cluster Autoscaler with the options in its tags: a
// node that is little used, and whose pods have a place elsewhere, is marked, and goes when its time is over. A node stays while it says so, and
// while it has a pod that must not be evicted, has local storage, is of the system, or is guarded by a budget. The status is where tools look for it.
func TestAGroupInModeCAS(t *testing.T) {
	s := tell(t)
	s.cas("web", "m5.large", "a", size{0, 0, 6}, map[string]string{"scaledownunneededtime": "15s", "scaledownutilizationthreshold": "0.9"})
	s.group("big", "m5.2xlarge", "a", size{0, 0, 1}) // Tenon does not change it, but its node takes pods
	s.shown()
	s.deploy("web", 1, "web", "big")
	web := s.Running("web", 1)[0]
	s.belong(map[string]string{"web": "web"}) // until then the instance counts as one that is to come, with room
	s.deploy("held", 1, "web", "big")         // it has no place on the instance that came for the other pod, so it is told of the next
	budget := s.budget(s.Namespace, "guarded", 0)
	s.deploy("guarded", 1, "web", "big")
	s.deploy("marked", 1, "web", "big")
	s.deployWith("scratch", 1, func(p *v1.PodSpec) {
		p.Volumes = []v1.Volume{{Name: "scratch", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
	}, "web", "big")
	system := s.deployment("system-"+s.Namespace, 1, func(*v1.PodSpec) {}, "web", "big")
	system.Namespace = metav1.NamespaceSystem
	s.Create(system)
	s.Cleanup(func() {
		if err := s.Lab.Client.Delete(context.Background(), system); err != nil {
			s.Error(err)
		}
	})
	ofSystem := func() v1.Pod {
		return s.Lab.AwaitPods(t, system.Namespace, "app="+system.Name, 1, labtest.PodReady)[0]
	}
	held, marked, scratch := s.Running("held", 1)[0], s.Running("marked", 1)[0], s.Running("scratch", 1)[0]
	holding := []v1.Pod{held, marked, scratch, s.Running("guarded", 1)[0], ofSystem()}
	s.awaitSizes(map[string]int32{"web": 6})
	s.AwaitEvent(&held, "TriggeredScaleUp", "pod triggered scale-up: [{"+s.groups["web"]+" ")
	s.Eventually("the status names the group", func(ctx context.Context) (bool, string) {
		status := &v1.ConfigMap{}
		err := s.Lab.Client.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "cluster-autoscaler-status"}, status)
		return err == nil && strings.Contains(status.Data["status"], s.groups["web"]), fmt.Sprint(err, status.Data)
	})
	s.Patch(&held, `{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"false"}}}`)
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: marked.Spec.NodeName}}
	s.Patch(node, `{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/scale-down-disabled":"true"}}}`)
	s.desire("big", 1)
	s.Eventually("the node that nothing needs is marked", func(ctx context.Context) (bool, string) {
		node := &v1.Node{}
		if err := s.Lab.Client.Get(ctx, client.ObjectKey{Name: web.Spec.NodeName}, node); err != nil {
			return false, err.Error()
		}
		for _, taint := range node.Spec.Taints {
			if taint.Key == tenonv1alpha1.TaintCandidate && taint.Effect == v1.TaintEffectPreferNoSchedule {
				return true, ""
			}
		}
		return false, fmt.Sprint(node.Spec.Taints)
	})
	s.awaitSizes(map[string]int32{"web": 5})
	for _, stays := range holding {
		if err := s.Lab.Client.Get(s.Context(), client.ObjectKeyFromObject(&stays), &v1.Pod{}); err != nil {
			t.Errorf("a pod that holds its node: %v", err)
		}
	}
	s.Patch(&held, `{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"true"}}}`)
	s.Delete(budget)
	s.Patch(node, `{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/scale-down-disabled":null}}}`)
	s.Patch(&scratch, `{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes":"scratch"}}}`)
	s.budget(system.Namespace, system.Name, 1)
	s.awaitSizes(map[string]int32{"web": 0})
	for _, app := range []string{"web", "held", "guarded", "marked", "scratch"} {
		s.Running(app, 1)
	}
	ofSystem()
}

// budget makes a PodDisruptionBudget for the pods of an app, of which so many may be gone.
func (s *story) budget(namespace, app string, gone int32) *policyv1.PodDisruptionBudget {
	s.Helper()
	out := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app}, Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: &intstr.IntOrString{IntVal: gone}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
	}}
	s.Create(out)
	s.Cleanup(func() {
		if err := client.IgnoreNotFound(s.Lab.Client.Delete(context.Background(), out)); err != nil {
			s.Error(err)
		}
	})
	return out
}
