package viewer

import (
	"fmt"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Style says how things look. On a terminal without colours the library leaves them out; bold and
// reversed text stay.
type Style struct {
	Good, Medium, Bad string // as #RRGGBB
	// ASCII draws bars with characters that every terminal has.
	ASCII bool
}

// DefaultStyle uses colours that people with red-green blindness can tell apart.
func DefaultStyle() Style { return Style{Good: "#2E9E6B", Medium: "#C8931D", Bad: "#D1495B"} }

// ParseStyle reads three colours: good, medium and bad.
func ParseStyle(text string, ascii bool) (Style, error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return Style{}, fmt.Errorf("--style=%q are not three colours; write good, medium and bad such as #04B575,#FFFF00,#FF0000", text)
	}
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
		var rgb int
		if n, err := fmt.Sscanf(strings.ToLower(parts[i]), "#%06x", &rgb); n != 1 || err != nil || len(parts[i]) != len("#RRGGBB") {
			return Style{}, fmt.Errorf("--style: %q is not a colour such as #04B575", part)
		}
	}
	return Style{Good: parts[0], Medium: parts[1], Bad: parts[2], ASCII: ascii}, nil
}

func paint(c color.Color, text string) string {
	return lipgloss.NewStyle().Foreground(c).Render(text)
}

func (s Style) good(text string) string   { return paint(lipgloss.Color(s.Good), text) }
func (s Style) medium(text string) string { return paint(lipgloss.Color(s.Medium), text) }
func (s Style) bad(text string) string    { return paint(lipgloss.Color(s.Bad), text) }
func (s Style) faint(text string) string  { return lipgloss.NewStyle().Faint(true).Render(text) }
func (s Style) bold(text string) string   { return lipgloss.NewStyle().Bold(true).Render(text) }

// selected draws a line under the cursor. Colours within would end the reversal.
func (s Style) selected(text string) string {
	return lipgloss.NewStyle().Reverse(true).Render(ansi.Strip(text))
}

func (s Style) arrow(down bool) string {
	switch {
	case s.ASCII && down:
		return "-"
	case s.ASCII:
		return "+"
	case down:
		return "↓"
	}
	return "↑"
}

// level colours a text by how much of something is used.
func (s Style) level(use float64, text string) string {
	switch {
	case use > 0.9:
		return s.good(text)
	case use > 0.6:
		return s.medium(text)
	}
	return s.bad(text)
}

// bar draws a fraction as a bar of a width, daemons shaded, with its percentage.
func (s Style) bar(use, daemons float64, width int) string {
	return s.meter(use, daemons, width-5) + fmt.Sprintf("%4.0f%%", 100*use)
}

// meter draws the bar alone.
func (s Style) meter(use, daemons float64, width int) string {
	full, shade, empty := "█", "▓", "░"
	if s.ASCII {
		full, shade, empty = "#", "=", "."
	}
	cells := min(width, int(use*float64(width)+0.5))
	if use > 0 {
		cells = max(cells, 1)
	}
	shaded := min(cells, int(daemons*float64(width)+0.5))
	drawn := strings.Repeat(shade, shaded) + strings.Repeat(full, cells-shaded)
	return s.level(use, drawn) + s.faint(strings.Repeat(empty, width-cells))
}

// pad makes a text as wide as its column.
func pad(text string, width int, right bool) string {
	text = clip(text, width)
	space := strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
	if right {
		return space + text
	}
	return text + space
}

// clip cuts a text to the available width.
func clip(text string, width int) string {
	if ansi.StringWidth(text) <= width {
		return text
	}
	return ansi.Truncate(text, width, "…")
}

// wrap breaks a text at spaces.
func wrap(text string, width int) []string {
	return strings.Split(ansi.Wrap(text, max(width, 1), " "), "\n")
}

func size(width, height int) string { return fmt.Sprintf("%d×%d", width, height) }
