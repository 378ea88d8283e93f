package controlplane

// Files says where the components find their keys, certificates and kubeconfigs.
type Files interface {
	// PKI is the path of a key or certificate.
	PKI(file string) string
	// UserConfig is the path of a component's kubeconfig.
	UserConfig(user string) string
}
