package mirror_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/sim/mirror"
)

// However often watches break, in the end the mirror has every existing object, and no object that
// was deleted while no watch ran. It skips the states between.
func TestBrokenWatchesCatchUp(t *testing.T) {
	t.Parallel()
	s := newFixture(t, mirror.Lag{Most: time.Second, Broken: 400, Blind: time.Minute})
	for i := range 60 {
		n := node(fmt.Sprintf("n-%d", i%7), "")
		if s.store.Create(t.Context(), n) != nil && i%3 == 0 {
			_ = s.store.Delete(t.Context(), n) // it is there
		}
		if i%10 == 0 && len(s.due) > 0 {
			next := s.due[0]
			s.due = s.due[1:]
			next.do()
		}
	}
	s.catchUp()
	var there, seen corev1.NodeList
	if err := s.store.List(t.Context(), &there); err != nil {
		t.Fatal(err)
	}
	if err := s.client.List(t.Context(), &seen); err != nil {
		t.Fatal(err)
	}
	if len(there.Items) == 0 || names(there) != names(seen) {
		t.Errorf("seen %s, there are %s", names(seen), names(there))
	}
	if len(s.events) >= 60 {
		t.Errorf("%d events: no state was skipped", len(s.events))
	}
}

func names(list corev1.NodeList) string {
	text := ""
	for i := range list.Items {
		text += list.Items[i].Name + " "
	}
	return text
}
