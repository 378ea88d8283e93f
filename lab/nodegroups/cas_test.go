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
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
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
// node that is little used, and whose pods have a place elsewhere, is marked, and goes when its time is over; one with a pod that
// must not be evicted, or that has local storage, stays until the pod allows it. The status is where tools look for it.
func TestAGroupInModeCAS(t *testing.T) {
	s := tell(t)
	s.cas("web", "m5.large", "a", size{0, 0, 4}, map[string]string{"scaledownunneededtime": "15s", "scaledownutilizationthreshold": "0.9"})
	s.shown()
	s.deploy("web", 1, "web", "big")
	web := s.Running("web", 1)[0]
	s.deploy("held", 1, "web", "big") // it has no place on the instance that came for the other pod, so it is told of the next
	held := s.Running("held", 1)[0]
	s.awaitSizes(map[string]int32{"web": 2})
	s.AwaitEvent(&held, "TriggeredScaleUp", "pod triggered scale-up: [{"+s.groups["web"]+" ")
	s.Eventually("the status names the group", func(ctx context.Context) (bool, string) {
		status := &v1.ConfigMap{}
		err := s.Lab.Client.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "cluster-autoscaler-status"}, status)
		return err == nil && strings.Contains(status.Data["status"], s.groups["web"]), fmt.Sprint(err, status.Data)
	})
	s.Patch(&held, `{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"false"}}}`)
	s.deployWith("scratch", 1, func(p *v1.PodSpec) {
		p.Volumes = []v1.Volume{{Name: "scratch", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
	}, "web", "big")
	scratch := s.Running("scratch", 1)[0]
	s.awaitSizes(map[string]int32{"web": 3})
	s.group("big", "m5.2xlarge", "a", size{1, 1, 1}) // Tenon does not change it, but its node takes pods
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
	s.awaitSizes(map[string]int32{"web": 2, "big": 1})
	for app, stays := range map[string]v1.Pod{"held": held, "scratch": scratch} {
		if now := s.Running(app, 1)[0]; now.UID != stays.UID || now.Spec.NodeName != stays.Spec.NodeName {
			t.Errorf("pod %s, which holds its node, was moved from %s to %s", app, stays.Spec.NodeName, now.Spec.NodeName)
		}
	}
	s.Patch(&scratch, `{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes":"scratch"}}}`)
	s.Patch(&held, `{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"true"}}}`)
	s.awaitSizes(map[string]int32{"web": 0, "big": 1})
	s.Running("web", 1)
	s.Running("held", 1)
	s.Running("scratch", 1)
}
