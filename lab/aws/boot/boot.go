// Package boot reads user data as the machine images do on their first boot: AL2's script, AL2023's
// NodeConfig, Bottlerocket's settings, the Windows script. User data that an image cannot use is an
// error, and such a node never joins. The package changes nothing and knows no instance.
package boot

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"

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
	// HugePages is how many pages of 2 MiB scripts of AL2023 take from the memory before the kubelet starts (vm.nr_hugepages).
	HugePages int64
}

// setsHugePages matches what a script or a file of sysctl says about them.
var setsHugePages = regexp.MustCompile(`vm\.nr_hugepages\s*=\s*(\d{1,9})`)

// readHugePages returns what the last line of the scripts about them says.
func readHugePages(script string) int64 {
	all := setsHugePages.FindAllStringSubmatch(script, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(all[len(all)-1][1], 10, 64) // nine digits fit
	return n
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
