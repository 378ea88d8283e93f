package boot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// takeFlags reads kubelet flags, given as --name=value or as --name value.
func (c *Config) takeFlags(flags []string) error {
	var words []string
	for _, f := range flags {
		more, err := splitWords(f)
		if err != nil {
			return fmt.Errorf("kubelet flags %q: %w", f, err)
		}
		words = append(words, more...)
	}
	for len(words) > 0 {
		name, value, joined := strings.Cut(words[0], "=")
		words = words[1:]
		if !strings.HasPrefix(name, "--") {
			return fmt.Errorf("kubelet flag %q: unknown word", name)
		}
		if !joined {
			if len(words) == 0 {
				return fmt.Errorf("kubelet flag %s has no value", name)
			}
			value, words = words[0], words[1:]
		}
		if err := c.takeFlag(strings.TrimPrefix(name, "--"), value); err != nil {
			return fmt.Errorf("kubelet flag %s: %w", name, err)
		}
	}
	return nil
}

// silentFlags lists flags that a kubelet knows and whose effect is invisible from outside.
var silentFlags = []string{
	"eviction-soft", "eviction-soft-grace-period", "eviction-max-pod-grace-period", "image-gc-high-threshold",
	"image-gc-low-threshold", "cpu-cfs-quota", "v", "cloud-provider", "hostname-override", "container-log-max-size",
	"container-log-max-files", "feature-gates", "cluster-dns", "node-ip", "max-parallel-image-pulls", "serialize-image-pulls",
	"allowed-unsafe-sysctls", "topology-manager-policy", "cpu-manager-policy", "pod-infra-container-image", "register-node",
}

func (c *Config) takeFlag(name, value string) (err error) {
	k := &c.Kubelet
	switch name {
	case "node-labels":
		labels, err := pairs(value, "=")
		if err != nil {
			return err
		}
		return c.addLabels(labels)
	case "register-with-taints":
		c.Taints, err = parseTaints(value)
	case "max-pods":
		n, bad := strconv.ParseInt(value, 10, 32)
		limit := int32(n)
		k.MaxPods, err = &limit, bad
	case "pods-per-core":
		n, bad := strconv.ParseInt(value, 10, 32)
		k.PodsPerCore, err = int32(n), bad
	case "system-reserved":
		k.SystemReserved, err = pairs(value, "=")
	case "kube-reserved":
		k.KubeReserved, err = pairs(value, "=")
	case "eviction-hard":
		k.EvictionHard, err = pairs(value, "<")
	default:
		if !slices.Contains(silentFlags, name) {
			return fmt.Errorf("no kubelet has it")
		}
	}
	return err
}

// pairs reads a=1,b=2.
func pairs(text, sign string) (map[string]string, error) {
	found := map[string]string{}
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		key, value, ok := strings.Cut(item, sign)
		if !ok || key == "" {
			return nil, fmt.Errorf("%q: want name%svalue", item, sign)
		}
		found[key] = value
	}
	return found, nil
}

// parseTaints reads key=value:Effect,key:Effect.
func parseTaints(text string) ([]v1.Taint, error) {
	var taints []v1.Taint
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		colon := strings.LastIndex(item, ":")
		if colon <= 0 {
			return nil, fmt.Errorf("taint %q: want key=value:Effect", item)
		}
		key, value, _ := strings.Cut(item[:colon], "=")
		taint := v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(item[colon+1:])}
		if err := checkEffect(taint); err != nil {
			return nil, err
		}
		taints = append(taints, taint)
	}
	return taints, nil
}

func checkEffect(t v1.Taint) error {
	switch t.Effect {
	case v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute:
		return nil
	default:
		return fmt.Errorf("taint %s has the effect %q, which does not exist", t.Key, t.Effect)
	}
}

// kubeletMaySet lists the labels of Kubernetes' own domains that a kubelet may set (Kubernetes:
// "NodeRestriction").
var kubeletMaySet = []string{
	v1.LabelHostname, v1.LabelArchStable, v1.LabelOSStable, "beta.kubernetes.io/instance-type",
	v1.LabelInstanceTypeStable, "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
	v1.LabelTopologyRegion, v1.LabelTopologyZone, v1.LabelWindowsBuild, "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
}

// restricted reports whether the kubelet refuses to start with the label.
func restricted(key string) bool {
	domain, _, has := strings.Cut(key, "/")
	if !has || slices.Contains(kubeletMaySet, key) {
		return false
	}
	within := func(suffix string) bool { return domain == suffix || strings.HasSuffix(domain, "."+suffix) }
	if within("kubelet.kubernetes.io") || within("node.kubernetes.io") {
		return false
	}
	return within("kubernetes.io") || within("k8s.io")
}
