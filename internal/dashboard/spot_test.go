package dashboard

import (
	"slices"
	"testing"
	"time"

	"tenon/core/model"
	"tenon/internal/journal"
	"tenon/internal/view"
)

// TestSpotIsRemembered checks what is kept of spot prices and interruptions: prices that changed with their range, each interruption
// once although its event stays and its node goes, and advice apart from them. Prices of the journal's launches come before.
func TestSpotIsRemembered(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return began.Add(time.Duration(minute) * time.Minute) }
	market := func(minute int, a, b float64) func() view.Market {
		return func() view.Market {
			return view.Market{At: at(minute), Types: []view.MarketType{{Name: "m5.large", Offers: []view.MarketOffer{
				{Zone: "a", CapacityType: "spot", Price: model.MoneyFromFloat(a)}, {Zone: "b", CapacityType: "spot", Price: model.MoneyFromFloat(b)}, {Zone: "a", CapacityType: "on-demand", Price: model.MoneyFromFloat(a)},
			}}}}
		}
	}
	node := func(name string) *view.Node {
		return &view.Node{Name: name, Claim: "c-" + name, Type: "m5.large", Zone: "a", CapacityType: "spot"}
	}
	notice := func(kind, name, reason string, minute int) view.Notice {
		return view.Notice{Kind: kind, Name: name, Reason: reason, At: at(minute)}
	}
	var s spot
	bought := func(minute int, price float64) journal.Entry {
		return journal.Entry{Decision: journal.Decision{At: at(minute), Launches: []journal.Launch{
			{InstanceType: "m5.large", Zone: "b", CapacityType: "spot", Price: price}, {InstanceType: "m5.large", Zone: "b", CapacityType: "on-demand", Price: 9},
		}}}
	}
	s.recall([]journal.Entry{{}, bought(-90, 0.05), bought(-60, 0.05), bought(-30, 0.06)}, began)
	s.look(&view.Fleet{Published: at(0), Nodes: []*view.Node{node("x"), node("y")}}, market(0, 0.04, 0.03), at(0))
	s.look(&view.Fleet{Published: at(1), Nodes: []*view.Node{node("y"), node("z")}, Notices: []view.Notice{
		notice("NodeClaim", "c-x", "SpotInterrupted", 1), notice("Node", "x", "SpotInterrupted", 1), notice("NodeClaim", "c-y", advice, 1), notice("NodeClaim", "c-y", "Drained", 1),
	}}, market(1, 0.08, 0.03), at(1))
	last := &view.Fleet{Published: at(2), Nodes: []*view.Node{node("z")}, Notices: []view.Notice{
		notice("NodeClaim", "c-x", "SpotInterrupted", 1), notice("NodeClaim", "c-y", "SpotInterrupted", 2), notice("NodeClaim", "unknown", "SpotInterrupted", 2),
	}}
	s.look(last, market(2, 0.02, 0.03), at(2))
	got := s.document(last)
	want := []spotLine{{"m5.large", "a", 0.02, 0.02, 0.08, 2, at(2).Unix()}, {"m5.large", "b", 0.03, 0.03, 0.06, 2, began.Unix()}}
	if !slices.Equal(got.Prices, want) || got.Since != began.Unix() || got.Recalled != at(-90).Unix() {
		t.Errorf("prices %+v since %d, recalled since %d", got.Prices, got.Since, got.Recalled)
	}
	if want := []interruptLine{{"m5.large", "a", 2, 1, at(2).Unix(), 1}, {"", "", 1, 0, at(2).Unix(), 0}}; !slices.Equal(got.Returned, want) {
		t.Errorf("interruptions %+v", got.Returned)
	}
}
