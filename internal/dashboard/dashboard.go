// Package dashboard serves the fleet's view to a browser: pages that are embedded in the binary, and a
// stream of what changes. It is read-only: no request changes anything, and no page fetches anything from
// other servers.
package dashboard

import (
	"crypto/subtle"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"tenon/internal/journal"
	"tenon/internal/view"
)

//go:embed assets
var assets embed.FS

// Options say what the dashboard serves, and to whom.
type Options struct {
	// Title names the cluster.
	Title string
	// Fleet returns the newest picture, and Problems returns what could not be read.
	Fleet    func() *view.Fleet
	Problems func() []string
	// Details returns what is shown of one object at a time, and false if there is none; nil knows no object.
	Details func(kind, name string, at time.Time) (view.Details, bool)
	// Market returns what the controller publishes; nil publishes nothing.
	Market func() view.Market
	// Console returns the address of the cloud's own page about an instance; nil knows none.
	Console func(region, instance string) string
	// Journal has the decisions; nil if there is none.
	Journal journal.Source
	// Try answers what-if questions about the newest snapshot of the journal; nil answers none.
	Try Try
	// Prometheus answers queries about the past; nil answers none.
	Prometheus Prometheus
	// Links lead to other tools.
	Links []Link
	// Token is required of requests unless it is empty. Without a token, requests must name this machine.
	Token string
	Clock func() time.Time
}

// Dashboard answers the browser.
type Dashboard struct {
	options   Options
	clusters  []cluster // that the server shows; none if it is only this one
	history   history
	decisions decisions
	tries     tries

	assessments assessments
	asked       asked
	spot        spot
	recent      recent
}

// New makes a dashboard.
func New(o Options) *Dashboard {
	d := &Dashboard{options: o}
	if o.Journal != nil {
		d.decisions.tail = journal.NewTail(o.Journal, keptDecisions)
	}
	return d
}

// policy lets pages use only what this server sends.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler serves the pages and the stream.
func (d *Dashboard) Handler() http.Handler {
	pages, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the folder is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(pages))
	mux.HandleFunc("GET /api/fleet", d.fleet)
	mux.HandleFunc("GET /api/stream", d.stream)
	mux.HandleFunc("GET /api/market", d.market)
	mux.HandleFunc("GET /api/pools/{name}/fit", d.poolFit)
	mux.HandleFunc("GET /api/cost/{span}", d.costHistory)
	mux.HandleFunc("GET /api/nodes.csv", d.nodesCSV)
	mux.HandleFunc("GET /api/costs.csv", d.costsCSV)
	mux.HandleFunc("GET /api/details/{kind}/{name}", d.details)
	mux.HandleFunc("GET /api/decisions", d.listDecisions)
	mux.HandleFunc("GET /api/decisions/{id}", d.oneDecision)
	mux.HandleFunc("GET /api/decisions/{id}/snapshot", d.decisionSnapshot)
	mux.HandleFunc("POST /api/decisions/{id}/replay", d.replay)
	mux.HandleFunc("GET /api/assessment", d.assess)
	mux.HandleFunc("POST /api/whatif", d.whatIf)
	mux.HandleFunc("POST /login", d.login)
	return d.guarded(mux)
}

// guarded sets the headers of every answer and refuses requests without access.
func (d *Dashboard) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		switch {
		case d.options.Token == "" && !local(r.Host):
			http.Error(w, "This dashboard is for this machine alone: open it as http://127.0.0.1 or localhost.", http.StatusForbidden)
		case d.options.Token == "" || r.URL.Path == "/login" || d.known(r):
			next.ServeHTTP(w, r)
		case r.URL.Path == "/style.css":
			next.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			http.Error(w, "A bearer token is needed.", http.StatusUnauthorized)
		default:
			w.WriteHeader(http.StatusUnauthorized)
			page, err := assets.ReadFile("assets/login.html")
			if err == nil {
				_, _ = w.Write(page) // no answer is needed if the browser is gone
			}
		}
	})
}

// local reports whether a request names this machine. In a DNS rebinding attack the request names the
// other site.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback()
}

const cookie = "tenon-dashboard"

// known reports whether a request brings the token, as a bearer or as the cookie that login sets.
func (d *Dashboard) known(r *http.Request) bool {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		c, err := r.Cookie(cookie)
		if err != nil {
			return false
		}
		given = c.Value
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(d.options.Token)) == 1
}

// login keeps the token in a cookie that scripts cannot read and other sites cannot use.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4096)
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: r.PostFormValue("token"), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (d *Dashboard) fleet(w http.ResponseWriter, _ *http.Request) {
	answer(w, d.update(nil, d.options.Fleet()))
}

// details serves what is known of one object, null if there is none: pages are open whose object is gone.
func (d *Dashboard) details(w http.ResponseWriter, r *http.Request) {
	if d.options.Details != nil {
		if found, ok := d.options.Details(r.PathValue("kind"), r.PathValue("name"), d.options.Clock()); ok {
			answer(w, found)
			return
		}
	}
	answer(w, nil)
}

// tick is how often a stream looks for changes, and beat how often it signals that it is alive.
const (
	tick = time.Second
	beat = 15 * time.Second
)

// stream sends the whole picture, or what has changed since the last one that the browser had, and then the changes.
func (d *Dashboard) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	last, first := d.recent.find(r.Header.Get("Last-Event-ID")), true
	spoke := d.options.Clock()
	for {
		now := d.options.Fleet()
		if first || now.Revision != last.Revision || d.options.Clock().Sub(spoke) >= beat {
			text, err := json.Marshal(d.update(last, now))
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(w, "id: %s\ndata: %s\n\n", d.recent.name(now), text); err != nil || out.Flush() != nil {
				return
			}
			last, first, spoke = now, false, d.options.Clock()
		}
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}
