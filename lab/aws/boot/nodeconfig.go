package boot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"tenon/lab/kubelet"
)

// nodeConfig is nodeadm's document (node.eks.aws/v1alpha1 NodeConfig).
type nodeConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Cluster struct {
			Name                 string `json:"name"`
			APIServerEndpoint    string `json:"apiServerEndpoint"`
			CertificateAuthority string `json:"certificateAuthority"`
			CIDR                 string `json:"cidr"`
		} `json:"cluster"`
		Instance struct {
			LocalStorage struct {
				Strategy string `json:"strategy"`
			} `json:"localStorage"`
		} `json:"instance"`
		Kubelet struct {
			Config map[string]any `json:"config"`
			Flags  []string       `json:"flags"`
		} `json:"kubelet"`
	} `json:"spec"`
}

// readNodeConfigs merges the NodeConfigs of an archive; later ones win. It ignores scripts, except what they say about huge pages.
func readNodeConfigs(data []byte) (Config, error) {
	parts, err := partsOf(data)
	if err != nil {
		return Config{}, err
	}
	merged := map[string]any{}
	found, hugePages := false, int64(0)
	for i, p := range parts {
		if p.kind == kindScript {
			hugePages = cmp.Or(readHugePages(p.body), hugePages)
		}
		if p.kind != kindNodeConfig && (p.kind != "" || !strings.Contains(p.body, "node.eks.aws")) {
			continue
		}
		document := map[string]any{}
		if err := yaml.UnmarshalStrict([]byte(p.body), &document); err != nil {
			return Config{}, fmt.Errorf("NodeConfig in part %d: %w", i+1, err)
		}
		if document["kind"] != "NodeConfig" || document["apiVersion"] != "node.eks.aws/v1alpha1" {
			return Config{}, fmt.Errorf("part %d is no NodeConfig of node.eks.aws/v1alpha1", i+1)
		}
		overlay(merged, document)
		found = true
	}
	if !found {
		return Config{}, errors.New("no NodeConfig")
	}
	c, err := configOf(merged)
	c.HugePages = hugePages
	return c, err
}

// overlay merges maps deeply, and replaces lists, except kubelet's flags, which add up.
func overlay(base, over map[string]any) {
	for key, value := range over {
		inner, isMap := value.(map[string]any)
		old, wasMap := base[key].(map[string]any)
		flags, isList := value.([]any)
		before, wasList := base[key].([]any)
		switch {
		case isMap && wasMap:
			overlay(old, inner)
		case key == "flags" && isList && wasList:
			base[key] = append(append([]any{}, before...), flags...)
		default:
			base[key] = value
		}
	}
}

func configOf(merged map[string]any) (Config, error) {
	text, err := json.Marshal(merged)
	if err != nil {
		return Config{}, err
	}
	var n nodeConfig
	if err := json.Unmarshal(text, &n); err != nil {
		return Config{}, fmt.Errorf("NodeConfig: %w", err)
	}
	c := Config{
		Cluster: n.Spec.Cluster.Name, Endpoint: n.Spec.Cluster.APIServerEndpoint,
		Authority: n.Spec.Cluster.CertificateAuthority, ServiceRange: n.Spec.Cluster.CIDR,
		LocalRAID: n.Spec.Instance.LocalStorage.Strategy == "RAID0",
	}
	if err := c.takeKubeletConfig(n.Spec.Kubelet.Config); err != nil {
		return Config{}, err
	}
	return c, c.takeFlags(n.Spec.Kubelet.Flags)
}

// takeKubeletConfig reads the fields of a KubeletConfiguration that are visible from outside.
func (c *Config) takeKubeletConfig(config map[string]any) error {
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	var k struct {
		kubelet.KubeletConfig
		ClusterDNS         []string   `json:"clusterDNS"`
		RegisterWithTaints []v1.Taint `json:"registerWithTaints"`
	}
	if err := json.Unmarshal(text, &k); err != nil {
		return fmt.Errorf("kubelet configuration: %w", err)
	}
	c.Kubelet, c.ClusterDNS, c.Taints = k.KubeletConfig, k.ClusterDNS, k.RegisterWithTaints
	for _, t := range c.Taints {
		if err := checkEffect(t); err != nil {
			return err
		}
	}
	return nil
}

// addLabels refuses labels that a kubelet may not give its node: the NodeRestriction admission would
// refuse the node.
func (c *Config) addLabels(labels map[string]string) error {
	for key := range labels {
		if restricted(key) {
			return fmt.Errorf("label %s: a kubelet may not set it (NodeRestriction)", key)
		}
	}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	maps.Copy(c.Labels, labels)
	return nil
}
