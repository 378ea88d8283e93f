package dashboard

import (
	"net/http"
	"regexp"
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
	handlers, clusters := map[string]http.Handler{}, make([]cluster, 0, len(all))
	for i, d := range all {
		path := "/"
		if i > 0 {
			path = "/cluster/" + strange.ReplaceAllString(d.options.Title, "-") + "/"
		}
		for handlers[path] != nil {
			path = strings.TrimSuffix(path, "/") + "-/"
		}
		handlers[path] = http.StripPrefix(strings.TrimSuffix(path, "/"), d.Handler())
		clusters = append(clusters, cluster{d.options.Title, path})
	}
	if len(all) > 1 {
		for _, d := range all {
			d.clusters = clusters
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for path, handler := range handlers {
			if path != "/" && strings.HasPrefix(r.URL.Path, path) {
				handler.ServeHTTP(w, r)
				return
			}
		}
		handlers["/"].ServeHTTP(w, r)
	})
}
