package userdata

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/api/scalar"
	"tenon/core/model"
	"tenon/core/order"
)

// flags are the kubelet's, as one text. Maps are in the order of their keys, so that the
// same settings share a launch template.
func flags(in Input) string {
	k := in.Kubelet
	grace := map[string]string{}
	for signal, period := range k.EvictionSoftGracePeriod {
		grace[signal] = durationText(period)
	}
	all := []string{
		quoted("node-labels", pairs(in.Labels, "=")),
		quoted("register-with-taints", taintTexts(in.Taints)),
		number("max-pods", k.MaxPods),
		number("pods-per-core", k.PodsPerCore),
		quoted("system-reserved", pairs(k.SystemReserved, "=")),
		quoted("kube-reserved", pairs(k.KubeReserved, "=")),
		quoted("eviction-hard", pairs(k.EvictionHard, "<")),
		quoted("eviction-soft", pairs(k.EvictionSoft, "<")),
		quoted("eviction-soft-grace-period", pairs(grace, "=")),
		number("eviction-max-pod-grace-period", k.EvictionMaxPodGracePeriod),
		number("image-gc-high-threshold", k.ImageGCHighThresholdPercent),
		number("image-gc-low-threshold", k.ImageGCLowThresholdPercent),
	}
	if k.CPUCFSQuota != nil {
		all = append(all, "--cpu-cfs-quota="+strconv.FormatBool(*k.CPUCFSQuota))
	}
	given := all[:0]
	for _, flag := range all {
		if flag != "" {
			given = append(given, flag)
		}
	}
	return strings.Join(given, " ")
}

func durationText(d scalar.Duration) string { return d.Duration.String() }

func quoted(name string, values []string) string {
	if len(values) == 0 {
		return ""
	}
	return fmt.Sprintf(`--%s="%s"`, name, strings.Join(values, ","))
}

func number(name string, value *int32) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf("--%s=%d", name, *value)
}

func pairs(m map[string]string, sign string) []string {
	texts := make([]string, 0, len(m))
	for _, key := range order.Keys(m) {
		texts = append(texts, key+sign+m[key])
	}
	return texts
}

func taintTexts(taints []model.Taint) []string {
	texts := make([]string, 0, len(taints))
	for _, t := range taints {
		key := t.Key
		if t.Value != "" {
			key += "=" + t.Value
		}
		texts = append(texts, key+":"+string(t.Effect))
	}
	return texts
}
