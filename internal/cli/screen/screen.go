// Package screen finds out what output goes to: a terminal with a width and colours, or a file.
// It writes nothing itself.
package screen

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Screen is what lines are laid out for.
type Screen struct {
	// Terminal is set when a person watches.
	Terminal bool
	Color    bool
	// Width in columns.
	Width int
}

// fileWidth is for output that goes to a file or a pipe.
const fileWidth = 120

// Of looks at a writer. COLUMNS overrides the width, NO_COLOR and TERM=dumb turn colours off.
func Of(w io.Writer, lookup func(string) (string, bool)) Screen {
	s := Screen{Width: fileWidth}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		s.Terminal, s.Color = true, true
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			s.Width = width
		}
	}
	if text, set := lookup("COLUMNS"); set {
		if width, err := strconv.Atoi(text); err == nil && width > 0 {
			s.Width = width
		}
	}
	if text, set := lookup("NO_COLOR"); set && text != "" {
		s.Color = false
	}
	if text, _ := lookup("TERM"); text == "dumb" {
		s.Color = false
	}
	s.Width = max(s.Width, minWidth)
	return s
}

// minWidth is the least width for which lines are laid out.
const minWidth = 40
