package manifest

import (
	"encoding/json"
	"testing"
)

// Control characters reach no terminal: they are shown as what they are called.
func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"plain"`:                 "plain",
		`"p\u001b[2J"`:            `p\u001b[2J`,
		`"p\u009b2J\u0007"`:       `p\u009b2J\u0007`,
		"\"p\u009b2J\x7f\"":       `p\u009b2J\u007f`,
		`"back\b"`:                `back\b`,
		`"a tab\t a line\n"`:      "a tab\t a line\n",
		`"an escaped \\u001b"`:    `an escaped \u001b`,
		`"\u00e9\u0041 \\\u001b"`: "\u00e9A \\" + `\u001b`,
	} {
		var got string
		if err := json.Unmarshal(visible([]byte(text)), &got); err != nil || got != want {
			t.Errorf("%s is shown as %q, want %q (%v)", text, got, want, err)
		}
	}
}
