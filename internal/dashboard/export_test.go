package dashboard

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/internal/view"
)

// get asks a dashboard of this machine.
func get(t *testing.T, d *Dashboard, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
	}
	return w
}

// TestTablesCanBeTakenAway checks the files with nodes and costs, and that the parts of the price add up to it.
func TestTablesCanBeTakenAway(t *testing.T) {
	t.Parallel()
	state := view.NewState(nil)
	state.PricedIn(func(string) string { return "USD" })
	put(state, "a", "b")
	for path, want := range map[string]struct {
		lines, column int
		value         string
	}{
		"/api/nodes.csv": {3, 15, "0.5"},
		"/api/costs.csv": {7, 3, "1"},
	} {
		w := get(t, served(state, ""), path)
		rows, err := csv.NewReader(w.Body).ReadAll()
		if err != nil || len(rows) != want.lines || rows[1][want.column] != want.value {
			t.Errorf("%s: %v, %q", path, err, rows)
		}
		if got := w.Header().Get("Content-Disposition"); got != "attachment; filename="+path[len("/api/"):] {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestTheMarketIsServed checks what the page Market gets with and without a publication.
func TestTheMarketIsServed(t *testing.T) {
	t.Parallel()
	state := view.NewState(nil)
	d := New(Options{Fleet: state.Fleet, Market: state.Market, Clock: noon})
	var none, some market
	if err := json.Unmarshal(get(t, d, "/api/market").Body.Bytes(), &none); err != nil || none.At != 0 || none.Types == nil {
		t.Errorf("without one: %+v, %v", none, err)
	}
	state.Publish(noon(), &catalog.Catalog{Types: []catalog.Type{{Name: "m5.large", Capacity: model.Resources{CPU: 2000}, Offerings: []catalog.Offering{{Zone: "a", CapacityType: "spot", Price: model.Unit}}}}})
	if err := json.Unmarshal(get(t, d, "/api/market").Body.Bytes(), &some); err != nil || some.At != noon().Unix() || len(some.Types) != 1 || some.Types[0].CPU != 2 || some.Types[0].Offers[0].Stock || some.Types[0].Offers[0].Price != 1 {
		t.Errorf("with one: %+v, %v", some, err)
	}
}
