// Package boot reads user data as the machine images do on their first boot: AL2's script, AL2023's
// NodeConfig, Bottlerocket's settings, the Windows script. User data that an image cannot use is an
// error, and such a node never joins. The package changes nothing and knows no instance.
package boot

import (
	"encoding/base64"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"tenon/lab/kubelet"
)

// Family is the operating system of an image, which decides how user data is read.
type Family string

// The families of EKS images.
const (
	AL2          Family = "AL2"
	AL2023       Family = "AL2023"
	Bottlerocket Family = "Bottlerocket"
	Windows2019  Family = "Windows2019"
	Windows2022  Family = "Windows2022"
	Windows2025  Family = "Windows2025"
)

// Limit is how long user data may be, before base64.
const Limit = 16384

// Windows reports whether it is a Windows image.
func (f Family) Windows() bool { return f == Windows2019 || f == Windows2022 || f == Windows2025 }

// Config holds what a node knows of itself and its cluster after reading its user data.
type Config struct {
	Cluster      string
	Endpoint     string
	Authority    string // certificate, base64
	ServiceRange string
	ClusterDNS   []string
	Labels       map[string]string
	Taints       []v1.Taint
	Kubelet      kubelet.KubeletConfig
	LocalRAID    bool // local disks hold the pods' storage
}

// Read reads base64 user data as an image of the family does.
func Read(family Family, encoded string) (Config, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Config{}, fmt.Errorf("user data is not base64: %w", err)
	}
	c, err := read(family, data)
	if err != nil {
		return Config{}, fmt.Errorf("user data of %s: %w", family, err)
	}
	return c, c.complete(family)
}

func read(family Family, data []byte) (Config, error) {
	switch {
	case family == AL2:
		return readScripts(data)
	case family == AL2023:
		return readNodeConfigs(data)
	case family == Bottlerocket:
		return readSettings(data)
	case family.Windows():
		return readPowerShell(string(data))
	default:
		return Config{}, fmt.Errorf("it is not known how such an image reads its user data")
	}
}

// complete returns an error if something is missing that every kubelet needs.
func (c Config) complete(family Family) error {
	switch {
	case c.Cluster == "":
		return fmt.Errorf("user data of %s names no cluster", family)
	case c.Endpoint == "":
		return fmt.Errorf("user data of %s names no API server", family)
	case c.Authority == "":
		return fmt.Errorf("user data of %s has no certificate of the cluster", family)
	case family == AL2023 && c.ServiceRange == "":
		return fmt.Errorf("user data of %s has no service range (spec.cluster.cidr)", family)
	}
	return nil
}
