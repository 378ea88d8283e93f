package topology

import (
	"slices"
	"testing"
)

// TestArriving names the kinds of pods that can come, one after the other.
func TestArriving(t *testing.T) {
	t.Parallel()
	const web, db, other = 0, 1, 2
	need := func(group HostGroup, self bool) []Need[HostGroup] {
		return []Need[HostGroup]{{Group: group, Self: self}}
	}
	cases := map[string]struct {
		wants    []Want[HostGroup]
		running  []HostGroup
		keptBack int
		want     []bool
	}{
		"a chain comes from its free end":                   {[]Want[HostGroup]{{[]HostGroup{web}, need(db, false)}, {[]HostGroup{db}, nil}}, nil, Anyone, []bool{true, true}},
		"two that need each other never come":               {[]Want[HostGroup]{{[]HostGroup{web}, need(db, false)}, {[]HostGroup{db}, need(web, false)}}, nil, Anyone, []bool{false, false}},
		"one that runs brings the other":                    {[]Want[HostGroup]{{[]HostGroup{web}, need(db, false)}, {[]HostGroup{db}, need(web, false)}}, []HostGroup{web}, Anyone, []bool{true, true}},
		"one that is its own partner comes first":           {[]Want[HostGroup]{{[]HostGroup{web}, need(db, false)}, {[]HostGroup{db, other}, need(other, true)}}, nil, Anyone, []bool{true, true}},
		"what follows a kind does not come without it":      {[]Want[HostGroup]{{[]HostGroup{web}, need(db, false)}, {[]HostGroup{db}, nil}}, nil, 1, []bool{false, false}},
		"a kind is not first without one of its partners":   {[]Want[HostGroup]{{[]HostGroup{other}, need(other, true)}, {[]HostGroup{other}, need(other, true)}}, nil, 1, []bool{false, false}},
		"a kind may be first beside one that it looks past": {[]Want[HostGroup]{{[]HostGroup{web}, need(web, true)}, {[]HostGroup{db}, need(db, true)}}, nil, 1, []bool{true, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Arriving(tc.wants, func(g HostGroup) bool { return slices.Contains(tc.running, g) }, tc.keptBack)
			if !slices.Equal(got, tc.want) {
				t.Errorf("Arriving = %v, want %v", got, tc.want)
			}
		})
	}
}

// TestPreceded tells when a pod cannot be the first of a group.
func TestPreceded(t *testing.T) {
	t.Parallel()
	none := func(HostGroup) bool { return false }
	ring := []Want[HostGroup]{{[]HostGroup{0}, []Need[HostGroup]{{Group: 1}}}, {[]HostGroup{0, 1}, []Need[HostGroup]{{Group: 0, Self: true}}}}
	if Preceded(ring, none, 1, 0) {
		t.Error("a pod that others wait for has to wait for them")
	}
	free := append(slices.Clone(ring), Want[HostGroup]{Counts: []HostGroup{0}})
	if !Preceded(free, none, 1, 0) {
		t.Error("a pod of the group that needs nothing can come first, and is overlooked")
	}
}
