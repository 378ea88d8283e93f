package dashboard

import (
	"crypto/rand"
	"fmt"
	"sync"

	"tenon/internal/view"
)

// recent are the newest pictures that were sent, so that a browser whose connection broke is sent what has changed since,
// and not the whole again.
type recent struct {
	mu       sync.Mutex
	run      string // tells this process from the one before, whose revisions were others
	pictures []*view.Fleet
}

// keptPictures bounds them. Pictures share the nodes that have not changed.
const keptPictures = 30

// name returns the identifier of a picture, and keeps the picture.
func (r *recent) name(f *view.Fleet) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == "" {
		r.run = rand.Text()
	}
	if n := len(r.pictures); n == 0 || r.pictures[n-1].Revision < f.Revision {
		r.pictures = append(r.pictures[max(0, n+1-keptPictures):], f)
	}
	return r.of(f)
}

func (r *recent) of(f *view.Fleet) string { return fmt.Sprintf("%s-%d", r.run, f.Revision) }

// find returns the picture with an identifier; nil if it is not kept.
func (r *recent) find(name string) *view.Fleet {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.pictures {
		if r.of(f) == name {
			return f
		}
	}
	return nil
}
