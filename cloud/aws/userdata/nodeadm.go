package userdata

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"tenon/core/model"
)

// nodeadm writes the user data of AL2023. Tenon's document comes last, because later documents override
// earlier ones.
func nodeadm(in Input) (string, error) {
	if in.Cluster.ServiceCIDR == "" {
		return "", ErrNoServiceCIDR
	}
	parts, err := ownParts(in.Custom)
	if err != nil {
		return "", err
	}
	document, err := nodeConfig(in)
	if err != nil {
		return "", err
	}
	return archive(append(parts, partOf(typeNodeConfig, document))), nil
}

// ErrNoServiceCIDR means that the range of the cluster's services is not known yet; an AL2023 node does not
// start without it.
var ErrNoServiceCIDR = errors.New("resolving cluster CIDR")

// ownParts are the user's: an archive, a document in YAML, or a script.
func ownParts(custom string) ([]part, error) {
	switch {
	case custom == "":
		return nil, nil
	case isArchive(custom):
		parts, err := partsOf(custom)
		for i := range parts {
			parts[i] = parts[i].only("Content-Type", "Content-Transfer-Encoding")
		}
		return parts, err
	case isMapping(custom):
		return []part{partOf(typeNodeConfig, custom)}, nil
	}
	return []part{partOf(typeScript, custom)}, nil
}

// isMapping reports whether text is a YAML mapping. A script may read as one: a header in a call of curl
// is a key and a value.
func isMapping(text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), "#!") {
		return false
	}
	var document map[string]any
	return yaml.Unmarshal([]byte(text), &document) == nil && document != nil
}

// nodeTaint is a taint as the kubelet's configuration writes it.
type nodeTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// tree is a part of a document whose keys are written in alphabetical order.
type tree = map[string]any

func nodeConfig(in Input) (string, error) {
	config, err := kubeletConfig(in)
	if err != nil {
		return "", err
	}
	kubelet := tree{"config": config}
	if len(in.Labels) > 0 {
		kubelet["flags"] = []string{quoted("node-labels", pairs(in.Labels, "="))}
	}
	storage := tree{}
	if in.RAID0 {
		storage["strategy"] = "RAID0"
	}
	cluster := tree{"name": in.Cluster.Name, "apiServerEndpoint": in.Cluster.Endpoint, "cidr": in.Cluster.ServiceCIDR}
	if in.Cluster.CABundle != "" {
		cluster["certificateAuthority"] = in.Cluster.CABundle
	}
	text, err := yaml.Marshal(tree{
		"apiVersion": "node.eks.aws/v1alpha1",
		"kind":       "NodeConfig",
		"metadata":   tree{},
		"spec": tree{
			"cluster":    cluster,
			"containerd": tree{},
			"instance":   tree{"localStorage": storage},
			"kubelet":    kubelet,
		},
	})
	if err != nil {
		return "", fmt.Errorf("write the NodeConfig: %w", err)
	}
	return "# Karpenter Generated NodeConfig\n" + strings.TrimSpace(string(text)), nil
}

// kubeletConfig is the class's settings by their own names, which are the kubelet's.
func kubeletConfig(in Input) (tree, error) {
	text, err := json.Marshal(in.Kubelet)
	if err != nil {
		return nil, fmt.Errorf("write the kubelet's configuration: %w", err)
	}
	config := tree{}
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("read the kubelet's configuration: %w", err)
	}
	if len(in.Taints) > 0 {
		config["registerWithTaints"] = nodeTaints(in.Taints)
	}
	return config, nil
}

func nodeTaints(taints []model.Taint) []nodeTaint {
	list := make([]nodeTaint, len(taints))
	for i, t := range taints {
		list[i] = nodeTaint{t.Key, t.Value, string(t.Effect)}
	}
	return list
}
