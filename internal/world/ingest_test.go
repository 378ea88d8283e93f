package world_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/testing/randomcluster"
	"tenon/internal/world"
)

// TestPictureIsWhatBuildMakes feeds random clusters in random order, with objects that come, change and
// go, and compares the picture with the one that ingest.Build makes of the final objects. Pictures taken
// on the way must make no difference and must not change later, and a reader that looks often must see
// what a new reader sees.
func TestPictureIsWhatBuildMakes(t *testing.T) {
	t.Parallel()
	seeds := uint64(150)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		dice := rand.New(rand.NewPCG(seed, 1))
		c := randomcluster.World(seed, 25)
		options := c.Options()
		options.Files = false
		w := world.New(options, testclock.NewFakePassiveClock(randomcluster.Now))
		often := w.Reader()
		var taken *snapshot.Snapshot
		var text string
		for _, o := range history(dice, c) {
			if o.gone {
				w.Remove(o.object)
			} else {
				w.Put(o.object)
			}
			if dice.IntN(8) == 0 {
				taken = picture(w, w, c, options)
				text = content(t, taken)
			}
			if dice.IntN(25) == 0 {
				if diff := cmp.Diff(content(t, picture(w, w, c, options)), content(t, picture(w, often, c, options))); diff != "" {
					t.Fatalf("seed %d (-anew +again):\n%s", seed, diff)
				}
			}
		}
		if taken != nil && content(t, taken) != text {
			t.Errorf("seed %d: a snapshot changed after it was taken", seed)
		}
		want, have := ingest.Build(c.Listing(), options), picture(w, often, c, options)
		have.Waiting.Leaving = 0 // Build says only what there is, not what that waits for
		if diff := cmp.Diff(content(t, want), content(t, have)); diff != "" {
			t.Errorf("seed %d (-built +world):\n%s", seed, diff)
		}
	}
}

// viewer is the world itself, or a reader.
type viewer interface {
	Picture(world.Moment) world.Picture
}

func picture(w *world.World, from viewer, c *randomcluster.Cluster, options ingest.Options) *snapshot.Snapshot {
	market := map[string]world.Sale{}
	for _, p := range w.Pools() {
		offers, err := options.Catalog(p, nil)
		market[p.Name] = world.Sale{Catalog: offers, Err: err}
	}
	return from.Picture(world.Moment{Now: options.Now, Settings: options.Settings, Market: market}).Snapshot
}

// event is one report of a watch.
type event struct {
	object any
	gone   bool
}

// history is a possible order of events in a cluster: every object appears at least once in its final
// state, and some were different or absent in between.
func history(dice *rand.Rand, c *randomcluster.Cluster) []event {
	var out []event
	for _, i := range dice.Perm(len(c.Objects)) {
		o := c.Objects[i]
		if dice.IntN(3) == 0 {
			out = append(out, event{former(dice, o), false})
			if dice.IntN(2) == 0 {
				out = append(out, event{o, true})
			}
		}
		out = append(out, event{o, false})
		if dice.IntN(6) == 0 {
			again := c.Objects[dice.IntN(i+1)]
			out = append(out, event{again, true}, event{again, false})
		}
	}
	for _, o := range c.Objects { // an object that went away above is there in the end
		out = append(out, event{o, false})
	}
	return out
}

// former returns an object as it may have been before.
func former(dice *rand.Rand, o randomcluster.Object) any {
	old := o.DeepCopyObject().(metav1.Object)
	old.SetResourceVersion(fmt.Sprint("former-", dice.Uint32()))
	switch old := old.(type) {
	case *corev1.Pod:
		old.Spec.NodeName = ""
		if dice.IntN(2) == 0 {
			now := metav1.NewTime(randomcluster.Now)
			old.DeletionTimestamp = &now
		}
	case *corev1.Node:
		old.Labels = map[string]string{"former": "yes"}
		old.Spec.Taints = nil
	case *corev1.Namespace:
		old.Labels = nil
	}
	return old
}

// content writes a snapshot with every pod beside its template, since the numbers of
// templates depend on the order in which pods were seen.
func content(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	plain := *s
	plain.Templates, plain.Pods, plain.Daemons = nil, nil, nil
	plain.Nodes = append([]snapshot.Node{}, s.Nodes...)
	out := []any{plain}
	for _, p := range s.Pods {
		template := s.Templates[p.Template]
		p.Template = 0
		out = append(out, p, template)
	}
	for _, d := range s.Daemons {
		template := s.Templates[d.Template]
		d.Template = 0
		out = append(out, d, template)
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// While the watch of claims is behind, a node that has registered is its claim's, so that their room counts once.
func TestARegisteredNodeCountsOnce(t *testing.T) {
	t.Parallel()
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary()}, testclock.NewFakePassiveClock(noon))
	late := claim(0)
	late.Status, late.ResourceVersion = karpenterv1.NodeClaimStatus{}, "0"
	joins, registered := node(0), node(0)
	registered.ResourceVersion = "2"
	registered.OwnerReferences = []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: late.Name, UID: late.UID}}
	for _, step := range []struct {
		what string
		put  any
		want int
	}{
		{"the claim", late, 1},
		{"a machine of which nothing says that it is the claim's", joins, 2},
		{"it has registered", registered, 1},
		{"the claim says that it is launched", claim(0), 1},
	} {
		w.Put(step.put)
		if got := len(w.Picture(world.Moment{Now: noon}).Snapshot.Nodes); got != step.want {
			t.Errorf("%s: %d nodes, want %d", step.what, got, step.want)
		}
	}
}
