package requirement

// Label keys that the core itself gives a meaning.
const (
	KeyNodePool     = "karpenter.sh/nodepool"
	KeyCapacityType = "karpenter.sh/capacity-type"
	KeyZone         = "topology.kubernetes.io/zone"
	KeyRegion       = "topology.kubernetes.io/region"
	KeyInstanceType = "node.kubernetes.io/instance-type"
	KeyArch         = "kubernetes.io/arch"
	KeyOS           = "kubernetes.io/os"
	KeyWindowsBuild = "node.kubernetes.io/windows-build"
	KeyHostname     = "kubernetes.io/hostname"
)

// Words are the parts of a Vocabulary, as a provider describes its own.
type Words struct {
	// WellKnown keys may be selected by pods although no pool defines them, and are
	// never restricted.
	WellKnown []string `json:"wellKnown,omitempty"`
	// RestrictedDomains are domains whose keys, and whose subdomains' keys, users may
	// not write. RestrictedKeys are single such keys.
	RestrictedDomains []string `json:"restrictedDomains,omitempty"`
	RestrictedKeys    []string `json:"restrictedKeys,omitempty"`
	// Aliases are other spellings of a key; Translations, by the right spelling of a
	// key, are other spellings of its values.
	Aliases      map[string]string            `json:"aliases,omitempty"`
	Translations map[string]map[string]string `json:"translations,omitempty"`
	// KnownValues are all the values that a key can have. Of keys that are not listed
	// nothing is known.
	KnownValues map[string][]string `json:"knownValues,omitempty"`
}

// coreWords are the words of the API itself.
func coreWords() Words {
	return Words{
		WellKnown: []string{
			KeyNodePool, KeyCapacityType, KeyZone, KeyRegion,
			KeyInstanceType, KeyArch, KeyOS, KeyWindowsBuild,
		},
		RestrictedDomains: []string{"karpenter.sh"},
		RestrictedKeys:    []string{KeyHostname},
		Aliases: map[string]string{
			"failure-domain.beta.kubernetes.io/zone":   KeyZone,
			"failure-domain.beta.kubernetes.io/region": KeyRegion,
			"beta.kubernetes.io/arch":                  KeyArch,
			"beta.kubernetes.io/os":                    KeyOS,
			"beta.kubernetes.io/instance-type":         KeyInstanceType,
		},
		KnownValues: map[string][]string{
			KeyCapacityType: {"on-demand", "reserved", "spot"},
		},
	}
}
