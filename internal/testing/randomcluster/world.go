package randomcluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/core/snapshot"
)

// World makes a cluster with about size pods that want a place.
func World(seed uint64, size int) *Cluster {
	w := &world{d: newDice(seed), out: &Cluster{Seed: seed}}
	w.zones = []string{"zone-a", "zone-b", "zone-c", "zone-d"}[:w.d.between(2, 4)]
	w.out.Settings = Settings{
		Preferences:       one(w.d, snapshot.Respect, snapshot.Respect, snapshot.Ignore, snapshot.Weigh),
		BestEffortMinimum: w.d.percent(20),
		ReservedCapacity:  w.d.percent(50),
	}
	w.addNamespaces()
	w.addTypes()
	w.addPools()
	w.addStorage()
	w.addDaemons()
	w.addNodes()
	w.addWorkloads(size)
	w.addRing()
	w.addStaticPool()
	w.choosePrices()
	w.chooseCeilings()
	return w.out
}

// world is a cluster while it is being made.
type world struct {
	d     dice
	out   *Cluster
	zones []string
	pools []poolPlan
	nodes []nodePlan
	apps  []string
	crowd int // how many more pods of each workload run already
}

func (w *world) add(o Object) { w.out.Objects = append(w.out.Objects, o) }

var namespaces = []string{"default", "shop", "bank"}

// Custom labels that pools may define and pods may select.
const (
	teamLabel   = "team"
	tierLabel   = "tier"
	rackLabel   = "example.com/rack"
	familyLabel = "example.com/family" // of instance types
	sizeLabel   = "example.com/size"   // of instance types; a number
)

func (w *world) addNamespaces() {
	for _, name := range append([]string{"kube-system"}, namespaces...) {
		labels := map[string]string{corev1.LabelMetadataName: name}
		if name == "shop" || name == "bank" {
			labels["kind"] = "business"
		}
		w.add(&corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		})
	}
}

// meta names an object; the UID follows from the name, so that it stays the same in a shrunken cluster.
func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("uid-%s-%s", namespace, name)),
		CreationTimestamp: metav1.NewTime(Now.Add(-3600e9)),
	}
}
