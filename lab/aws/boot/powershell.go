package boot

import (
	"errors"
	"fmt"
	"strings"
)

// readPowerShell finds the call of the EKS script in a Windows image's user data.
func readPowerShell(data string) (Config, error) {
	_, rest, open := strings.Cut(data, "<powershell>")
	body, _, closed := strings.Cut(rest, "</powershell>")
	if !open || !closed {
		return Config{}, errors.New("no <powershell> element")
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(body, "`\n", " "), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "&") && strings.Contains(line, "-EKSClusterName") {
			return readStart(line)
		}
	}
	return Config{}, errors.New("no line starts the EKS bootstrap script with -EKSClusterName")
}

func readStart(line string) (Config, error) {
	words, err := splitWords(line)
	if err != nil {
		return Config{}, fmt.Errorf("call of the EKS bootstrap script: %w", err)
	}
	if len(words) < 2 {
		return Config{}, errors.New("the line that starts the EKS bootstrap script names no script")
	}
	var c Config
	for words = words[2:]; len(words) > 0; words = words[2:] {
		if len(words) < 2 {
			return Config{}, fmt.Errorf("parameter %s of the EKS bootstrap script has no value", words[0])
		}
		if err := c.takeParameter(words[0], words[1]); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

func (c *Config) takeParameter(name, value string) error {
	switch name {
	case "-EKSClusterName":
		c.Cluster = value
	case "-APIServerEndpoint":
		c.Endpoint = value
	case "-Base64ClusterCA":
		c.Authority = value
	case "-DNSClusterIP":
		c.ClusterDNS = []string{value}
	case "-KubeletExtraArgs":
		return c.takeFlags([]string{value})
	case "-ServiceCIDR":
		c.ServiceRange = value
	case "-ContainerRuntime":
	default:
		return fmt.Errorf("the EKS bootstrap script has no parameter %s", name)
	}
	return nil
}
