package requirement_test

import (
	"testing"

	. "tenon/core/requirement"
)

func TestMismatchText(t *testing.T) {
	t.Parallel()
	known := Core().WellKnown()
	cases := map[string]struct {
		existing, incoming Set
		undefined          KeySet
		want               string
		code               Code
	}{
		"no overlap": {
			existing: NewSet(New(KeyZone, In, "a", "b")), incoming: NewSet(New(KeyZone, In, "c")), undefined: known,
			want: "key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [c] not in topology.kubernetes.io/zone In [a b]",
			code: Conflict,
		},
		"nothing alike": {
			incoming: NewSet(New("team", In, "x")), undefined: known,
			want: `label "team" does not have known values`,
			code: Undefined,
		},
		"short form of a well-known label": {
			incoming: NewSet(New("zone", In, "x")), undefined: known,
			want: `label "zone" does not have known values (typo of "topology.kubernetes.io/zone"?)`,
			code: Undefined,
		},
		"wrong domain": {
			incoming: NewSet(New("k8s.io/instance-type", In, "x")), undefined: known,
			want: `label "k8s.io/instance-type" does not have known values (typo of "node.kubernetes.io/instance-type"?)`,
			code: Undefined,
		},
		"letters swapped": {
			incoming: NewSet(New("topology.kubernetes.io/zoen", Exists)), undefined: known,
			want: `label "topology.kubernetes.io/zoen" does not have known values (typo of "topology.kubernetes.io/zone"?)`,
			code: Undefined,
		},
		"the pool's own label": {
			existing: NewSet(New("example.com/department", In, "x")), incoming: NewSet(New("example.com/departmnt", Exists)), undefined: known,
			want: `label "example.com/departmnt" does not have known values (typo of "example.com/department"?)`,
			code: Undefined,
		},
		"of several the one with the fewest edits": {
			existing: NewSet(New("a.com/zone", Exists), New("example.com/zone", Exists)), incoming: NewSet(New("example.org/zone", Exists)), undefined: known,
			want: `label "example.org/zone" does not have known values (typo of "example.com/zone"?)`,
			code: Undefined,
		},
		"on a node only its labels are hints": {
			existing: NewSet(New("disk", In, "ssd")), incoming: NewSet(New("zone", Exists)),
			want: `label "zone" does not have known values`,
			code: Undefined,
		},
		"an empty name resembles nothing": {
			incoming: NewSet(New("example.com/", Exists)), undefined: known,
			want: `label "example.com/" does not have known values`,
			code: Undefined,
		},
		"undefined comes before conflict": {
			existing: NewSet(New("a", In, "1")), incoming: NewSet(New("a", In, "2"), New("z9", Exists)),
			want: `label "z9" does not have known values`,
			code: Undefined,
		},
		"the first conflict by key": {
			existing: NewSet(New("b", In, "1"), New("a", In, "1")), incoming: NewSet(New("b", In, "2"), New("a", In, "2")),
			want: "key a, a In [2] not in a In [1]",
			code: Conflict,
		},
		"quotes are escaped": {
			incoming: NewSet(New(`we"ird`, Exists)),
			want:     `label "we\"ird" does not have known values`,
			code:     Undefined,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mismatch, found := tc.existing.FindMismatch(tc.incoming, tc.undefined)
			if !found || mismatch.String() != tc.want || mismatch.Code() != tc.code {
				t.Errorf("found %v, %s %q, want %s %q", found, mismatch.Code(), mismatch, tc.code, tc.want)
			}
			var err error = mismatch
			if err.Error() != tc.want {
				t.Errorf("as an error it reads %q", err)
			}
			if !tc.incoming.Get(mismatch.Key()).Equal(mismatch.Incoming()) {
				t.Errorf("incoming is %s", mismatch.Incoming())
			}
			if tc.code == Conflict && !tc.existing.Get(mismatch.Key()).Equal(mismatch.Existing()) {
				t.Errorf("existing is %s", mismatch.Existing())
			}
		})
	}
}

func TestConflictIsAboutSharedKeysOnly(t *testing.T) {
	t.Parallel()
	pool := NewSet(New("a", In, "1"), New("b", In, "1"))
	if mismatch, found := pool.FindConflict(NewSet(New("c", In, "x"), New("a", In, "1", "2"))); found {
		t.Errorf("found %q", mismatch)
	}
	mismatch, found := pool.FindConflict(NewSet(New("c", In, "x"), New("b", In, "2")))
	if want := "key b, b In [2] not in b In [1]"; !found || mismatch.String() != want {
		t.Errorf("found %v %q, want %q", found, mismatch, want)
	}
}

func TestNoMismatch(t *testing.T) {
	t.Parallel()
	mismatch, found := NewSet().FindMismatch(NewSet(), KeySet{})
	if _, hinted := mismatch.Hint(); found || hinted || mismatch.Code() != Agreement || mismatch.String() != "" || mismatch.Key() != "" {
		t.Errorf("found %v: %+v", found, mismatch)
	}
	if !mismatch.Existing().Equal(Requirement{}) {
		t.Errorf("existing is %s", mismatch.Existing())
	}
}

func TestCodeNames(t *testing.T) {
	t.Parallel()
	for code, want := range map[Code]string{Agreement: "Agreement", Undefined: "Undefined", Conflict: "Conflict", Contradiction: "Contradiction", 9: "Code(9)"} {
		if got := code.String(); got != want {
			t.Errorf("code %d reads %q, want %q", code, got, want)
		}
	}
}
