package viewer

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// SideBySide shows several clusters next to each other. Keys go to one of them; the key o leads to the next. If the terminal
// is too narrow for all, it shows that one alone.
type SideBySide struct {
	models        []*Model
	active        int
	width, height int
}

// For is a message for one of the clusters, by its place.
type For struct {
	Cluster int
	Message tea.Msg
}

// NewSideBySide makes a viewer of several clusters.
func NewSideBySide(clusters ...Options) *SideBySide {
	b := &SideBySide{width: 80, height: 24}
	for _, o := range clusters {
		b.models = append(b.models, New(o))
	}
	return b
}

// Init implements tea.Model.
func (b *SideBySide) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (b *SideBySide) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		b.width, b.height = message.Width, message.Height
		b.resize()
	case For:
		return b, b.pass(message.Cluster, message.Message)
	case tea.KeyPressMsg:
		if m := b.models[b.active]; message.String() == "o" && m.prompt.what == "" {
			b.active = (b.active + 1) % len(b.models)
			return b, nil
		}
		return b, b.pass(b.active, message)
	case tea.MouseClickMsg:
		if b.together() {
			b.active = min(message.X/(b.each()+1), len(b.models)-1)
			message.X -= b.active * (b.each() + 1)
		}
		message.Y--
		return b, b.pass(b.active, message)
	case tea.MouseWheelMsg:
		return b, b.pass(b.active, message)
	}
	return b, nil
}

// pass hands a message to a cluster. What the cluster has done in the background comes back to it.
func (b *SideBySide) pass(to int, message tea.Msg) tea.Cmd {
	_, next := b.models[to].Update(message)
	if next == nil {
		return nil
	}
	return func() tea.Msg {
		out := next()
		if _, quit := out.(tea.QuitMsg); quit {
			return out
		}
		return For{to, out}
	}
}

// each is how wide a cluster is if all are shown.
func (b *SideBySide) each() int { return (b.width - len(b.models) + 1) / len(b.models) }

func (b *SideBySide) together() bool { return b.each() >= leastWidth }

func (b *SideBySide) resize() {
	width := b.width
	if b.together() {
		width = b.each()
	}
	for _, m := range b.models {
		m.Update(tea.WindowSizeMsg{Width: width, Height: b.height - 1})
	}
}

// View implements tea.Model.
func (b *SideBySide) View() tea.View {
	v := tea.NewView(b.Text())
	v.AltScreen, v.WindowTitle, v.MouseMode = true, "tenon view", tea.MouseModeCellMotion
	return v
}

// Text returns the screen: the names of the clusters, and below them all, or the one that is looked at.
func (b *SideBySide) Text() string {
	s := b.models[b.active].options.Style
	if !b.together() {
		return clip(b.names(), b.width) + "\n" + b.models[b.active].Text()
	}
	edge := "│"
	if s.ASCII {
		edge = "|"
	}
	titles := make([]string, len(b.models))
	texts := make([][]string, len(b.models))
	for i, m := range b.models {
		titles[i] = pad(b.name(i), b.each(), false)
		texts[i] = strings.Split(m.Text(), "\n")
	}
	lines := []string{strings.Join(titles, s.faint(edge))}
	for at := range b.height - 1 {
		parts := make([]string, len(b.models))
		for i := range b.models {
			line := ""
			if at < len(texts[i]) {
				line = texts[i][at]
			}
			parts[i] = clip(line, b.each())
			if room := b.each() - ansi.StringWidth(parts[i]); room > 0 && i < len(b.models)-1 {
				parts[i] += strings.Repeat(" ", room)
			}
		}
		lines = append(lines, strings.Join(parts, s.faint(edge)))
	}
	return strings.Join(lines, "\n")
}

func (b *SideBySide) name(i int) string {
	s, title := b.models[i].options.Style, b.models[i].options.Title
	if i == b.active {
		return s.bold("> " + title)
	}
	return s.faint("  " + title + "  (o)")
}

func (b *SideBySide) names() string {
	names := make([]string, len(b.models))
	for i := range b.models {
		names[i] = b.name(i)
	}
	return strings.Join(names, "  ")
}
