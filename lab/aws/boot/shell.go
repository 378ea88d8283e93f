package boot

import (
	"errors"
	"fmt"
	"strings"
)

const bootstrap = "/etc/eks/bootstrap.sh"

// readScripts finds the call of the bootstrap program in AL2's shell scripts.
func readScripts(data []byte) (Config, error) {
	parts, err := partsOf(data)
	if err != nil {
		return Config{}, err
	}
	for _, p := range parts {
		if p.kind != kindScript && p.kind != "" {
			continue
		}
		for line := range strings.SplitSeq(strings.ReplaceAll(p.body, "\\\n", " "), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), bootstrap) {
				return readBootstrap(line)
			}
		}
	}
	return Config{}, fmt.Errorf("no script calls %s", bootstrap)
}

func readBootstrap(line string) (Config, error) {
	words, err := splitWords(line)
	if err != nil {
		return Config{}, fmt.Errorf("call of %s: %w", bootstrap, err)
	}
	var c Config
	for words = words[1:]; len(words) > 0; {
		word := words[0]
		if !strings.HasPrefix(word, "--") {
			c.Cluster, words = word, words[1:]
			continue
		}
		if len(words) < 2 {
			return Config{}, fmt.Errorf("option %s of %s has no value", word, bootstrap)
		}
		if err := c.takeOption(word, words[1]); err != nil {
			return Config{}, err
		}
		words = words[2:]
	}
	return c, nil
}

func (c *Config) takeOption(name, value string) error {
	switch name {
	case "--apiserver-endpoint":
		c.Endpoint = value
	case "--b64-cluster-ca":
		c.Authority = value
	case "--dns-cluster-ip":
		c.ClusterDNS = []string{value}
	case "--kubelet-extra-args":
		return c.takeFlags([]string{value})
	case "--local-disks":
		c.LocalRAID = value == "raid0"
	case "--use-max-pods", "--ip-family", "--container-runtime", "--service-ipv6-cidr":
	default:
		return fmt.Errorf("%s has no option %s", bootstrap, name)
	}
	return nil
}

// splitWords splits as a shell does: at blanks, but not within quotes.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inWord := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
