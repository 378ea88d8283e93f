// Package store is an API server in memory: objects with versions, and the behaviour of a real server
// towards requests: conflicts, finalizers, graceful deletion, the status subresource, the rules of the
// product's own kinds, and evictions under budgets. It implements client.Client.
//
// There is no goroutine and no real clock: time comes from a clock, names and UIDs from a seed, so the same
// requests always have the same answers. sim/README.md says what is modelled, and sim/fidelity, whose
// requests also go to a real server, checks it.
//
// The package must not know the product: controllers, clouds and kubelets are added by callers.
package store

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Store holds all objects. Only one goroutine may use it. Stored objects never change; a change stores
// another object.
type Store struct {
	clock  clock.PassiveClock
	seed   uint64
	scheme *runtime.Scheme
	mapper meta.RESTMapper
	kinds  map[schema.GroupVersionKind]*Kind
	tables map[schema.GroupVersionKind]*table
	// served are the kinds by the types of their objects and lists.
	served map[reflect.Type]*Kind

	version   uint64 // of the latest change
	made      uint64 // how many random numbers were drawn from the seed
	listeners []*listener

	byUID      map[types.UID]Ref
	dependents map[types.UID]map[Ref]bool
	garbage    []Ref // objects that may have lost their owners
	closing    []Ref // objects that wait for their dependents
}

// Ref names an object.
type Ref struct {
	Kind schema.GroupVersionKind
	types.NamespacedName
}

// Change is one change of the store. The objects must not be changed.
type Change struct {
	Version uint64
	Kind    schema.GroupVersionKind
	// Old is nil for a new object; New is nil for a removed one.
	Old, New client.Object
}

// Object returns the changed object, or the last state of a removed one.
func (c Change) Object() client.Object {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

// New makes a store that has only the namespaces of every cluster. Passed holds the statuses that the rules have
// accepted in other stores; it may be nil.
func New(clock clock.PassiveClock, seed uint64, passed *Passed) (*Store, error) {
	if passed == nil {
		passed = &Passed{}
	}
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	kinds, err := allKinds(scheme)
	if err != nil {
		return nil, err
	}
	s := &Store{
		clock: clock, seed: seed, scheme: scheme, mapper: mapperOf(kinds), kinds: kinds,
		tables: map[schema.GroupVersionKind]*table{}, served: servedBy(scheme, kinds),
		byUID: map[types.UID]Ref{}, dependents: map[types.UID]map[Ref]bool{},
	}
	for gvk, k := range kinds {
		k.passed = passed
		s.tables[gvk] = &table{objects: map[types.NamespacedName]client.Object{}}
	}
	return s, s.found()
}

// listener receives changes.
type listener struct{ hear func(Change) }

// Listen calls a function at every later change, at once, until it is stopped. The function must not write.
func (s *Store) Listen(hear func(Change)) (stop func()) {
	l := &listener{hear}
	s.listeners = append(s.listeners, l)
	return func() {
		s.listeners = slices.DeleteFunc(slices.Clone(s.listeners), func(o *listener) bool { return o == l })
	}
}

// Version returns the version of the latest change.
func (s *Store) Version() uint64 { return s.version }

// Kinds returns the kinds that the store serves, in a fixed order.
func (s *Store) Kinds() []schema.GroupVersionKind {
	all := make([]schema.GroupVersionKind, 0, len(s.kinds))
	for gvk := range s.kinds {
		all = append(all, gvk)
	}
	slices.SortFunc(all, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// Each calls a function with all objects of a kind, in the order of their keys, until it returns false.
// Objects that are added meanwhile are not included. The objects must not be changed.
func (s *Store) Each(gvk schema.GroupVersionKind, see func(client.Object) bool) {
	t := s.tables[gvk]
	if t == nil {
		return
	}
	for _, object := range slices.Clone(t.list) {
		if !see(object) {
			return
		}
	}
}

// All returns the objects of a kind in the order of their keys. They must not be changed.
func All[T client.Object](s *Store) []T {
	list := s.tableOf(reflect.TypeFor[T]()).list
	all := make([]T, len(list))
	for i, object := range list {
		all[i] = object.(T)
	}
	return all
}

// tableOf returns the table of a Go type. It panics if the store does not serve the type.
func (s *Store) tableOf(t reflect.Type) *table {
	k, served := s.served[t]
	if !served {
		panic(fmt.Sprintf("store: no kind of %s", t)) // the caller names a kind that exists
	}
	return s.tables[k.GVK]
}

// table holds the objects of one kind.
type table struct {
	objects map[types.NamespacedName]client.Object
	keys    []types.NamespacedName // sorted
	list    []client.Object        // in the order of the keys
}

func compareKeys(a, b types.NamespacedName) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

func (t *table) put(key types.NamespacedName, object client.Object) {
	at, known := slices.BinarySearchFunc(t.keys, key, compareKeys)
	if known {
		t.list[at] = object
	} else {
		t.keys, t.list = slices.Insert(t.keys, at, key), slices.Insert(t.list, at, object)
	}
	t.objects[key] = object
}

func (t *table) remove(key types.NamespacedName) {
	if at, known := slices.BinarySearchFunc(t.keys, key, compareKeys); known {
		t.keys, t.list = slices.Delete(t.keys, at, at+1), slices.Delete(t.list, at, at+1)
	}
	delete(t.objects, key)
}

// commit stores an object, or removes it if next is nil, and notifies all listeners.
func (s *Store) commit(k *Kind, old, next client.Object) {
	s.version++
	change := Change{Version: s.version, Kind: k.GVK, Old: old, New: next}
	if next != nil {
		next.SetResourceVersion(strconv.FormatUint(s.version, 10))
	}
	key := client.ObjectKeyFromObject(change.Object())
	ref := Ref{k.GVK, key}
	switch {
	case next == nil:
		s.removeOwner(ref, old)
		s.tables[k.GVK].remove(key)
		s.rememberDependents(old)
	case old == nil || !sameOwners(old, next):
		if old != nil {
			s.removeOwner(ref, old)
		}
		s.own(ref, next, old == nil)
		fallthrough
	default:
		s.tables[k.GVK].put(key, next)
		s.await(ref, next)
	}
	for _, l := range s.listeners {
		l.hear(change)
	}
}

// now returns the time as objects hold it, in whole seconds.
func (s *Store) now() metav1.Time { return metav1.NewTime(s.clock.Now().Truncate(time.Second)) }

// uid returns a new UID at each call.
func (s *Store) uid() types.UID {
	a, b := s.roll(), s.roll()
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff))
}

// roll returns the next number of the seed (splitmix64).
func (s *Store) roll() uint64 {
	s.made++
	z := s.seed + s.made*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// letters are those from which a server makes names: no vowels, so that names contain no words.
const letters = "bcdfghjklmnpqrstvwxz2456789"

func (s *Store) suffix() string {
	var text [5]byte
	n := s.roll()
	for i := range text {
		text[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(text[:])
}

// One returns an object by its key, without a copy; it must not be changed. A missing object is the zero
// value.
func One[T client.Object](s *Store, key types.NamespacedName) (object T) {
	object, _ = s.tableOf(reflect.TypeFor[T]()).objects[key].(T)
	return object
}
