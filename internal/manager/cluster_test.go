package manager

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// cluster is a small API server: version, discovery, and Leases that can be created and changed.
type cluster struct {
	*httptest.Server

	mu      sync.Mutex
	version int
	kinds   []string // of karpenter.sh/v1
	leases  map[string]map[string]any
	writes  chan struct{} // one for each Lease written
	agents  map[string]bool
}

func newCluster(t *testing.T, kinds ...string) *cluster {
	t.Helper()
	c := &cluster{kinds: kinds, leases: map[string]map[string]any{}, writes: make(chan struct{}, 100), agents: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", c.say(`{"gitVersion":"v1.36.3"}`))
	mux.HandleFunc("GET /api", c.say(`{"kind":"APIVersions","versions":["v1"]}`))
	mux.HandleFunc("GET /api/v1", c.say(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes","kind":"Node"},{"name":"pods","kind":"Pod","namespaced":true}]}`))
	mux.HandleFunc("GET /api/v1/nodes", c.say(`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}]}`))
	mux.HandleFunc("GET /api/v1/pods", c.say(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`))
	mux.HandleFunc("GET /apis", c.groups)
	mux.HandleFunc("GET /apis/karpenter.sh/v1", c.resources)
	mux.HandleFunc("GET /apis/coordination.k8s.io/v1", c.say(
		`{"kind":"APIResourceList","groupVersion":"coordination.k8s.io/v1","resources":[{"name":"leases","kind":"Lease","namespaced":true,"verbs":["list"]}]}`))
	mux.HandleFunc("POST /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases", c.writeLease)
	mux.HandleFunc("PUT /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}", c.writeLease)
	mux.HandleFunc("GET /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}", c.readLease)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.agents[r.UserAgent()] = true
		w.Header().Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *cluster) connection() Connection {
	// This server reads Leases as JSON, which is not the client's preferred format.
	return Connection{Config: &rest.Config{Host: c.URL, UserAgent: "karpenter/1.2.3", ContentConfig: rest.ContentConfig{ContentType: "application/json"}}}
}

// install makes the kinds known, like applying their definitions.
func (c *cluster) install(kinds ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kinds = append(c.kinds, kinds...)
}

// heard reports whether a client of that name sent a request.
func (c *cluster) heard(agent string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.agents[agent]
}

// holder is the holder of the Lease; it reports false if there is none.
func (c *cluster) holder(namespacedName string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lease, ok := c.leases[namespacedName]
	if !ok {
		return "", false
	}
	holder, _ := lease["spec"].(map[string]any)["holderIdentity"].(string)
	return holder, true
}

func (c *cluster) say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func (c *cluster) groups(w http.ResponseWriter, _ *http.Request) {
	names := []string{"coordination.k8s.io"}
	if len(c.kinds) > 0 {
		names = append(names, "karpenter.sh")
	}
	var groups []string
	for _, name := range names {
		version := fmt.Sprintf(`{"groupVersion":"%s/v1","version":"v1"}`, name)
		groups = append(groups, fmt.Sprintf(`{"name":%q,"versions":[%s],"preferredVersion":%s}`, name, version, version))
	}
	fmt.Fprintf(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[%s]}`, strings.Join(groups, ","))
}

func (c *cluster) resources(w http.ResponseWriter, r *http.Request) {
	if len(c.kinds) == 0 {
		http.NotFound(w, r)
		return
	}
	var resources []string
	for _, kind := range c.kinds {
		resources = append(resources, fmt.Sprintf(`{"name":"%ss","kind":%q,"namespaced":false,"verbs":["list"]}`, strings.ToLower(kind), kind))
	}
	fmt.Fprintf(w, `{"kind":"APIResourceList","groupVersion":"karpenter.sh/v1","resources":[%s]}`, strings.Join(resources, ","))
}

func (c *cluster) writeLease(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var lease map[string]any
	if err == nil {
		err = json.Unmarshal(body, &lease)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	metadata := lease["metadata"].(map[string]any)
	name := r.PathValue("namespace") + "/" + metadata["name"].(string)
	given, _ := metadata["resourceVersion"].(string)
	if stored, ok := c.leases[name]; ok && stored["metadata"].(map[string]any)["resourceVersion"] != given {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`)
		return
	}
	c.version++
	metadata["resourceVersion"] = strconv.Itoa(c.version)
	c.leases[name] = lease
	c.writes <- struct{}{}
	_ = json.NewEncoder(w).Encode(lease)
}

func (c *cluster) readLease(w http.ResponseWriter, r *http.Request) {
	lease, ok := c.leases[r.PathValue("namespace")+"/"+r.PathValue("name")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		return
	}
	_ = json.NewEncoder(w).Encode(lease)
}
