package ingest_test

import (
	"math/rand/v2"
	"reflect"
)

// filler fills values of the API's types with arbitrary content, texts with some of a few. How a type is filled is worked out
// once.
type filler struct {
	texts []string
	fills map[reflect.Type]fill
}

// fill writes arbitrary content to a zero value.
type fill func(dice *rand.Rand, v reflect.Value)

// rule says how a type is filled.
func rule[T any](f *filler, write func(dice *rand.Rand, v *T)) {
	f.fills[reflect.TypeFor[T]()] = func(dice *rand.Rand, v reflect.Value) { write(dice, v.Addr().Interface().(*T)) }
}

// values are all that a type may have.
func values[T any](f *filler, all ...T) {
	rule(f, func(dice *rand.Rand, v *T) { *v = all[dice.IntN(len(all))] })
}

// empty leaves values of a type out.
func empty[T any](f *filler) { f.fills[reflect.TypeFor[T]()] = nil }

// of returns how a type is filled, or nil if it remains empty.
func (f *filler) of(t reflect.Type) fill {
	known, ok := f.fills[t]
	if !ok {
		known = f.make(t)
		f.fills[t] = known
	}
	return known
}

func (f *filler) make(t reflect.Type) fill {
	switch t.Kind() {
	case reflect.String:
		return func(dice *rand.Rand, v reflect.Value) { v.SetString(f.texts[dice.IntN(len(f.texts))]) }
	case reflect.Bool:
		return func(dice *rand.Rand, v reflect.Value) { v.SetBool(dice.IntN(2) == 0) }
	case reflect.Int32:
		return func(dice *rand.Rand, v reflect.Value) { v.SetInt(dice.Int64N(7) - 1) }
	case reflect.Int, reflect.Int64:
		return func(dice *rand.Rand, v reflect.Value) { v.SetInt(int64(dice.Uint64()) >> dice.IntN(64)) }
	case reflect.Uint8:
		return func(dice *rand.Rand, v reflect.Value) { v.SetUint(dice.Uint64N(256)) }
	case reflect.Pointer:
		return f.pointer(t)
	case reflect.Slice:
		return f.slice(t)
	case reflect.Map:
		return f.mapping(t)
	case reflect.Struct:
		return f.structure(t)
	}
	return nil
}

// given reports whether something optional is given.
func given(dice *rand.Rand) bool { return dice.IntN(5) >= 2 }

func (f *filler) pointer(t reflect.Type) fill {
	inner := f.of(t.Elem())
	if inner == nil {
		return nil
	}
	return func(dice *rand.Rand, v reflect.Value) {
		if given(dice) {
			v.Set(reflect.New(t.Elem()))
			inner(dice, v.Elem())
		}
	}
}

// most is the maximum length of a list.
const most = 3

func (f *filler) slice(t reflect.Type) fill {
	inner := f.of(t.Elem())
	if inner == nil {
		return nil
	}
	return func(dice *rand.Rand, v reflect.Value) {
		if given(dice) {
			n := dice.IntN(most + 1)
			v.Set(reflect.MakeSlice(t, n, n))
			for i := range n {
				inner(dice, v.Index(i))
			}
		}
	}
}

func (f *filler) mapping(t reflect.Type) fill {
	key, value := f.of(t.Key()), f.of(t.Elem())
	return func(dice *rand.Rand, v reflect.Value) {
		if given(dice) {
			v.Set(reflect.MakeMap(t))
			for range dice.IntN(most + 1) {
				k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				key(dice, k)
				if value != nil {
					value(dice, e)
				}
				v.SetMapIndex(k, e)
			}
		}
	}
}

func (f *filler) structure(t reflect.Type) fill {
	var fields []int
	var fills []fill
	for i := range t.NumField() {
		if inner := f.of(t.Field(i).Type); inner != nil && t.Field(i).IsExported() {
			fields, fills = append(fields, i), append(fills, inner)
		}
	}
	return func(dice *rand.Rand, v reflect.Value) {
		for i, field := range fields {
			fills[i](dice, v.Field(field))
		}
	}
}

// some fills one of these fields of a structure, or none.
func some(f *filler, t reflect.Type, names ...string) {
	var fields []int
	var fills []fill
	for _, name := range names {
		field, _ := t.FieldByName(name)
		fields, fills = append(fields, field.Index[0]), append(fills, f.of(field.Type))
	}
	f.fills[t] = func(dice *rand.Rand, v reflect.Value) {
		if i := dice.IntN(len(fields) + 1); i < len(fields) {
			fills[i](dice, v.Field(fields[i]))
		}
	}
}
