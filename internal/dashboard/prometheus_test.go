package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tenon/internal/view"
)

// TestCostHistoryByPrometheus checks the samples that a page gets, that Prometheus is asked once a minute, and what is said when it
// does not answer.
func TestCostHistoryByPrometheus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	var queries []string
	fails := false
	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		queries = append(queries, r.URL.Path+" "+q.Get("query")+" "+q.Get("step"))
		if fails {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"status":"error","error":"too many samples"}`)) // a client that is gone needs no answer
			return
		}
		price, start := "2.5", q.Get("start")
		if strings.Contains(q.Get("query"), "idle") {
			price = "0.5"
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[%s,"%s"],[%d,"%s"]]}]}}`, start, price, now.Add(-30*time.Second).Unix(), price)
	}))
	t.Cleanup(prometheus.Close)
	ask, err := PrometheusAt(prometheus.URL+"/", prometheus.Client())
	if err != nil {
		t.Fatal(err)
	}
	d := New(Options{Fleet: func() *view.Fleet { return &view.Fleet{} }, Prometheus: ask, Clock: func() time.Time { return now }})
	get := func(span string) (int, priced) {
		answer := httptest.NewRecorder()
		d.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://127.0.0.1/api/cost/"+span, nil))
		var out priced
		_ = json.Unmarshal(answer.Body.Bytes(), &out) // the status says what is expected
		return answer.Code, out
	}
	for range 2 {
		status, got := get("day")
		if status != http.StatusOK || len(got.Samples) != 2 || got.Samples[1].Price != 2.5 || *got.Samples[1].Idle != 0.5 || got.Samples[0].At != now.Add(-24*time.Hour).Truncate(5*time.Minute).Unix() {
			t.Errorf("status %d: %+v", status, got)
		}
	}
	if len(queries) != 2 || queries[0] != "/api/v1/query_range "+priceQuery+" 300" {
		t.Errorf("asked %q", queries)
	}
	now, fails = now.Add(2*time.Minute), true
	if status, got := get("day"); status != http.StatusOK || got.Problem != "Prometheus: too many samples" || len(got.Samples) != 0 {
		t.Errorf("a failure: status %d, %+v", status, got)
	}
	if status, _ := get("century"); status != http.StatusNotFound {
		t.Errorf("a span that there is not: %d", status)
	}
	if _, err := PrometheusAt("prometheus:9090", nil); err == nil {
		t.Error("an address without a scheme is taken")
	}
}
