package arch

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

func TestPagesLeadSomewhereAndNameTheirSubjects(t *testing.T) {
	t.Parallel()
	found, err := Pages(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestDeadLinksAreFound(t *testing.T) {
	t.Parallel()
	page := "[there](docs/a.md), [a folder](docs), [a heading](#x), [there too](docs/a.md#with-tenon-plan-twice), [elsewhere](https://example.com/x)\n" +
		"`[code](nowhere)` and [gone](docs/b.md)\n# X\n[no heading](#y)\n[nor there](docs/a.md#x)\n[the second](docs/a.md#again-1)\n"
	found, err := Pages(fstest.MapFS{
		"README.md": {Data: []byte(page)},
		"docs/a.md": {Data: []byte("[up](../README.md) [lost](README.md)\n## With `tenon plan`, twice\n## Again\n```\n# x\n```\n### Again\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, v := range found {
		at = append(at, v.At)
	}
	if want := []string{"README.md:2", "README.md:4", "README.md:5", "docs/a.md:1"}; !slices.Equal(at, want) {
		t.Errorf("violations %v, want them at %v", found, want)
	}
}

func TestPagesThatHideTheirSubjectAreFound(t *testing.T) {
	t.Parallel()
	found, err := Pages(fstest.MapFS{"README.md": {Data: []byte("The caller knows.\nNobody else does, but `nobody` is a user.\n")}})
	if err != nil || len(found) != 1 || found[0].At != "README.md:2" || found[0].What != "a page says Nobody" {
		t.Errorf("%v, %v; want the second line alone", found, err)
	}
}
