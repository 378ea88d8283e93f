package command_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/command"
)

// The effects of each step on the objects, in order. The record is written before all other
// effects, and removed from leavers last: it says that the command is not over.
func TestEffects(t *testing.T) {
	t.Parallel()
	a, b, gone := leaver("a"), leaver("b"), leaver("gone", "deleting")
	s := command.State{
		Record:       command.Record{Claims: members("a", "b"), Receivers: []string{"c", "d"}},
		Leavers:      []command.Leaver{a, gone, b},
		Replacements: []*karpenterv1.NodeClaim{claim("new"), nil},
	}
	partly := s
	partly.Record.Claims = members("a", "gone", "b")
	first := command.State{Leavers: []command.Leaver{a, b}, Orders: []command.Replacement{{Claim: claim("new")}, {Claim: claim("newer")}}}
	own, another, leaving := leaver("own"), leaver("another"), leaver("leaving")
	leaving.Node.DeletionTimestamp = &metav1.Time{Time: noon}
	for l, takes := range map[*command.Leaver]string{&own: "own", &another: "other"} {
		r := command.Record{ID: "x", Claims: members(takes)}
		l.Claim.Annotations = map[string]string{karpenterv1.AnnotationDisruption: r.String()}
	}
	for name, tc := range map[string]struct {
		effects [][]command.Effect
		want    string
	}{
		"begin":      {first.Effects(command.Begin), "write a, write b; launch new, launch newer, close a, close b"},
		"tell":       {first.Effects(command.Tell), "explain a, explain b"},
		"unrecord":   {command.Unrecord([]client.Object{claim("a"), alone("b").Node}), "forget a, forget b"},
		"unmark":     {command.Unmark([]command.Leaver{a, gone, own, another, leaving}), "release a, release another"},
		"mark":       {s.Effects(command.Mark), "close a, close b; explain a, explain b"},
		"wait":       {s.Effects(command.Wait), ""},
		"abandon":    {s.Effects(command.Abandon), "drop new; release a, release b"},
		"one goes":   {partly.Effects(command.Abandon), "forget new; release a, release b"}, // its pods come to the replacement
		"over":       {s.Effects(command.Over), "forget new"},
		"both go":    {s.Removal(command.Judgement{Going: []command.Leaver{a, b}}), "receive c d; delete a, delete b"},
		"one stays":  {s.Removal(command.Judgement{Going: []command.Leaver{b}, Released: []command.Leaver{a}}), "receive c d; delete b, release a"},
		"astray":     {command.Astray([]string{"c", "d"}, noon), "not-received c d"},
		"no removal": {s.Effects(command.Look), ""},
	} {
		var groups []string
		for _, group := range tc.effects {
			var texts []string
			for _, e := range group {
				object := strings.Join(e.Receivers, " ")
				if e.Claim != nil {
					object = e.Claim.Name
				} else if e.Carrier != nil {
					object = e.Carrier.GetName()
				} else if e.Replacement.Claim != nil {
					object = e.Replacement.Claim.Name
				} else if e.Leaver.Claim != nil {
					object = e.Leaver.Claim.Name
				}
				texts = append(texts, string(e.Do)+" "+object)
			}
			groups = append(groups, strings.Join(texts, ", "))
		}
		if got := strings.Join(groups, "; "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
