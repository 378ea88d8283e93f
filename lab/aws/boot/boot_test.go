package boot

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"tenon/lab/kubelet"
)

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func limit(n int32) *int32 { return &n }

func document(cluster, kubelet string) string {
	return "--B\nContent-Type: application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: " + cluster + "\n  kubelet: " + kubelet + "\n"
}

const archive = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n"

func TestRead(t *testing.T) {
	t.Parallel()
	full := `{name: c, apiServerEndpoint: https://e, certificateAuthority: ca, cidr: 10.0.0.0/16}`
	cases := map[string]struct {
		family Family
		data   string
		want   Config
	}{
		"AL2023: later documents win, flags add up": {
			AL2023, archive + document(full, `{config: {maxPods: 5, podsPerCore: 2}, flags: ["--node-labels=a=1"]}`) +
				"--B\nContent-Type: text/x-shellscript\n\necho hello\n" + document("{name: d}", `{config: {maxPods: 6}, flags: ["--node-labels=b=2"]}`) + "--B--\n",
			Config{Cluster: "d", Endpoint: "https://e", Authority: "ca", ServiceRange: "10.0.0.0/16", Labels: map[string]string{"a": "1", "b": "2"},
				Kubelet: kubelet.KubeletConfig{MaxPods: limit(6), PodsPerCore: 2}},
		},
		"AL2023: a script takes huge pages": {
			AL2023, archive + document(full, "{}") + "--B\nContent-Type: text/x-shellscript\n\nsysctl -w vm.nr_hugepages=1024\necho \"vm.nr_hugepages = 2048\" >> /etc/sysctl.conf\n--B--\n",
			Config{Cluster: "c", Endpoint: "https://e", Authority: "ca", ServiceRange: "10.0.0.0/16", HugePages: 2048},
		},
		"AL2023: a bare document": {
			AL2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: " + full + "\n  instance: {localStorage: {strategy: RAID0}}\n" +
				"  kubelet: {config: {registerWithTaints: [{key: k, value: v, effect: NoSchedule}], evictionHard: {memory.available: 5%}}}\n",
			Config{Cluster: "c", Endpoint: "https://e", Authority: "ca", ServiceRange: "10.0.0.0/16", LocalRAID: true,
				Taints:  []v1.Taint{{Key: "k", Value: "v", Effect: "NoSchedule"}},
				Kubelet: kubelet.KubeletConfig{EvictionHard: map[string]string{"memory.available": "5%"}}},
		},
		"AL2: kubelet arguments within quotes": {
			AL2, "#!/bin/bash\n/etc/eks/bootstrap.sh 'c' --apiserver-endpoint 'https://e' --b64-cluster-ca 'ca' \\\n --local-disks raid0 --kubelet-extra-args '--register-with-taints=\"k=v:NoSchedule,l:NoExecute\" --pods-per-core=3 --kube-reserved=\"cpu=1,memory=2Gi\" --eviction-hard=\"memory.available<5%\"'\n",
			Config{Cluster: "c", Endpoint: "https://e", Authority: "ca", LocalRAID: true,
				Taints: []v1.Taint{{Key: "k", Value: "v", Effect: "NoSchedule"}, {Key: "l", Effect: "NoExecute"}},
				Kubelet: kubelet.KubeletConfig{PodsPerCore: 3, KubeReserved: map[string]string{"cpu": "1", "memory": "2Gi"},
					EvictionHard: map[string]string{"memory.available": "5%"}}},
		},
		"Bottlerocket: numbers as text, local disks by command": {
			Bottlerocket, "[settings.kubernetes]\ncluster-name='c'\napi-server='https://e'\ncluster-certificate='ca'\nmax-pods='7'\n[settings.kubernetes.node-taints]\nk=['v:NoSchedule',':NoExecute']\n" +
				"[settings.bootstrap-commands.000-mount-instance-storage]\ncommands=[['apiclient','ephemeral-storage','init'],['apiclient','ephemeral-storage','bind']]\nmode='always'\nessential=true\n",
			Config{Cluster: "c", Endpoint: "https://e", Authority: "ca", LocalRAID: true, Labels: map[string]string{},
				Taints: []v1.Taint{{Key: "k", Value: "v", Effect: "NoSchedule"}, {Key: "k", Effect: "NoExecute"}}, Kubelet: kubelet.KubeletConfig{MaxPods: limit(7)}},
		},
		"Windows": {
			Windows2022, "<powershell>\nWrite-Host hi\n& $f -EKSClusterName 'c' -APIServerEndpoint 'https://e' -Base64ClusterCA 'ca' -KubeletExtraArgs '--max-pods=110'\n</powershell>",
			Config{Cluster: "c", Endpoint: "https://e", Authority: "ca", Kubelet: kubelet.KubeletConfig{MaxPods: limit(110)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Read(tc.family, encode(tc.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadStumbles(t *testing.T) {
	t.Parallel()
	complete := "name: c, apiServerEndpoint: e, certificateAuthority: ca"
	cases := map[string]struct {
		family     Family
		data, want string
	}{
		"no range on AL2023":     {AL2023, archive + document("{"+complete+"}", "{}") + "--B--\n", "service range"},
		"a made-up effect":       {AL2023, archive + document("{"+complete+", cidr: x}", "{config: {registerWithTaints: [{key: k, effect: Never}]}}") + "--B--\n", "Never"},
		"broken YAML":            {AL2023, archive + document("{", "{}") + "--B--\n", "NodeConfig in part 1"},
		"another kind":           {AL2023, archive + "--B\nContent-Type: application/node.eks.aws\n\nkind: Pod\n--B--\n", "no NodeConfig of"},
		"an archive of nothing":  {AL2023, "MIME-Version: 1.0\nContent-Type: text/plain\n\nx", "want multipart"},
		"no script":              {AL2, "echo", "no script calls"},
		"an open quote":          {AL2, "/etc/eks/bootstrap.sh 'c", "quote"},
		"a made-up option":       {AL2, "/etc/eks/bootstrap.sh c --colour red", "--colour"},
		"a made-up flag":         {AL2, "/etc/eks/bootstrap.sh c --kubelet-extra-args '--colour=red'", "--colour"},
		"broken TOML":            {Bottlerocket, "[settings", "settings"},
		"settings of no cluster": {Bottlerocket, "[settings.kubernetes]\nmax-pods=1", "no cluster"},
		"no element":             {Windows2019, "& $f -EKSClusterName c", "<powershell>"},
		"no path":                {Windows2019, "<powershell>\n&-EKSClusterName\n</powershell>", "names no script"},
		"another image":          {"Debian", "x", "it is not known"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Read(tc.family, encode(tc.data)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q in it", err, tc.want)
			}
		})
	}
	if _, err := Read(AL2, "%"); err == nil {
		t.Error("what is not base64 is read")
	}
}

// The kubelet refuses to start with labels of Kubernetes' own domains, but for a few.
func TestRestrictedLabels(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"team": false, "example.com/team": false, "node.kubernetes.io/x": false, "kubelet.kubernetes.io/x": false, "a.node.kubernetes.io/x": false,
		"kubernetes.io/arch": false, "topology.kubernetes.io/zone": false, "kubernetes.io/team": true, "x.k8s.io/team": true, "node-restriction.kubernetes.io/team": true,
		"notkubernetes.io/team": false,
	} {
		if restricted(key) != want {
			t.Errorf("%s: %t, want %t", key, restricted(key), want)
		}
	}
}

func FuzzRead(f *testing.F) {
	families := []Family{AL2, AL2023, Bottlerocket, Windows2022}
	f.Add(uint8(1), archive+document("{name: c}", `{flags: ["--max-pods=1"]}`)+"--B--\n")
	f.Add(uint8(0), "/etc/eks/bootstrap.sh c --kubelet-extra-args '--max-pods=1'")
	f.Add(uint8(2), "[settings.kubernetes]\ncluster-name='c'")
	f.Add(uint8(3), "<powershell>\n& $f -EKSClusterName 'c'\n</powershell>")
	f.Fuzz(func(t *testing.T, family uint8, data string) {
		c, err := Read(families[int(family)%len(families)], encode(data))
		if err == nil && (c.Cluster == "" || c.Endpoint == "" || c.Authority == "") {
			t.Errorf("an incomplete configuration passes: %+v", c)
		}
	})
}
