package dashboard

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/model"
	"tenon/internal/cost"
	"tenon/internal/view"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func served(state *view.State, token string) *Dashboard {
	return New(Options{Title: "lab", Fleet: state.Fleet, Problems: func() []string { return nil }, Token: token, Clock: noon})
}

func put(state *view.State, names ...string) {
	for _, name := range names {
		state.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{view.PriceLabel: "0.5"}}})
	}
}

// TestRequestsAreGuarded checks which requests get the fleet.
func TestRequestsAreGuarded(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		token, method, path, host string
		bearer, cookie            string
		want                      int
	}{
		"this machine":                      {host: "127.0.0.1:8082", path: "/api/fleet", want: 200},
		"this machine by its name":          {host: "localhost:8082", path: "/", want: 200},
		"this machine in the new protocol":  {host: "[::1]:8082", path: "/", want: 200},
		"a name that was made to lead here": {host: "evil.example", path: "/api/fleet", want: 403},
		"a token is missing":                {token: "s3cret", host: "fleet.example", path: "/api/fleet", want: 401},
		"a page without a token":            {token: "s3cret", host: "fleet.example", path: "/", want: 401},
		"a wrong token":                     {token: "s3cret", host: "fleet.example", path: "/api/fleet", bearer: "s3cre", want: 401},
		"the token":                         {token: "s3cret", host: "fleet.example", path: "/api/fleet", bearer: "s3cret", want: 200},
		"the cookie":                        {token: "s3cret", host: "fleet.example", path: "/", cookie: "s3cret", want: 200},
		"a change":                          {host: "127.0.0.1", method: http.MethodPost, path: "/api/fleet", want: 405},
		"a page that is not there":          {host: "127.0.0.1", path: "/secrets", want: 404},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := view.NewState(nil)
			put(state, "a")
			method := tc.method
			if method == "" {
				method = http.MethodGet
			}
			r := httptest.NewRequest(method, tc.path, nil)
			r.Host = tc.host
			if tc.bearer != "" {
				r.Header.Set("Authorization", "Bearer "+tc.bearer)
			}
			if tc.cookie != "" {
				r.AddCookie(&http.Cookie{Name: cookie, Value: tc.cookie})
			}
			w := httptest.NewRecorder()
			served(state, tc.token).Handler().ServeHTTP(w, r)
			if w.Code != tc.want {
				t.Errorf("status %d, want %d", w.Code, tc.want)
			}
			if got := w.Header().Get("Content-Security-Policy"); got != policy {
				t.Errorf("policy %q", got)
			}
			if strings.Contains(w.Body.String(), "s3cret") {
				t.Error("the answer has the token in it")
			}
		})
	}
}

// TestObjectsHaveDetails checks that an object is described by its kind and name, and that null is said of others.
func TestObjectsHaveDetails(t *testing.T) {
	t.Parallel()
	state := view.NewState(nil)
	put(state, "a")
	d := New(Options{Fleet: state.Fleet, Details: state.Details, Problems: func() []string { return nil }, Clock: noon})
	for path, want := range map[string]string{
		"Node/a":   `{"kind":"Node","name":"a","sections":[{"title":"Labels","facts":[{"name":"eks-node-viewer/instance-price","value":"0.5"}]}],"conditions":[]}`,
		"Node/b":   "null",
		"Secret/a": "null",
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/details/"+path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		d.Handler().ServeHTTP(w, r)
		if got := strings.TrimSpace(w.Body.String()); got != want || w.Code != http.StatusOK {
			t.Errorf("%s: status %d, %s", path, w.Code, got)
		}
	}
}

// TestStreamsSendWhatChanges checks that a browser gets the whole picture, and then only the changed
// nodes, also if its connection breaks in between.
func TestStreamsSendWhatChanges(t *testing.T) {
	t.Parallel()
	state := view.NewState(nil)
	put(state, "a", "b", "c")
	server := httptest.NewServer(served(state, "").Handler())
	t.Cleanup(server.Close) // after the streams
	// open begins a stream after the picture of that identifier. What it returns reads the next picture and its identifier.
	open := func(after string) func() (update, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		if after != "" {
			request.Header.Set("Last-Event-ID", after)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		lines := bufio.NewReader(answer.Body)
		return func() (out update, id string) {
			t.Helper()
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if text, is := strings.CutPrefix(line, "id: "); is {
					id = strings.TrimSpace(text)
				}
				if text, is := strings.CutPrefix(line, "data: "); is {
					if err := json.Unmarshal([]byte(text), &out); err != nil {
						t.Fatal(err)
					}
					return out, id
				}
			}
		}
	}
	next := open("")
	first, id := next()
	if !first.Whole || len(first.Nodes) != 3 || first.Total.Price != 1.5 || len(first.Costs[cost.ByPool]) != 1 {
		t.Errorf("the first picture has %d nodes at %v", len(first.Nodes), first.Total.Price)
	}
	state.Delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	put(state, "b")
	changed := func(second update) bool {
		return !second.Whole && len(second.Nodes) == 1 && second.Nodes[0].Name == "b" && len(second.Gone) == 1 && second.Total.Nodes == 2
	}
	if second, _ := next(); !changed(second) {
		t.Errorf("the second picture: %+v", second)
	}
	if second, _ := open(id)(); !changed(second) {
		t.Errorf("the second picture of a stream that broke: %+v", second)
	}
	if again, _ := open("of another process")(); !again.Whole || len(again.Nodes) != 2 {
		t.Errorf("after a picture that is not known: %+v", again)
	}
}

// TestPagesUseWhatIsServedAlone checks that no page or script names another server, or sets markup.
func TestPagesUseWhatIsServedAlone(t *testing.T) {
	t.Parallel()
	handler := served(view.NewState(nil), "").Handler()
	for _, path := range []string{"/", "/app.js", "/style.css", "/login.html"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		text, err := io.ReadAll(w.Body)
		if err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: status %d, %v", path, w.Code, err)
		}
		page := strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", "")
		for _, bad := range []string{"http://", "https://", "innerHTML", "insertAdjacentHTML", "document.write", "eval(", " onclick=", "style=\""} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q in it", path, bad)
			}
		}
	}
}

// TestHistoriesStaySmall checks that old samples are thinned out, and the first stays.
func TestHistoriesStaySmall(t *testing.T) {
	t.Parallel()
	var h history
	for at := range int64(100_000) {
		h.add(sample{At: at * 5})
	}
	all := h.all()
	if len(all) > mostSamples || len(all) < mostSamples/2-1 || all[0].At != 0 {
		t.Errorf("%d samples from %d on", len(all), all[0].At)
	}
}

// TestUseIsServed checks that what nodes really use is served of the nodes and in the sums, and that nothing is if it is not
// measured.
func TestUseIsServed(t *testing.T) {
	t.Parallel()
	state := view.NewState(nil)
	for _, name := range []string{"a", "b"} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}
		state.Put(n)
	}
	d := served(state, "")
	if out := d.update(nil, state.Fleet()); out.Total.Used != nil || out.Nodes[0].Used != nil {
		t.Errorf("without a measurement: %+v", out)
	}
	state.Measure(map[string]model.Resources{"a": {CPU: 1000, Memory: 6 << 30}})
	out := d.update(nil, state.Fleet())
	want := []float64{0.25, 0.75}
	if !slices.Equal(out.Total.Used, want) || !slices.Equal(out.Nodes[0].Used, want) || out.Nodes[1].Used != nil {
		t.Errorf("used: of all %v, of the nodes %v and %v", out.Total.Used, out.Nodes[0].Used, out.Nodes[1].Used)
	}
}

// One server shows several clusters: each has its own data, guard and address, and leads to the others.
func TestSeveralClusters(t *testing.T) {
	t.Parallel()
	make := func(title, node string) *Dashboard {
		state := view.NewState(nil)
		state.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
		return New(Options{Title: title, Fleet: state.Fleet, Problems: func() []string { return nil }, Token: "secret", Clock: noon})
	}
	handler := Several([]*Dashboard{make("arn:aws:eks:eu:1:cluster/live", "a"), make("arn:aws:eks:eu:1:cluster/test", "b"), make("arn:aws:eks:eu:1:cluster-test", "c")})
	get := func(path, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	const test, same = "/cluster/arn-aws-eks-eu-1-cluster-test/", "/cluster/arn-aws-eks-eu-1-cluster-test-/"
	for path, want := range map[string]string{"/": "a", test: "b", same: "c"} {
		var got update
		if err := json.Unmarshal(get(path+"api/fleet", "secret").Body.Bytes(), &got); err != nil || len(got.Nodes) != 1 || got.Nodes[0].Name != want {
			t.Errorf("%s has the nodes %v, %v", path, got.Nodes, err)
		}
		if len(got.Clusters) != 3 || got.Clusters[0].Path != "/" || got.Clusters[1].Path != test {
			t.Errorf("%s leads to %v", path, got.Clusters)
		}
		if page := get(path, "secret"); page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "app.js") {
			t.Errorf("%s: status %d", path, page.Code)
		}
		if refused := get(path+"api/fleet", "guess"); refused.Code != http.StatusUnauthorized {
			t.Errorf("%s with a wrong token: status %d", path, refused.Code)
		}
	}
}
