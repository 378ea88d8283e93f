package boot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	v1 "k8s.io/api/core/v1"
)

// settings holds what Bottlerocket reads of its user data. Numbers may be written as text.
type settings struct {
	Settings struct {
		Kubernetes struct {
			ClusterName        string              `toml:"cluster-name"`
			APIServer          string              `toml:"api-server"`
			ClusterCertificate string              `toml:"cluster-certificate"`
			ClusterDNS         any                 `toml:"cluster-dns-ip"`
			MaxPods            any                 `toml:"max-pods"`
			NodeLabels         map[string]string   `toml:"node-labels"`
			NodeTaints         map[string][]string `toml:"node-taints"`
			SystemReserved     map[string]string   `toml:"system-reserved"`
			KubeReserved       map[string]string   `toml:"kube-reserved"`
			EvictionHard       map[string]string   `toml:"eviction-hard"`
		} `toml:"kubernetes"`
		BootstrapCommands map[string]struct {
			Commands [][]string `toml:"commands"`
		} `toml:"bootstrap-commands"`
	} `toml:"settings"`
}

func readSettings(data []byte) (Config, error) {
	var s settings
	if err := toml.Unmarshal(data, &s); err != nil {
		return Config{}, fmt.Errorf("settings: %w", err)
	}
	k := s.Settings.Kubernetes
	c := Config{Cluster: k.ClusterName, Endpoint: k.APIServer, Authority: k.ClusterCertificate, ClusterDNS: textsOf(k.ClusterDNS)}
	c.Kubelet.SystemReserved, c.Kubelet.KubeReserved, c.Kubelet.EvictionHard = k.SystemReserved, k.KubeReserved, k.EvictionHard
	if k.MaxPods != nil {
		if err := c.takeFlag("max-pods", fmt.Sprint(k.MaxPods)); err != nil {
			return Config{}, fmt.Errorf("max-pods: %w", err)
		}
	}
	for _, b := range s.Settings.BootstrapCommands {
		for _, command := range b.Commands {
			c.LocalRAID = c.LocalRAID || strings.HasPrefix(strings.Join(command, " "), "apiclient ephemeral-storage init")
		}
	}
	if err := c.takeNodeTaints(k.NodeTaints); err != nil {
		return Config{}, err
	}
	return c, c.addLabels(k.NodeLabels)
}

// takeNodeTaints reads key = ["value:Effect", ...].
func (c *Config) takeNodeTaints(taints map[string][]string) error {
	keys := make([]string, 0, len(taints))
	for key := range taints {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		for _, text := range taints[key] {
			value, effect, ok := strings.Cut(text, ":")
			taint := v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)}
			if err := checkEffect(taint); !ok || err != nil {
				return fmt.Errorf("taint %s = %q: want value:Effect", key, text)
			}
			c.Taints = append(c.Taints, taint)
		}
	}
	return nil
}

// textsOf returns the texts of a text or a list of texts.
func textsOf(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var texts []string
		for _, item := range v {
			texts = append(texts, fmt.Sprint(item))
		}
		return texts
	default:
		return nil
	}
}
