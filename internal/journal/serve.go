package journal

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Paths below which a controller serves its journal.
const (
	LinesPath    = "/journal"
	ContentsPath = "/journal/snapshot/" // and a digest
)

// Handler serves a journal, read-only, to this machine alone: `kubectl port-forward` connects from
// there. Both the connection and the requested host name must be of this machine, so that neither a
// proxy for others nor a page in a browser reaches it.
//
//	GET /journal?after=N           lines with a number above N, as JSON lines
//	GET /journal/snapshot/DIGEST   a snapshot, as core/snapshot writes it
func (j *Journal) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+LinesPath, j.serveLines)
	mux.HandleFunc("GET "+ContentsPath+"{digest}", j.serveContents)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.RemoteAddr) || !local(r.Host) {
			http.Error(w, "the journal is served to this machine alone; use kubectl port-forward", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// local reports whether an address or a name, with or without a port, is this machine's own.
func local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (j *Journal) serveLines(w http.ResponseWriter, r *http.Request) {
	var after int64
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseInt(text, 10, 64); err != nil {
			http.Error(w, fmt.Sprintf("after=%q is not a number", text), http.StatusBadRequest)
			return
		}
	}
	w.Header().Set("Content-Type", "application/jsonl")
	encoder := json.NewEncoder(w)
	if err := j.Lines(r.Context(), after, func(l Line) error { return encoder.Encode(l) }); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (j *Journal) serveContents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := j.Contents(r.Context(), r.PathValue("digest"), w); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
	}
}
