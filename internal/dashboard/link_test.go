package dashboard

import (
	"slices"
	"strings"
	"testing"
)

// TestLinksAreRead checks which texts are links, and about what.
func TestLinksAreRead(t *testing.T) {
	t.Parallel()
	got, err := ParseLinks([]string{"Grafana=https://g.example/d/nodes?var-node={node}", "Pool=https://g.example/?p={pool}", "Logs=http://l.example/?q={namespace}/{pod}"})
	want := []Link{{"Grafana", "node", "https://g.example/d/nodes?var-node={node}"}, {"Pool", "pool", "https://g.example/?p={pool}"}, {"Logs", "pod", "http://l.example/?q={namespace}/{pod}"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("read as %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"https://g.example": "is no link", "=https://g.example/{node}": "is no link", "A=javascript:alert({node})": "begins with https://", "A=/d/{node}": "begins with https://",
		"A=https://g.example/": "needs placeholders", "A=https://g.example/{pod}/{zone}": "needs placeholders", "A=https://g.example/{team}": "needs placeholders",
	} {
		if _, err := ParseLinks([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
