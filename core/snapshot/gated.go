package snapshot

// Gated is a pod that scheduling gates hold. No scheduler looks at it and no decision depends on it; it is
// kept so that a question about the pod has an answer.
type Gated struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Gates     []string `json:"gates"`
}

// Key is namespace/name.
func (g *Gated) Key() string { return g.Namespace + "/" + g.Name }
