package userdata_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/scalar"
	"tenon/cloud/aws/userdata"
	"tenon/core/model"
)

var update = flag.Bool("update", false, "write the golden files")

func pointer[T any](value T) *T { return &value }

// full is an input in which everything is said.
func full(family string) userdata.Input {
	return userdata.Input{
		Family:  family,
		Cluster: userdata.Cluster{Name: "lab", Endpoint: "https://127.0.0.1:6443", CABundle: "bGFi", ServiceCIDR: "10.96.0.0/12", DNS: "10.96.0.10"},
		Kubelet: &awsv1.KubeletConfiguration{
			PodsPerCore:                 pointer[int32](8),
			SystemReserved:              map[string]string{"memory": "200Mi", "cpu": "100m"},
			KubeReserved:                map[string]string{"cpu": "90m"},
			EvictionHard:                map[string]string{"nodefs.available": "10%", "memory.available": "5%"},
			EvictionSoft:                map[string]string{"memory.available": "8%"},
			EvictionSoftGracePeriod:     map[string]scalar.Duration{"memory.available": {Duration: time.Minute}},
			EvictionMaxPodGracePeriod:   pointer[int32](60),
			ImageGCHighThresholdPercent: pointer[int32](85),
			ImageGCLowThresholdPercent:  pointer[int32](80),
			CPUCFSQuota:                 pointer(false),
		},
		MaxPods: 29,
		Labels:  userdata.Labels(map[string]string{"team": "a", "topology.kubernetes.io/zone": "z", "karpenter.sh/nodepool": "default"}, "spot", family),
		Taints: []model.Taint{
			{Key: "dedicated", Value: "gpu", Effect: model.NoSchedule},
			{Key: "karpenter.sh/unregistered", Effect: model.NoExecute},
		},
		RAID0: true,
	}
}

// small is an input in which the class says nothing.
func small(family string) userdata.Input {
	in := full(family)
	in.Kubelet, in.RAID0 = nil, false
	return in
}

func with(in userdata.Input, custom string) userdata.Input {
	in.Custom = custom
	return in
}

const archive = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"BOUND\"\r\n\r\n" +
	"--BOUND\r\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\r\nX-Own: kept\r\n\r\n#!/bin/bash\r\necho own\r\n--BOUND--\r\n"

// Every family's text is as it was when it was last reviewed.
func TestGolden(t *testing.T) {
	t.Parallel()
	old := full(awsv1.FamilyBottlerocket)
	old.Release = "1.44.0"
	six := small(awsv1.FamilyAL2)
	six.Cluster.DNS = "fd00::a"
	cases := map[string]userdata.Input{
		"al2":                   full(awsv1.FamilyAL2),
		"al2-small":             small(awsv1.FamilyAL2),
		"al2-ipv6":              six,
		"al2-script":            with(small(awsv1.FamilyAL2), "#!/bin/bash\necho own"),
		"al2-archive":           with(small(awsv1.FamilyAL2), archive),
		"al2023":                full(awsv1.FamilyAL2023),
		"al2023-script":         with(small(awsv1.FamilyAL2023), "#!/bin/bash\necho own"),
		"al2023-script-as-yaml": with(small(awsv1.FamilyAL2023), "#!/bin/bash\ncurl -H \"X: y\" http://localhost/\n"),
		"al2023-yaml":           with(small(awsv1.FamilyAL2023), "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPods: 1\n"),
		"al2023-archive":        with(small(awsv1.FamilyAL2023), archive),
		"bottlerocket":          full(awsv1.FamilyBottlerocket),
		"bottlerocket-old":      old,
		"bottlerocket-settings": with(small(awsv1.FamilyBottlerocket), "[settings.kubernetes]\nlog-level = 3\nmax-pods = 1\n[settings.kubernetes.node-labels]\nown = \"b\"\nteam = \"lost\"\n[settings.kubernetes.node-taints]\nown = [\"x:NoSchedule\"]\n[settings.motd]\nmotd = \"hello\"\n"),
		"windows":               full(awsv1.FamilyWindows2022),
		"windows-script":        with(small(awsv1.FamilyWindows2022), "Write-Host own"),
		"custom":                with(full(awsv1.FamilyCustom), "anything"),
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := userdata.Render(in)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(data.Text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if data.Text != string(want) {
				t.Errorf("user data is\n%s\nwant\n%s", data.Text, want)
			}
		})
	}
}

// What no image could read is refused before anything is bought.
func TestRefused(t *testing.T) {
	t.Parallel()
	withoutRange := small(awsv1.FamilyAL2023)
	withoutRange.Cluster.ServiceCIDR = ""
	cases := map[string]struct {
		in   userdata.Input
		want string
	}{
		"an archive without a boundary": {with(small(awsv1.FamilyAL2), "Content-Type: multipart/mixed\n\nx"), "want multipart with a boundary"},
		"an archive that is none":       {with(small(awsv1.FamilyAL2023), "Content-Type: text/plain; boundary=x\n\nx"), "want multipart with a boundary"},
		"no service range":              {withoutRange, "cluster CIDR"},
		"settings that are no TOML":     {with(small(awsv1.FamilyBottlerocket), "[settings"), "settings of the user"},
		"a table that is none":          {with(small(awsv1.FamilyBottlerocket), "settings = 1"), "is no table"},
	}
	for name, tc := range cases {
		if _, err := userdata.Render(tc.in); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
}

// Settings that images do not know are left out, and named.
func TestUnknownSettings(t *testing.T) {
	t.Parallel()
	data, err := userdata.Render(with(small(awsv1.FamilyBottlerocket), "[settings.kubernetes]\nzeal = 1\nardour = 2\n"))
	if err != nil || strings.Join(data.Ignored, " ") != "ardour zeal" || strings.Contains(data.Text, "zeal") {
		t.Errorf("ignored %v (%v) in\n%s", data.Ignored, err, data.Text)
	}
}

// Labels of Kubernetes' own domains are not the kubelet's to set.
func TestLabels(t *testing.T) {
	t.Parallel()
	claim := map[string]string{
		"team": "a", "kubernetes.io/arch": "amd64", "x.k8s.io/y": "1", "node-restriction.kubernetes.io/z": "1", "notk8s.io/kept": "1",
	}
	got := userdata.Labels(claim, "spot", awsv1.FamilyAL2)
	if len(got) != 4 || got["team"] != "a" || got["notk8s.io/kept"] != "1" || got["karpenter.sh/do-not-sync-taints"] != "true" || got["karpenter.sh/capacity-type"] != "spot" {
		t.Errorf("labels are %v", got)
	}
	if got := userdata.Labels(nil, "spot", awsv1.FamilyCustom); len(got) != 1 {
		t.Errorf("labels of a custom image are %v", got)
	}
}

// The version of Bottlerocket is found where the class tells it.
func TestReleaseOf(t *testing.T) {
	t.Parallel()
	named := []awsv1.AMI{{ID: "ami-1", Name: "bottlerocket-aws-k8s-1.34-x86_64-v1.45.1-abc"}}
	cases := map[string]struct {
		term awsv1.AMISelectorTerm
		amis []awsv1.AMI
		want string
	}{
		"alias":          {awsv1.AMISelectorTerm{Alias: "bottlerocket@v1.10.0"}, named, "1.10.0"},
		"latest":         {awsv1.AMISelectorTerm{Alias: "bottlerocket@latest"}, named, "latest"},
		"name":           {awsv1.AMISelectorTerm{Name: "bottlerocket-x-v1.50.0-y"}, named, "1.50.0"},
		"identifier":     {awsv1.AMISelectorTerm{ID: "ami-1"}, named, "1.45.1"},
		"what was found": {awsv1.AMISelectorTerm{Tags: map[string]string{"a": "b"}}, named, "1.45.1"},
		"nothing":        {awsv1.AMISelectorTerm{ID: "ami-2"}, nil, ""},
	}
	for name, tc := range cases {
		class := &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{tc.term}}, Status: awsv1.EC2NodeClassStatus{AMIs: tc.amis}}
		if got := userdata.ReleaseOf(class); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// FuzzCustom: every user data is an error or comes out as text, never a panic.
func FuzzCustom(f *testing.F) {
	f.Add(archive)
	f.Add("[settings.kubernetes]\nmax-pods = 1")
	f.Add("a: b")
	f.Fuzz(func(t *testing.T, custom string) {
		for _, family := range []string{awsv1.FamilyAL2, awsv1.FamilyAL2023, awsv1.FamilyBottlerocket, awsv1.FamilyWindows2022, awsv1.FamilyCustom} {
			data, err := userdata.Render(with(small(family), custom))
			if err == nil && family != awsv1.FamilyCustom && !strings.Contains(data.Text, "lab") {
				t.Errorf("user data of %s does not name the cluster:\n%s", family, data.Text)
			}
		}
	})
}
