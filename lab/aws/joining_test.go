package aws_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/scalar"
	"tenon/cloud"
	"tenon/cloud/aws/instance"
	"tenon/core/model"
	"tenon/core/requirement"
)

// everything returns a kubelet configuration that sets every field.
func everything() *awsv1.KubeletConfiguration {
	return &awsv1.KubeletConfiguration{
		MaxPods: sdk.Int32(42), PodsPerCore: sdk.Int32(21), SystemReserved: map[string]string{"cpu": "100m"}, KubeReserved: map[string]string{"memory": "1Gi"},
		EvictionHard: map[string]string{"memory.available": "5%"}, EvictionSoft: map[string]string{"memory.available": "8%"},
		EvictionSoftGracePeriod:   map[string]scalar.Duration{"memory.available": {Duration: time.Minute}},
		EvictionMaxPodGracePeriod: sdk.Int32(60), ImageGCHighThresholdPercent: sdk.Int32(85), ImageGCLowThresholdPercent: sdk.Int32(80), CPUCFSQuota: sdk.Bool(true),
	}
}

// A node of every family reads what the provider wrote, and joins as planned.
func TestEveryFamilyJoinsByTheProvider(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		alias, kubernetes string
		change            func(*awsv1.EC2NodeClassSpec)
		pods              int64
		os                string
	}{
		"AL2":          {"al2@latest", "1.32", func(*awsv1.EC2NodeClassSpec) {}, 29, "linux"},
		"AL2023":       {"al2023@latest", "1.36", func(*awsv1.EC2NodeClassSpec) {}, 29, "linux"},
		"Bottlerocket": {"bottlerocket@latest", "1.36", func(*awsv1.EC2NodeClassSpec) {}, 29, "linux"},
		"Windows2019":  {"windows2019@latest", "1.36", func(*awsv1.EC2NodeClassSpec) {}, 110, "windows"},
		"Windows2022":  {"windows2022@latest", "1.36", func(*awsv1.EC2NodeClassSpec) {}, 110, "windows"},
		"Windows2025":  {"windows2025@latest", "1.36", func(*awsv1.EC2NodeClassSpec) {}, 110, "windows"},
		"AL2 with a kubelet": {"al2@latest", "1.32", func(s *awsv1.EC2NodeClassSpec) {
			s.Kubelet, s.UserData = everything(), sdk.String("#!/bin/bash\necho own")
		}, 42, "linux"},
		"AL2023 with a kubelet": {"al2023@latest", "1.36", func(s *awsv1.EC2NodeClassSpec) {
			s.Kubelet, s.UserData = everything(), sdk.String("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPods: 7\n")
		}, 42, "linux"},
		"Bottlerocket with a kubelet": {"bottlerocket@latest", "1.36", func(s *awsv1.EC2NodeClassSpec) {
			s.Kubelet, s.UserData = everything(), sdk.String("[settings.kubernetes]\nmax-pods = 7\n")
		}, 42, "linux"},
		"Windows with a kubelet": {"windows2022@latest", "1.36", func(s *awsv1.EC2NodeClassSpec) {
			s.Kubelet, s.UserData = everything(), sdk.String("Write-Host own")
		}, 42, "windows"},
		"Custom": {"al2023@latest", "1.36", func(s *awsv1.EC2NodeClassSpec) {
			s.AMIFamily, s.UserData = sdk.String("Custom"), sdk.String(nodeConfig("lab"))
		}, 42, "linux"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			class := classOf("ready", tc.alias)
			tc.change(&class.Spec)
			n := newNear(t, class)
			n.version = tc.kubernetes
			p := n.connect()
			n.ready(p, "ready")
			claim := request("1")
			claim.Labels["team"] = "a"
			claim.StartupTaints = []model.Taint{{Key: "team", Value: "a", Effect: model.NoSchedule}}
			bought := got(p.Create(t.Context(), claim))(t)
			n.pass(10 * time.Second)
			booted := n.machines.all()
			if len(booted) != 1 {
				_, id, _ := instance.Parse(bought.ProviderID)
				t.Fatal(n.console(id))
			}
			m := booted[0]
			taints := []v1.Taint{{Key: "team", Value: "a", Effect: "NoSchedule"}, {Key: "karpenter.sh/unregistered", Effect: "NoExecute"}}
			if name == "Custom" {
				taints = taints[1:]
			} else if m.Labels["team"] != "a" || m.Labels["karpenter.sh/capacity-type"] != "on-demand" || m.Labels["karpenter.sh/do-not-sync-taints"] != "true" {
				t.Errorf("labels are %v", m.Labels)
			}
			for _, want := range taints {
				if !slices.Contains(m.Taints, want) {
					t.Errorf("taints are %v, want %v", m.Taints, want)
				}
			}
			if m.ProviderID != bought.ProviderID || m.OS != tc.os || int64(*m.Kubelet.MaxPods) != tc.pods {
				text, _ := json.Marshal(m)
				t.Errorf("machine is %s", text)
			}
			if reserved := m.Kubelet.KubeReserved["memory"]; class.Spec.Kubelet != nil && reserved != "1Gi" {
				t.Errorf("kube-reserved memory is %q", reserved)
			}
		})
	}
}

// A reservation is used before anything is bought, and is counted.
func TestReservation(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	class := classOf("ready", "al2023@latest")
	class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "a"}}}
	n := newNear(t, class)
	n.post("/lab/reservations", `{"instanceType":"m5.large","zone":"us-west-2b","count":1,"criteria":"targeted","tags":{"team":"a"}}`)
	p := n.connect()
	n.ready(p, "ready")
	claim := request("1")
	claim.Requirements = requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, "m5.large", "m5.xlarge"))
	bought := got(p.Create(ctx, claim))(t)
	if bought.Offer.CapacityType != "reserved" || bought.Offer.Zone != "us-west-2b" || bought.Offer.Reservation == "" {
		t.Fatalf("bought %s", bought.Offer)
	}
	if seen := got(p.Get(ctx, bought.ProviderID))(t); seen.Offer != bought.Offer || seen.Labels[awsv1.LabelCapacityReservationID] != bought.Offer.Reservation {
		t.Errorf("seen as %s with labels %v", seen.Offer, seen.Labels)
	}
	claim.UID, claim.Name = "2", "claim-2"
	if second := got(p.Create(ctx, claim))(t); second.Offer.CapacityType == "reserved" {
		t.Errorf("a reservation for one was bought twice: %s", second.Offer)
	}
}

// Tags exist from the first moment; names come when the node has joined.
func TestTags(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	class := classOf("ready", "al2023@latest")
	class.Spec.Tags = map[string]string{"team": "a"}
	n := newNear(t, class)
	p := n.connect()
	n.ready(p, "ready")
	bought := got(p.Create(ctx, request("1")))(t)
	_, id, _ := instance.Parse(bought.ProviderID)
	n.checkTags(id, map[string]string{
		"team": "a", "kubernetes.io/cluster/lab": "owned", "karpenter.sh/nodepool": "default", "eks:eks-cluster-name": "lab",
		"karpenter.k8s.aws/ec2nodeclass": "ready", "karpenter.sh/nodeclaim": "claim-1", instance.TagClaimUID: "1",
	})
	if err := p.Label(ctx, bought.ProviderID, map[string]string{"Name": "node-1", "karpenter.sh/nodeclaim": "claim-1"}); err != nil {
		t.Fatal(err)
	}
	n.checkTags(id, map[string]string{"Name": "node-1"})
	if err := p.Delete(ctx, bought.ProviderID); err != nil {
		t.Fatal(err)
	}
	n.pass(time.Minute)
	if err := p.Label(ctx, bought.ProviderID, map[string]string{"Name": "node-1", "karpenter.sh/nodeclaim": "claim-1"}); !cloud.IsNotFound(err) {
		t.Errorf("tagging what is gone: error %v, want NotFound", err)
	}
}

func (n *near) checkTags(id string, want map[string]string) {
	n.t.Helper()
	has := map[string]string{}
	for _, tag := range n.instance(id).Tags {
		has[*tag.Key] = *tag.Value
	}
	for key, value := range want {
		if has[key] != value {
			n.t.Errorf("tag %s is %q, want %q", key, has[key], value)
		}
	}
}
