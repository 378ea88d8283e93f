package store

import (
	"bytes"
	"maps"
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Every write compares the new object with the stored one. For each type there is one function that knows
// where values of the type can differ. It skips the parts that two versions of an object share.
// Like equality.Semantic, it treats an empty list and a missing one as equal.

// comparer reports whether two values of one type are stored alike.
type comparer func(a, b reflect.Value) bool

// comparers holds the comparers by type, which all stores share. A nil comparer means that only
// equality.Semantic can compare the type.
var comparers sync.Map

// alike reports whether two pointers of the same type point to values that would be stored alike.
func alike(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Pointer() == y.Pointer() {
		return true
	}
	if same := comparerOf(x.Type().Elem()); same != nil {
		return same(x.Elem(), y.Elem())
	}
	return equality.Semantic.DeepEqual(a, b)
}

func comparerOf(t reflect.Type) comparer {
	if c, made := comparers.Load(t); made {
		return c.(comparer)
	}
	c := makeComparer(t)
	comparers.Store(t, c)
	return c
}

func makeComparer(t reflect.Type) comparer {
	switch t {
	case timeType:
		return func(a, b reflect.Value) bool {
			return a.Addr().Interface().(*metav1.Time).Equal(b.Addr().Interface().(*metav1.Time))
		}
	case quantityType:
		return func(a, b reflect.Value) bool {
			return sameQuantity(*a.Addr().Interface().(*resource.Quantity), *b.Addr().Interface().(*resource.Quantity))
		}
	case reflect.TypeFor[metav1.MicroTime]():
		return nil
	case reflect.TypeFor[map[string]string]():
		return sameTexts
	case reflect.TypeFor[corev1.ResourceList]():
		return sameResources
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(a, b reflect.Value) bool { return a.Bool() == b.Bool() }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(a, b reflect.Value) bool { return a.Int() == b.Int() }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(a, b reflect.Value) bool { return a.Uint() == b.Uint() }
	case reflect.String:
		return func(a, b reflect.Value) bool { return a.String() == b.String() }
	case reflect.Pointer:
		return pointersTo(t.Elem())
	case reflect.Slice:
		return slicesOf(t.Elem())
	case reflect.Map:
		return tablesOf(t)
	case reflect.Struct:
		return structures(t)
	}
	return nil
}

// sameQuantity also compares how quantities are written: 1Gi is not stored like 1073741824.
func sameQuantity(a, b resource.Quantity) bool { return a == b || a.String() == b.String() }

func sameTexts(a, b reflect.Value) bool {
	return a.UnsafePointer() == b.UnsafePointer() ||
		maps.Equal(*a.Addr().Interface().(*map[string]string), *b.Addr().Interface().(*map[string]string))
}

func sameResources(a, b reflect.Value) bool {
	return a.UnsafePointer() == b.UnsafePointer() ||
		maps.EqualFunc(*a.Addr().Interface().(*corev1.ResourceList), *b.Addr().Interface().(*corev1.ResourceList), sameQuantity)
}

func pointersTo(t reflect.Type) comparer {
	same := comparerOf(t)
	if same == nil {
		return nil
	}
	return func(a, b reflect.Value) bool {
		if a.UnsafePointer() == b.UnsafePointer() {
			return true
		}
		return !a.IsNil() && !b.IsNil() && same(a.Elem(), b.Elem())
	}
}

// slicesOf treats an empty slice and a missing one as equal.
func slicesOf(t reflect.Type) comparer {
	if t.Kind() == reflect.Uint8 {
		return func(a, b reflect.Value) bool { return bytes.Equal(a.Bytes(), b.Bytes()) }
	}
	same := comparerOf(t)
	if same == nil {
		return nil
	}
	return func(a, b reflect.Value) bool {
		n := a.Len()
		if n != b.Len() {
			return false
		}
		if a.UnsafePointer() == b.UnsafePointer() {
			return true
		}
		for i := range n {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
}

// tablesOf compares the few maps that hold neither texts nor resources.
func tablesOf(t reflect.Type) comparer {
	same := comparerOf(t.Elem())
	if same == nil {
		return nil
	}
	held := func(v reflect.Value) reflect.Value {
		into := reflect.New(t.Elem()).Elem()
		into.Set(v)
		return into
	}
	return func(a, b reflect.Value) bool {
		if a.Len() != b.Len() {
			return false
		}
		for entries := a.MapRange(); entries.Next(); { // the order does not matter: all entries have to be alike
			other := b.MapIndex(entries.Key())
			if !other.IsValid() || !same(held(entries.Value()), held(other)) {
				return false
			}
		}
		return true
	}
}

func structures(t reflect.Type) comparer {
	fields := make([]comparer, t.NumField())
	for i := range fields {
		if fields[i] = comparerOf(t.Field(i).Type); fields[i] == nil || !t.Field(i).IsExported() {
			return nil
		}
	}
	return func(a, b reflect.Value) bool {
		for i, same := range fields {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
}
