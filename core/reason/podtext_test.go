package reason

import (
	"encoding/json"
	"testing"
)

// Obstacles are written as codes, and the text of snapshots from before there were codes is read too.
func TestObstaclesAreReadFromTextAndCodes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ data, want string }{
		"none":        {`null`, ""},
		"empty text":  {`""`, ""},
		"a text":      {`"its claim is lost"`, "its claim is lost"},
		"codes":       {`[{"Code":"VolumeNotFound","Where":"v","Detail":"vol"},{"Code":"PoolsAvoided"}]`, `volume v: persistentvolume "vol" not found; ` + ofPods[PoolsAvoided]},
		"a mistake":   {`[{"Code":"FieldInvalid","Detail":"spec.x: is missing"}]`, "spec.x: is missing"},
		"an odd name": {`[{"Code":"VolumeClaimNotFound","Where":"%s","Detail":"%d"}]`, `volume %s: persistentvolumeclaim "%d" not found`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got Obstacles
			if err := json.Unmarshal([]byte(tc.data), &got); err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var again Obstacles
			if err := json.Unmarshal(data, &again); err != nil || got.Text() != tc.want || again.Text() != tc.want {
				t.Errorf("%q, and %q after writing and reading (%v); want %q", got.Text(), again.Text(), err, tc.want)
			}
		})
	}
}
