package arch

import (
	"os"
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
	page := "[there](docs/a.md), [a folder](docs), [a heading](#x), [there too](docs/a.md#x), [elsewhere](https://example.com/x)\n" +
		"`[code](nowhere)` and [gone](docs/b.md)\n"
	found, err := Pages(fstest.MapFS{
		"README.md": {Data: []byte(page)},
		"docs/a.md": {Data: []byte("[up](../README.md) [lost](README.md)")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].At != "README.md:2" || found[1].At != "docs/a.md:1" {
		t.Errorf("violations: %v", found)
	}
}

func TestPagesThatHideTheirSubjectAreFound(t *testing.T) {
	t.Parallel()
	found, err := Pages(fstest.MapFS{"README.md": {Data: []byte("The caller knows.\nNobody else does, but `nobody` is a user.\n")}})
	if err != nil || len(found) != 1 || found[0].At != "README.md:2" || found[0].What != "a page says Nobody" {
		t.Errorf("%v, %v; want the second line alone", found, err)
	}
}
