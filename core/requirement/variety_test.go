package requirement_test

import (
	"slices"
	"testing"

	. "tenon/core/requirement"
)

func TestVariety(t *testing.T) {
	t.Parallel()
	family := func(values ...string) Set { return NewSet(New("family", In, values...)) }
	cases := map[string]struct {
		asked Set
		types []Set
		want  Shortfalls
		text  string
	}{
		"nothing is asked": {
			asked: NewSet(New("family", In, "a", "b")),
		},
		"enough": {
			asked: NewSet(New("family", Exists).WithMinValues(2)),
			types: []Set{family("a"), family("a"), family("b")},
		},
		"the same value counts once": {
			asked: NewSet(New("family", Exists).WithMinValues(2)),
			types: []Set{family("a"), family("a")},
			want:  Shortfalls{{"family", 2, 1}},
			text:  "minValues requirement is not met for label(s) (label(s)=[family])",
		},
		"values beside the set's own count too": {
			asked: NewSet(New("family", In, "a").WithMinValues(2)),
			types: []Set{family("a", "b")},
		},
		"keys that types do not declare count for nothing": {
			asked: NewSet(New("family", Exists).WithMinValues(1), New("zone", NotIn, "x").WithMinValues(2), New("cpu", Gt, "1").WithMinValues(1)),
			types: []Set{NewSet(New("cpu", In, "4"), New("zone", NotIn, "a", "b", "c"), New("family", DoesNotExist))},
			want:  Shortfalls{{"family", 1, 0}, {"zone", 2, 0}},
			text:  "minValues requirement is not met for label(s) (label(s)=[family zone])",
		},
		"no types": {
			asked: NewSet(New("family", Exists).WithMinValues(1)),
			want:  Shortfalls{{"family", 1, 0}},
			text:  "minValues requirement is not met for label(s) (label(s)=[family])",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := NewVariety(tc.asked)
			for _, declared := range tc.types {
				v.Add(declared)
			}
			got := v.Shortfalls()
			if !slices.Equal(got, tc.want) || v.Met() != (len(tc.want) == 0) || got.String() != tc.text {
				t.Errorf("short of %+v (%q), met is %v, want %+v (%q)", got, got, v.Met(), tc.want, tc.text)
			}
			lowered := NewVariety(tc.asked.Lowered(got))
			for _, declared := range tc.types {
				lowered.Add(declared)
			}
			if !lowered.Met() {
				t.Errorf("lowered to %s it is still short of %+v", tc.asked.Lowered(got), lowered.Shortfalls())
			}
		})
	}
}

func TestLoweredTouchesOnlyWhatIsShort(t *testing.T) {
	t.Parallel()
	asked := NewSet(New("a", Exists).WithMinValues(3), New("b", In, "x", "y").WithMinValues(2))
	got := asked.Lowered(Shortfalls{{Key: "a", Want: 3, Have: 1}, {Key: "missing", Want: 2, Have: 1}})
	if want := "a Exists minValues 1, b In [x y] minValues 2"; got.String() != want {
		t.Errorf("lowered to %q, want %q", got, want)
	}
	if want := "a Exists minValues 3, b In [x y] minValues 2"; asked.String() != want {
		t.Errorf("the receiver changed to %q", asked)
	}
}

func TestForkedCountersGoTheirOwnWay(t *testing.T) {
	t.Parallel()
	base := NewVariety(NewSet(New("family", Exists).WithMinValues(2)))
	base.Add(NewSet(New("family", In, "a")))
	fork := base.Fork()
	fork.Add(NewSet(New("family", In, "b")))
	if base.Met() || !fork.Met() {
		t.Errorf("base met is %v, fork met is %v", base.Met(), fork.Met())
	}
}
