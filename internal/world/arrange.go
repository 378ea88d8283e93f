package world

import "k8s.io/apimachinery/pkg/types"

// Arrange enters that pods of nodes which are to leave have places elsewhere: on a node, or
// on that of a claim. From now on these are taken, and nobody looks for others. A pod keeps
// its place until it is evicted; the one that is made instead is a new one, and finds the
// room free. All of this may be forgotten: then places are looked for once more.
func (w *World) Arrange(place string, pods []Guest) {
	w.change(func() {
		for _, p := range pods {
			k := key{Namespace: p.Namespace, Name: p.Name}
			if pod := w.guests.all[k]; pod == nil || pod.UID != p.UID {
				continue
			}
			w.ledger.arranged[p.UID] = place
			w.guests.dirty[k] = struct{}{}
		}
	})
}

// Disarrange takes places back that were arranged: the nodes stay.
func (w *World) Disarrange(pods []Guest) {
	w.change(func() {
		for _, p := range pods {
			if _, arranged := w.ledger.arranged[p.UID]; arranged {
				delete(w.ledger.arranged, p.UID)
				w.guests.dirty[key{Namespace: p.Namespace, Name: p.Name}] = struct{}{}
			}
		}
	})
}

// DisarrangeOn takes back the places that were arranged for the pods of a node: it stays.
func (w *World) DisarrangeOn(node string) {
	w.change(func() {
		for k := range w.guests.on[node] {
			delete(w.ledger.arranged, w.guests.all[k].UID)
			w.guests.dirty[k] = struct{}{}
		}
	})
}

// arranged is the node on which a pod of a leaving one has its place.
func (w *World) arranged(pod types.UID) (string, bool) {
	place, ok := w.ledger.arranged[pod]
	if !ok {
		return "", false
	}
	if name, found := w.roster.nodeOf(place); found {
		return name, true
	}
	leaving, known := w.roster.standing(place)
	return place, known && !leaving
}
