package screen

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) // nothing was written
	cases := map[string]struct {
		variables map[string]string
		want      Screen
	}{
		"nothing is said":         {nil, Screen{Width: 120}},
		"a width":                 {map[string]string{"COLUMNS": "77"}, Screen{Width: 77}},
		"a width that cannot be":  {map[string]string{"COLUMNS": "wide"}, Screen{Width: 120}},
		"a width of a wristwatch": {map[string]string{"COLUMNS": "3"}, Screen{Width: 40}},
		"no colours":              {map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, Screen{Width: 120}},
	}
	for name, tc := range cases {
		lookup := func(name string) (string, bool) {
			text, ok := tc.variables[name]
			return text, ok
		}
		if got := Of(&bytes.Buffer{}, lookup); got != tc.want {
			t.Errorf("%s: a buffer is %+v, want %+v", name, got, tc.want)
		}
		if got := Of(file, lookup); got != tc.want {
			t.Errorf("%s: a file is %+v, want %+v", name, got, tc.want)
		}
	}
}
