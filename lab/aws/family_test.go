package aws_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

const script = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash -xe
echo custom
--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash -xe
exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1
/etc/eks/bootstrap.sh 'lab' --apiserver-endpoint 'https://127.0.0.1:6443' --b64-cluster-ca 'bGFi' \
--dns-cluster-ip '10.96.0.10' \
--use-max-pods false \
--kubelet-extra-args '--node-labels="team=a,b=c" --register-with-taints="karpenter.sh/unregistered:NoExecute" --max-pods=42'
--//--
`

const settings = `[settings.kubernetes]
cluster-name = "lab"
api-server = "https://127.0.0.1:6443"
cluster-certificate = "bGFi"
cluster-dns-ip = "10.96.0.10"
max-pods = 42
[settings.kubernetes.node-labels]
"team" = "a"
[settings.kubernetes.node-taints]
"karpenter.sh/unregistered" = [":NoExecute"]
`

const powershell = `<powershell>
[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"
& $EKSBootstrapScriptFile -EKSClusterName 'lab' -APIServerEndpoint 'https://127.0.0.1:6443' -Base64ClusterCA 'bGFi' -KubeletExtraArgs '--node-labels="team=a" --register-with-taints="karpenter.sh/unregistered:NoExecute" --max-pods=42' -DNSClusterIP '10.96.0.10'
</powershell>`

// Every family of images launches, reads its user data and joins.
func TestEveryFamilyJoins(t *testing.T) {
	t.Parallel()
	eks := "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023"
	cases := map[string]struct {
		parameter, data, kind string
		volume                int32 // of the pods' disk
		device                string
		os                    string
	}{
		"AL2":                 {"/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id", script, "m5.large", 30, "/dev/xvda", "linux"},
		"AL2 arm":             {"/aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/recommended/image_id", script, "m6g.large", 30, "/dev/xvda", "linux"},
		"AL2023":              {eks + "/x86_64/standard/recommended/image_id", nodeConfig("lab"), "m5.large", 30, "/dev/xvda", "linux"},
		"AL2023 arm":          {eks + "/arm64/standard/recommended/image_id", nodeConfig("lab"), "m6g.large", 30, "/dev/xvda", "linux"},
		"AL2023 nvidia":       {eks + "/x86_64/nvidia/recommended/image_id", nodeConfig("lab"), "g5.xlarge", 30, "/dev/xvda", "linux"},
		"Bottlerocket":        {"/aws/service/bottlerocket/aws-k8s-1.36/x86_64/latest/image_id", settings, "m5.large", 30, "/dev/xvdb", "linux"},
		"Windows2022":         {"/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id", powershell, "m5.large", 60, "/dev/sda1", "windows"},
		"an image of our own": {"/golden/image", nodeConfig("lab"), "m5.large", 30, "/dev/xvda", "linux"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEmulator(t)
			w := e.discover()
			w.image = e.image(tc.parameter)
			e.template(w, "nodes", func(d *types.RequestLaunchTemplateData) {
				d.UserData = sdk.String(base64.StdEncoding.EncodeToString([]byte(tc.data)))
				d.BlockDeviceMappings = []types.LaunchTemplateBlockDeviceMappingRequest{{DeviceName: &tc.device, Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: &tc.volume}}}
			})
			out := got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", "on-demand", 1, tc.kind+" a", tc.kind+" b", tc.kind+" c", tc.kind+" d")))(t)
			if len(ids(out)) != 1 {
				t.Fatalf("errors = %+v", out.Errors)
			}
			e.pass(10 * time.Second)
			booted := e.machines.all()
			if len(booted) != 1 {
				t.Fatal(e.console(ids(out)[0]))
			}
			m := booted[0]
			if m.Labels["team"] != "a" || *m.Kubelet.MaxPods != 42 || fmt.Sprint(m.Taints) != "[{karpenter.sh/unregistered  NoExecute <nil>}]" || m.OS != tc.os {
				t.Errorf("machine = %+v", m)
			}
			if m.Capacity.StorageEphemeral().Value() != int64(tc.volume)<<30 {
				t.Errorf("storage = %v, want %d GiB", m.Capacity.StorageEphemeral(), tc.volume)
			}
			if gpus := m.Capacity["nvidia.com/gpu"]; gpus.Value() != map[string]int64{"g5.xlarge": 1}[tc.kind] {
				t.Errorf("GPUs = %v", gpus.Value())
			}
		})
	}
}
