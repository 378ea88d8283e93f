package dashboard

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// cluster is one that a server shows, and where.
type cluster struct {
	Title string `json:"title"`
	Path  string `json:"path"`
}

// strange are the characters of a title that an address does not have as they are.
var strange = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// Several serves the dashboards of several clusters: the first one at /, the others at /cluster/ and their titles. The pages of
// each lead to the others.
func Several(all []*Dashboard) http.Handler {
	mux := http.NewServeMux()
	var clusters []cluster
	for i, d := range all {
		path := "/"
		if i > 0 {
			path = "/cluster/" + strange.ReplaceAllString(d.options.Title, "-") + "/"
		}
		for slices.ContainsFunc(clusters, func(c cluster) bool { return c.Path == path }) {
			path = strings.TrimSuffix(path, "/") + "-/"
		}
		mux.Handle(path, http.StripPrefix(strings.TrimSuffix(path, "/"), d.Handler()))
		clusters = append(clusters, cluster{d.options.Title, path})
	}
	if len(all) > 1 {
		for _, d := range all {
			d.clusters = clusters
		}
	}
	return mux
}
