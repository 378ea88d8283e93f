package arch

import (
	"testing"
	"testing/fstest"
)

// Controllers write through one writer, and each folder with a policy of its own is still there.
func TestControllersWriteThroughOneWriter(t *testing.T) {
	t.Parallel()
	tree := load(t, root)
	report(t, Writes(tree))
	there := map[string]bool{}
	for _, f := range tree.Files {
		there[f.Folder] = true
	}
	for folder := range ownWriters {
		if !there[folder] {
			t.Errorf("ownWriters has %s, which is gone", folder)
		}
	}
}

// A write, a read, a judgement and a sum that bypass their owners are found in a controller, and allowed in an owner.
func TestWritesOfTheirOwnAreFound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		folder, code string
		want         int
	}{
		"a patch":               {"internal/controller/x", `c.Client.Patch(ctx, o, p)`, 1},
		"a patch of a status":   {"internal/controller/x", `c.kit.Client.Status().Patch(ctx, o, p)`, 1},
		"a deletion":            {"internal/aws/controller/x", `k.kit.Client.Delete(ctx, o)`, 1},
		"a read past the cache": {"internal/world", `w.kit.Server.Get(ctx, key, o)`, 1},
		"a conflict":            {"internal/controller/x", `apierrors.IsConflict(err)`, 1},
		"a pod's sum":           {"internal/x", `resource.PodRequests(pod, options)`, 1},
		"an instance":           {"internal/controller/x", `c.kit.Cloud.Delete(ctx, id)`, 0},
		"a creation":            {"internal/controller/x", `c.kit.Client.Create(ctx, o)`, 0},
		"a reason":              {"internal/controller/x", `c.kit.Uncached(reconcile.BeforeRemoval).Get(ctx, key, o)`, 0},
		"the writer":            {"internal/patch", `kit.Client.Patch(ctx, o, p)`, 0},
		"a test's API server":   {"internal/testing/harness", `r.Client.Update(ctx, o)`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := Load(fstest.MapFS{tc.folder + "/x.go": {Data: []byte("package x\nfunc f() {\n" + tc.code + "\n}\n")}})
			if err != nil {
				t.Fatal(err)
			}
			if found := Writes(tree); len(found) != tc.want {
				t.Errorf("%d violations, want %d: %v", len(found), tc.want, found)
			}
		})
	}
}
