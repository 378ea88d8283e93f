package userdata

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2"

	"tenon/core/order"
)

// bottlerocket merges Tenon's settings over the user's. It leaves out unknown Kubernetes settings: an image
// does not boot with a setting that it does not know.
func bottlerocket(in Input) (text string, ignored []string, err error) {
	document := tree{}
	if err := toml.Unmarshal([]byte(in.Custom), &document); err != nil {
		return "", nil, fmt.Errorf("settings of the user: %w", err)
	}
	settings, err := table(document, "settings")
	if err != nil {
		return "", nil, err
	}
	kubernetes, err := table(settings, "kubernetes")
	if err != nil {
		return "", nil, err
	}
	for _, key := range order.Keys(kubernetes) {
		if !slices.Contains(kubernetesSettings, key) {
			ignored = append(ignored, key)
			delete(kubernetes, key)
		}
	}
	if err := setKubernetes(kubernetes, in); err != nil {
		return "", nil, err
	}
	if in.RAID0 {
		commands, err := table(settings, "bootstrap-commands")
		if err != nil {
			return "", nil, err
		}
		commands["000-mount-instance-storage"] = mountStorage(in.Release)
	}
	data, err := toml.Marshal(document)
	if err != nil {
		return "", nil, fmt.Errorf("write the settings: %w", err)
	}
	return string(data), ignored, nil
}

// table finds a table below another, or makes it.
func table(in tree, name string) (tree, error) {
	found, exists := in[name]
	if !exists {
		made := tree{}
		in[name] = made
		return made, nil
	}
	inner, is := found.(tree)
	if !is {
		return nil, fmt.Errorf("settings of the user: %s is no table", name)
	}
	return inner, nil
}

func setKubernetes(k tree, in Input) error {
	k["cluster-name"] = in.Cluster.Name
	k["api-server"] = in.Cluster.Endpoint
	setText(k, "cluster-certificate", in.Cluster.CABundle)
	setText(k, "cluster-dns-ip", in.dns())
	kubelet := in.Kubelet
	k["max-pods"] = int64(*kubelet.MaxPods)
	taints := map[string][]string{}
	for _, t := range in.Taints {
		taints[t.Key] = append(taints[t.Key], t.Value+":"+string(t.Effect))
	}
	k["node-taints"] = taints
	labels, err := table(k, "node-labels")
	if err != nil {
		return err
	}
	for key, value := range in.Labels {
		labels[key] = value
	}
	grace := map[string]string{}
	for signal, period := range kubelet.EvictionSoftGracePeriod {
		grace[signal] = durationText(period)
	}
	setMap(k, "system-reserved", kubelet.SystemReserved)
	setMap(k, "kube-reserved", kubelet.KubeReserved)
	setMap(k, "eviction-hard", kubelet.EvictionHard)
	setMap(k, "eviction-soft", kubelet.EvictionSoft)
	setMap(k, "eviction-soft-grace-period", grace)
	if p := kubelet.EvictionMaxPodGracePeriod; p != nil {
		k["eviction-max-pod-grace-period"] = int64(*p)
	}
	setPercent(k, "image-gc-high-threshold-percent", kubelet.ImageGCHighThresholdPercent)
	setPercent(k, "image-gc-low-threshold-percent", kubelet.ImageGCLowThresholdPercent)
	if q := kubelet.CPUCFSQuota; q != nil {
		k["cpu-cfs-quota-enforced"] = *q
	}
	return nil
}

func setText(k tree, name, value string) {
	if value != "" {
		k[name] = value
	}
}

func setMap(k tree, name string, value map[string]string) {
	if len(value) > 0 {
		k[name] = value
	}
}

// setPercent writes a text, because that is what the image reads.
func setPercent(k tree, name string, value *int32) {
	if value != nil {
		k[name] = strconv.Itoa(int(*value))
	}
}

// mountStorage joins the machine's disks. Images before 1.46 need a list of the directories to put there.
func mountStorage(release string) tree {
	bind := []string{"apiclient", "ephemeral-storage", "bind"}
	if !bindsByItself(release) {
		bind = append(bind, "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")
	}
	return tree{
		"commands":  [][]string{{"apiclient", "ephemeral-storage", "init"}, bind},
		"mode":      "always",
		"essential": true,
	}
}

// kubernetesSettings are those that images know.
var kubernetesSettings = []string{
	"api-server", "cloud-provider", "cluster-certificate", "cluster-name", "cluster-dns-ip", "credential-providers",
	"node-labels", "node-taints", "max-pods", "static-pods", "eviction-hard", "eviction-soft",
	"eviction-soft-grace-period", "eviction-max-pod-grace-period", "kube-reserved", "system-reserved",
	"allowed-unsafe-sysctls", "server-tls-bootstrap", "registry-qps", "registry-burst", "event-qps", "event-burst",
	"kube-api-qps", "kube-api-burst", "container-log-max-size", "container-log-max-files", "cpu-manager-policy",
	"cpu-manager-policy-options", "cpu-manager-reconcile-period", "memory-manager-policy", "topology-manager-scope",
	"topology-manager-policy", "topology-manager-policy-options", "image-gc-high-threshold-percent",
	"image-gc-low-threshold-percent", "ids-per-pod", "cpu-cfs-quota-enforced", "shutdown-grace-period",
	"shutdown-grace-period-for-critical-pods", "cluster-domain", "seccomp-default", "pod-pids-limit",
	"device-ownership-from-security-context", "single-process-oom-kill", "container-log-max-workers",
	"container-log-monitor-interval", "hostname-override-source", "log-level",
}
