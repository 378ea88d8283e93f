package viewer

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tenon/internal/view"
)

// two are two clusters next to each other, the second one with the nodes of the pool default alone.
func two(width, height int, keys ...string) *SideBySide {
	other := consulted()
	other.Title = "staging"
	b := NewSideBySide(consulted(), other)
	b.Update(tea.WindowSizeMsg{Width: width, Height: height})
	b.Update(For{0, Fleet{Fleet: sample()}})
	b.Update(For{1, Fleet{Fleet: sample().Where(func(n *view.Node) bool { return n.Pool == "default" })}})
	b.Text()
	for _, key := range keys {
		if _, next := b.Update(press(key)); next != nil {
			b.Update(next())
		}
		b.Text()
	}
	return b
}

// TestTwoClusters compares screens of two clusters with golden files: next to each other, and one of them where both have no room.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		width int
		keys  []string
	}{"beside-160": {160, []string{"down"}}, "beside-160-other": {160, []string{"o", "down", "w"}}, "beside-80": {80, []string{"o"}}, "beside-60": {60, []string{"o"}}} {
		var lines []string
		for line := range strings.SplitSeq(ansi.Strip(two(tc.width, 24, tc.keys...).Text()), "\n") {
			if ansi.StringWidth(line) > tc.width {
				t.Errorf("%s: a line is %d wide: %s", name, ansi.StringWidth(line), line)
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
		if len(lines) > 24 {
			t.Errorf("%s: %d lines", name, len(lines))
		}
		golden(t, name, strings.Join(lines, "\n")+"\n")
	}
}

// TestKeysGoToOneCluster checks where keys, clicks and answers go, that o is a letter in a prompt, and that q ends the viewer.
func TestKeysGoToOneCluster(t *testing.T) {
	t.Parallel()
	b := two(160, 24, "o", "/", "o", "enter")
	if b.active != 1 || b.models[1].filter != "o" || b.models[0].filter != "" {
		t.Errorf("cluster %d has the keys, filters %q and %q", b.active, b.models[0].filter, b.models[1].filter)
	}
	b.Update(tea.MouseClickMsg{X: 20, Y: b.models[0].current().from + 3})
	if b.active != 0 || b.models[0].current().cursor != 2 {
		t.Errorf("a click on the first cluster chooses row %d of cluster %d", b.models[0].current().cursor, b.active)
	}
	b.Update(tea.MouseClickMsg{X: 100, Y: b.models[1].current().from + 2})
	if b.active != 1 || b.models[1].current().cursor != 1 {
		t.Errorf("a click on the second cluster chooses row %d of cluster %d", b.models[1].current().cursor, b.active)
	}
	_, asked := b.Update(press("w"))
	b.Update(press("o"))
	b.Update(asked())
	if p := b.models[1].pane; p == nil || p.asked != 0 || b.models[0].pane != nil {
		t.Errorf("the answer went elsewhere than to the second cluster: %+v", p)
	}
	_, quit := b.Update(press("q"))
	if _, ends := quit().(tea.QuitMsg); !ends {
		t.Error(errors.New("q does not end the viewer"))
	}
}
