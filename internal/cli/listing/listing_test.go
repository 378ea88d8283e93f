package listing

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// apiServer answers lists as a real one does: in pages, with a token to go on.
type apiServer struct {
	objects map[string][]string // JSON, by path
	missing map[string]bool
	secret  map[string]bool
	// forgets makes the server lose a listing after its first page.
	forgets bool

	mu       sync.Mutex
	requests []string
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery)
	s.mu.Unlock()
	switch {
	case s.missing[r.URL.Path]:
		status(w, http.StatusNotFound, "NotFound")
		return
	case s.secret[r.URL.Path]:
		status(w, http.StatusForbidden, "Forbidden")
		return
	case s.forgets && r.URL.Query().Has("continue"):
		status(w, http.StatusGone, "Expired")
		return
	}
	s.page(w, r)
}

func status(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
}

func (s *apiServer) page(w http.ResponseWriter, r *http.Request) {
	all := s.objects[r.URL.Path]
	from, _ := strconv.Atoi(r.URL.Query().Get("continue")) // absent is 0
	to := len(all)
	metadata := map[string]string{"resourceVersion": "1"}
	if limit, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && from+limit < to {
		to = from + limit
		metadata["continue"] = strconv.Itoa(to)
	}
	items := make([]json.RawMessage, 0, to-from)
	for _, text := range all[from:to] {
		items = append(items, json.RawMessage(text))
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"metadata": metadata, "items": items}) // the client sees what is missing
}

func pods(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(`{"metadata": {"namespace": "default", "name": "web-%d", "uid": "u%d"}, "spec": {}}`, i, i)
	}
	return out
}

func serve(t *testing.T, s *apiServer) *rest.Config {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func TestReadPagesThroughEverything(t *testing.T) {
	t.Parallel()
	s := &apiServer{objects: map[string][]string{
		"/api/v1/pods":                              pods(1234),
		"/api/v1/nodes":                             {`{"metadata": {"name": "n"}}`},
		"/apis/karpenter.sh/v1/nodepools":           {`{"metadata": {"name": "default"}}`},
		"/apis/karpenter.k8s.aws/v1/ec2nodeclasses": {`{"metadata": {"name": "c"}}`},
		"/apis/tenon.sh/v1alpha1/nodegroups":        {`{"metadata": {"name": "g"}}`},
		"/apis/storage.k8s.io/v1/storageclasses":    {`{"metadata": {"name": "gp3"}, "provisioner": "ebs.csi.aws.com"}`},
		"/apis/karpenter.sh/v1alpha1/nodeoverlays":  {`{"metadata": {"name": "o"}}`},
	}}
	var told []string
	objects, err := Read(t.Context(), serve(t, s), Options{Overlays: true, Owners: true, Progress: func(kind string, n int) { told = append(told, fmt.Sprint(kind, n)) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(objects.Pods) != 1234 || objects.Pods[1233].Name != "web-1233" || len(objects.Nodes) != 1 || len(objects.NodePools) != 1 || len(objects.NodeGroups) != 1 || len(objects.Overlays) != 1 || len(objects.Others) != 1 {
		t.Errorf("read %d pods, %d nodes, %d pools, %d overlays, %d others", len(objects.Pods), len(objects.Nodes), len(objects.NodePools), len(objects.Overlays), len(objects.Others))
	}
	for ref := range objects.NodeClasses {
		if ref.Group != "karpenter.k8s.aws" || ref.Kind != "EC2NodeClass" || ref.Name != "c" {
			t.Errorf("class %+v", ref)
		}
	}
	if len(objects.NodeClasses) != 1 || !slices.Contains(told, "Pod1240") {
		t.Errorf("%d classes, progress %v", len(objects.NodeClasses), told)
	}
	for _, request := range s.requests {
		if !strings.HasPrefix(request, "GET ") || strings.Contains(request, "watch") {
			t.Errorf("asked %s: a plan only reads", request)
		}
	}
	if n := len(slices.DeleteFunc(s.requests, func(r string) bool { return !strings.Contains(r, "/pods?") })); n != 3 {
		t.Errorf("%d requests for 1234 pods, want 3 pages", n)
	}
}

// TestQuotasAreReadWithTheWorkloadsThatTheyBound checks that workloads are read where a quota is, and that a user who may
// not read them is told.
func TestQuotasAreReadWithTheWorkloadsThatTheyBound(t *testing.T) {
	t.Parallel()
	s := &apiServer{objects: map[string][]string{
		"/api/v1/resourcequotas":                      {`{"metadata": {"name": "team", "namespace": "shop"}}`},
		"/apis/apps/v1/namespaces/shop/replicasets":   {`{"metadata": {"name": "web", "namespace": "shop"}}`},
		"/apis/apps/v1/namespaces/other/statefulsets": {`{"metadata": {"name": "db", "namespace": "other"}}`},
	}, secret: map[string]bool{"/apis/batch/v1/namespaces/shop/jobs": true}}
	var notes []string
	objects, err := Read(t.Context(), serve(t, s), Options{Note: func(text string) { notes = append(notes, text) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(objects.Others) != 1 || len(objects.Makers) != 1 || objects.Makers[0].GetName() != "web" {
		t.Errorf("read %d others and the workloads %v", len(objects.Others), objects.Makers)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "this user may not list /apis/batch/v1/namespaces/shop/jobs") {
		t.Errorf("notes: %q", notes)
	}
}

func TestAListingThatTheServerForgot(t *testing.T) {
	t.Parallel()
	s := &apiServer{forgets: true, objects: map[string][]string{"/api/v1/pods": pods(700)}}
	objects, err := Read(t.Context(), serve(t, s), Options{})
	if err != nil || len(objects.Pods) != 700 {
		t.Fatalf("error %v, objects %+v", err, objects)
	}
}

func TestWhatCannotBeListed(t *testing.T) {
	t.Parallel()
	pools, claims, classes := "/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.sh/v1/nodeclaims", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
	groups := "/apis/tenon.sh/v1alpha1"
	cases := map[string]struct {
		missing, secret []string
		want            []string // parts of the error; none: it is no error
	}{
		"no definitions":                          {missing: []string{pools, claims, classes}, want: []string{"has no NodePool and no NodeClaim: install the custom resource definitions", "-f"}},
		"no classes of this cloud":                {missing: []string{classes}},
		"no rights to a kind that does not exist": {missing: []string{groups}, secret: []string{groups + "/nodegroups"}},
		"no rights to node groups":                {secret: []string{groups + "/nodegroups"}, want: []string{"does not let this user list " + groups}},
		"no rights":                               {secret: []string{"/api/v1/nodes", "/api/v1/pods"}, want: []string{"does not let this user list /api/v1/nodes, /api/v1/pods", "get and list are enough"}},
		"both":                                    {missing: []string{pools}, secret: []string{"/api/v1/pods"}, want: []string{"has no NodePool", "does not let"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &apiServer{missing: map[string]bool{}, secret: map[string]bool{}}
			for _, path := range tc.missing {
				s.missing[path] = true
			}
			for _, path := range tc.secret {
				s.secret[path] = true
			}
			_, err := Read(t.Context(), serve(t, s), Options{})
			if (err == nil) != (len(tc.want) == 0) {
				t.Fatalf("error %v", err)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

func TestAnAnswerThatIsNone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	t.Cleanup(server.Close)
	_, err := Read(t.Context(), &rest.Config{Host: server.URL}, Options{})
	if err == nil || !strings.Contains(err.Error(), "list /apis/karpenter.sh/v1/nodepools of "+server.URL) {
		t.Errorf("error %v", err)
	}
}
