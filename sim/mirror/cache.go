package mirror

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/sim/store"
)

// cache holds the objects of one kind in their last seen state.
type cache struct {
	byKey   map[types.NamespacedName]*entry
	all     []*entry // in the order of their keys
	indexes map[string]*index
}

// entry is an object in its latest state.
type entry struct {
	key    types.NamespacedName
	object client.Object
	values map[*index][]string // under which it is found
}

// index finds entries by a value.
type index struct {
	values func(client.Object) []string
	found  map[string][]*entry // in the order of their keys
}

func newCache() *cache {
	return &cache{byKey: map[types.NamespacedName]*entry{}, indexes: map[string]*index{}}
}

func newIndex(values func(client.Object) []string) *index {
	return &index{values: values, found: map[string][]*entry{}}
}

func (c *cache) put(object client.Object) {
	key := store.KeyOf(object)
	e := c.byKey[key]
	if e == nil {
		e = &entry{key: key, values: map[*index][]string{}}
		c.byKey[key] = e
		c.all = insert(c.all, e)
	}
	e.object = object
	for _, x := range c.indexes { // each index is on its own: the order cannot be seen
		x.put(e)
	}
}

func (c *cache) remove(key types.NamespacedName) {
	e := c.byKey[key]
	if e == nil {
		return
	}
	for _, x := range c.indexes { // as above
		x.remove(e)
	}
	c.all = without(c.all, e)
	delete(c.byKey, key)
}

func (x *index) put(e *entry) {
	values := x.values(e.object)
	if slices.Equal(values, e.values[x]) {
		return
	}
	x.remove(e)
	for _, value := range values {
		x.found[value] = insert(x.found[value], e)
	}
	e.values[x] = values
}

func (x *index) remove(e *entry) {
	for _, value := range e.values[x] {
		if x.found[value] = without(x.found[value], e); len(x.found[value]) == 0 {
			delete(x.found, value)
		}
	}
	delete(e.values, x)
}

func compareEntries(a, b *entry) int {
	if c := strings.Compare(a.key.Namespace, b.key.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.key.Name, b.key.Name)
}

func insert(list []*entry, e *entry) []*entry {
	at, known := slices.BinarySearchFunc(list, e, compareEntries)
	if known {
		return list
	}
	return slices.Insert(list, at, e)
}

func without(list []*entry, e *entry) []*entry {
	if at, known := slices.BinarySearchFunc(list, e, compareEntries); known {
		return slices.Delete(list, at, at+1)
	}
	return list
}
