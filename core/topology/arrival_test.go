package topology

import (
	"slices"
	"testing"
)

// TestArriving names the kinds of pods that can come, one after the other.
func TestArriving(t *testing.T) {
	t.Parallel()
	const web, db, other = 0, 1, 2
	need := func(group int32, self bool) []Need { return []Need{{Group: group, Self: self}} }
	cases := map[string]struct {
		wants    []Want
		running  []int32
		keptBack int
		want     []bool
	}{
		"a chain comes from its free end":                   {[]Want{{[]int32{web}, need(db, false)}, {[]int32{db}, nil}}, nil, Anyone, []bool{true, true}},
		"two that need each other never come":               {[]Want{{[]int32{web}, need(db, false)}, {[]int32{db}, need(web, false)}}, nil, Anyone, []bool{false, false}},
		"one that runs brings the other":                    {[]Want{{[]int32{web}, need(db, false)}, {[]int32{db}, need(web, false)}}, []int32{web}, Anyone, []bool{true, true}},
		"one that is its own partner comes first":           {[]Want{{[]int32{web}, need(db, false)}, {[]int32{db, other}, need(other, true)}}, nil, Anyone, []bool{true, true}},
		"what follows a kind does not come without it":      {[]Want{{[]int32{web}, need(db, false)}, {[]int32{db}, nil}}, nil, 1, []bool{false, false}},
		"a kind is not first without one of its partners":   {[]Want{{[]int32{other}, need(other, true)}, {[]int32{other}, need(other, true)}}, nil, 1, []bool{false, false}},
		"a kind may be first beside one that it looks past": {[]Want{{[]int32{web}, need(web, true)}, {[]int32{db}, need(db, true)}}, nil, 1, []bool{true, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Arriving(tc.wants, func(g int32) bool { return slices.Contains(tc.running, g) }, tc.keptBack)
			if !slices.Equal(got, tc.want) {
				t.Errorf("Arriving = %v, want %v", got, tc.want)
			}
		})
	}
}

// TestPreceded tells when a pod cannot be the first of a group.
func TestPreceded(t *testing.T) {
	t.Parallel()
	none := func(int32) bool { return false }
	ring := []Want{{[]int32{0}, []Need{{Group: 1}}}, {[]int32{0, 1}, []Need{{Group: 0, Self: true}}}}
	if Preceded(ring, none, 1, 0) {
		t.Error("a pod that others wait for has to wait for them")
	}
	free := append(slices.Clone(ring), Want{Counts: []int32{0}})
	if !Preceded(free, none, 1, 0) {
		t.Error("a pod of the group that needs nothing can come first, and is overlooked")
	}
}
