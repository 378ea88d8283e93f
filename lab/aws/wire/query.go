package wire

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tree is a form with its dotted names taken apart: Filter.1.Name=a becomes Filter ▸ 1 ▸ Name.
type tree struct {
	value    string
	set      bool // it has a value itself
	used     bool // a field took it
	children map[string]*tree
}

// depthLimit is far above what any request needs, and makes a hostile name cheap.
const depthLimit = 32

func parseForm(form url.Values) *tree {
	root := &tree{}
	for name, values := range form {
		if len(values) == 0 {
			continue
		}
		n := root
		for _, part := range strings.SplitN(name, ".", depthLimit) {
			n = n.child(part)
		}
		n.value, n.set = values[0], true
	}
	return root
}

func (t *tree) child(name string) *tree {
	if t.children == nil {
		t.children = map[string]*tree{}
	}
	if t.children[name] == nil {
		t.children[name] = &tree{}
	}
	return t.children[name]
}

// items returns the elements of a list in the order of their numbers. Some services put a level called
// member in between.
func (t *tree) items() []*tree {
	if member := t.children["member"]; member != nil {
		t = member
	}
	type numbered struct {
		number int
		item   *tree
	}
	var list []numbered
	for name, item := range t.children {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, numbered{n, item})
		}
	}
	slices.SortFunc(list, func(a, b numbered) int { return a.number - b.number })
	items := make([]*tree, len(list))
	for i, l := range list {
		items[i] = l.item
	}
	return items
}

// unused returns the name of a value that no field took, or empty.
func (t *tree) unused(prefix string) string {
	if t.set && !t.used {
		return prefix
	}
	names := make([]string, 0, len(t.children))
	for name := range t.children {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path := name
		if prefix != "" {
			path = prefix + "." + name
		}
		if found := t.children[name].unused(path); found != "" {
			return found
		}
	}
	return ""
}

// decode fills a value from the tree. The name of a struct field is in its tag `query`, or else the
// field's own name.
func (t *tree) decode(into reflect.Value, name string) error {
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return t.decode(into.Elem(), name)
	case reflect.Slice:
		return t.decodeList(into, name)
	case reflect.Struct:
		if into.Type() == reflect.TypeFor[time.Time]() {
			return t.decodeTime(into, name)
		}
		return t.decodeStruct(into)
	default:
		return t.decodeScalar(into, name)
	}
}

func (t *tree) decodeStruct(into reflect.Value) error {
	for i := range into.NumField() {
		field := into.Type().Field(i)
		if field.Anonymous {
			if err := t.decodeStruct(into.Field(i)); err != nil {
				return err
			}
			continue
		}
		name := field.Tag.Get("query")
		if name == "" {
			name = field.Name
		}
		child := t.children[name]
		if child == nil {
			continue
		}
		if err := child.decode(into.Field(i), name); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) decodeList(into reflect.Value, name string) error {
	t.used = true // an empty list is a name with an empty value
	for _, item := range t.items() {
		element := reflect.New(into.Type().Elem()).Elem()
		if err := item.decode(element, name); err != nil {
			return err
		}
		into.Set(reflect.Append(into, element))
	}
	return nil
}

func (t *tree) decodeTime(into reflect.Value, name string) error {
	t.used = true
	at, err := time.Parse(time.RFC3339Nano, t.value)
	if err != nil {
		return Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. It must be a time in ISO 8601.", t.value, name)
	}
	into.Set(reflect.ValueOf(at))
	return nil
}

func (t *tree) decodeScalar(into reflect.Value, name string) error {
	t.used = true
	invalid := Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid.", t.value, name)
	switch into.Kind() {
	case reflect.String:
		into.SetString(t.value)
	case reflect.Bool:
		b, err := strconv.ParseBool(t.value)
		if err != nil {
			return invalid
		}
		into.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(t.value, 10, into.Type().Bits())
		if err != nil {
			return invalid
		}
		into.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(t.value, 64)
		if err != nil || x != x {
			return invalid
		}
		into.SetFloat(x)
	default:
		panic("no query parameter is a " + into.Kind().String()) // we write the request structs
	}
	return nil
}
