package dashboard

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Link leads from the page of a node, pool or pod to another tool, such as Grafana or the logs.
type Link struct {
	Name string `json:"name"`
	// Of is what it is about: node, pool or pod; all of its placeholders are known there.
	Of string `json:"of"`
	// Address has placeholders such as {node}; the page puts in what it shows.
	Address string `json:"address"`
}

// placeholders are what addresses may have, by what a link is about.
var placeholders = map[string][]string{
	"node": {"node", "claim", "instance", "pool", "zone", "type"},
	"pod":  {"namespace", "pod", "node"},
	"pool": {"pool"},
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// ParseLinks reads links that are written as NAME=ADDRESS. A link is about a pod if its address has {pod} or {namespace}, else about a node if it
// has a placeholder of nodes alone, else about a pool.
func ParseLinks(texts []string) ([]Link, error) {
	var out []Link
	for _, text := range texts {
		name, address, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("%q is no link; write NAME=https://host/path?var={node}", text)
		}
		parsed, err := url.Parse(placeholder.ReplaceAllString(address, "x"))
		if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
			return nil, fmt.Errorf("link %s: %q is no address that begins with https:// or http://", name, address)
		}
		var used []string
		for _, found := range placeholder.FindAllStringSubmatch(address, -1) {
			used = append(used, found[1])
		}
		about := ""
		for _, of := range []string{"pool", "node", "pod"} {
			if len(used) > 0 && !slices.ContainsFunc(used, func(p string) bool { return !slices.Contains(placeholders[of], p) }) {
				about = of
				break
			}
		}
		if about == "" {
			return nil, fmt.Errorf("link %s: its address needs placeholders of one kind of page: {%s} of a node, {%s} of a pod, or {pool}", name, strings.Join(placeholders["node"], "}, {"), strings.Join(placeholders["pod"], "}, {"))
		}
		out = append(out, Link{name, about, address})
	}
	return out, nil
}
