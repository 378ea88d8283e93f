package aws_test

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/lab/aws/model"
	"tenon/lab/aws/wire"
)

// TestOperationsAreThoseOfTheModel holds the emulator to AWS's published models: each operation exists, a REST API has its method and
// path, and each parameter and each member of an answer has its name and type.
func TestOperationsAreThoseOfTheModel(t *testing.T) {
	t.Parallel()
	for _, s := range newEmulator(t).Services() {
		m := model.Find(s.Name)
		if m == nil {
			t.Errorf("there is no model of %s: see package model", s.Name)
			continue
		}
		if s.Version != "" && s.Version != m.Version {
			t.Errorf("%s has version %s, and in the model %s", s.Name, s.Version, m.Version)
		}
		for name, h := range s.Operations {
			o := m.Operations[name]
			if o == nil {
				t.Errorf("%s has no operation %s: see package model", s.Name, name)
				continue
			}
			c := comparison{t: t, operation: o, protocol: m.Protocol, at: s.Name + "." + name}
			if o.Path != "" && !slices.ContainsFunc(routesTo(s, name), func(r string) bool { return sameRoute(r, o.Method+" "+o.Path) }) {
				t.Errorf("%s has the routes %v, and in the model %s %s", c.at, routesTo(s, name), o.Method, o.Path)
			}
			c.in(h.In, o.Shape(o.Input), c.at)
			c.out(h.Out, o.Shape(o.Output), c.at)
		}
	}
}

func routesTo(s *wire.Service, operation string) []string {
	var found []string
	for route, to := range s.Routes { // in any order
		if to == operation {
			found = append(found, route)
		}
	}
	return found
}

// sameRoute compares two routes without the names of their parts.
func sameRoute(a, b string) bool {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	return slices.EqualFunc(x, y, func(p, q string) bool { return p == q || strings.HasPrefix(p, "{") && strings.HasPrefix(q, "{") })
}

// comparison compares the structs of one operation with the shapes of the model.
type comparison struct {
	t         *testing.T
	operation *model.Operation
	protocol  string
	at        string
}

func (c *comparison) json() bool { return strings.HasSuffix(c.protocol, "json") }

// kinds are the Go kinds for the types of the model.
var kinds = map[string][]reflect.Kind{
	"string": {reflect.String}, "blob": {reflect.String, reflect.Slice}, "timestamp": {reflect.String, reflect.Float64, reflect.Int64},
	"integer": {reflect.Int, reflect.Int32, reflect.Int64}, "long": {reflect.Int, reflect.Int64}, "boolean": {reflect.Bool},
	"double": {reflect.Float64}, "float": {reflect.Float64},
}

// scalar compares a type that is neither structure nor list, and reports whether it is one.
func (c *comparison) scalar(t reflect.Type, shape *model.Shape, at string) bool {
	allowed, is := kinds[shape.Type]
	text := !c.json() && (t.Kind() == reflect.String || t == reflect.TypeFor[[]byte]()) // XML and forms write everything as text
	if is && !text && !slices.Contains(allowed, t.Kind()) && t != reflect.TypeFor[time.Time]() {
		c.t.Errorf("%s is a %s, and in the model a %s", at, t, shape.Type)
	}
	return is
}

func plain(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// in compares parameters.
func (c *comparison) in(t reflect.Type, shape *model.Shape, at string) {
	t = plain(t)
	if shape == nil {
		if t.NumField() > 0 {
			c.t.Errorf("%s has parameters, and none in the model", at)
		}
		return
	}
	if c.scalar(t, shape, at) {
		return
	}
	switch shape.Type {
	case "list":
		if t.Kind() != reflect.Slice {
			c.t.Errorf("%s is a %s, and in the model a list", at, t)
			return
		}
		c.in(t.Elem(), c.operation.Shape(shape.Item), at+"[]")
	case "map":
		if t.Kind() != reflect.Map && !isEntries(t) {
			c.t.Errorf("%s is a %s, and in the model a map", at, t)
		}
	default:
		if t.Kind() != reflect.Struct {
			c.t.Errorf("%s is a %s, and in the model a structure", at, t)
			return
		}
		for name, field := range c.parameters(t) {
			m := memberIn(shape, name, c.json())
			if newer := newer[at]; m == nil && newer != nil {
				if _, is := newer.FieldByName(name); !is {
					c.t.Errorf("%s has no parameter %s in the model, and none in %s", at, name, newer)
				}
				continue
			}
			if m == nil {
				c.t.Errorf("%s has no parameter %s in the model", at, name)
				continue
			}
			c.in(field, c.operation.Shape(m.Shape), at+"."+name)
		}
	}
}

// newer are structures with members that came after the model. The SDK for Go knows them.
var newer = map[string]reflect.Type{"ec2.CreateFleet.ReservedCapacityOptions": reflect.TypeFor[types.ReservedCapacityOptionsRequest]()}

func isEntries(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

func memberIn(shape *model.Shape, name string, asJSON bool) *model.Member {
	for _, m := range shape.Members { // names are unique
		if asJSON && m.Out == name || !asJSON && m.In == name {
			return m
		}
	}
	return nil
}

// parameters are the fields of a struct by their names on the wire.
func (c *comparison) parameters(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, tag := f.Name, f.Tag.Get("query")
		if c.json() {
			tag, _, _ = strings.Cut(f.Tag.Get("json"), ",")
		}
		switch {
		case f.Anonymous && tag == "":
			for name, field := range c.parameters(plain(f.Type)) {
				out[name] = field
			}
			continue
		case tag == "-" || !f.IsExported():
			continue
		case tag != "":
			name = tag
		}
		out[name] = f.Type
	}
	return out
}

// out compares an answer.
func (c *comparison) out(t reflect.Type, shape *model.Shape, at string) {
	t = plain(t)
	if c.json() {
		c.outJSON(t, shape, at)
		return
	}
	c.outXML(t, shape, at)
}

func (c *comparison) outJSON(t reflect.Type, shape *model.Shape, at string) {
	t = plain(t)
	switch {
	case shape == nil:
		if t.Kind() == reflect.Struct && t.NumField() > 0 {
			c.t.Errorf("%s has an answer, and none in the model", at)
		}
	case t.Kind() == reflect.Interface || t.Implements(reflect.TypeFor[json.Marshaler]()):
	case c.scalar(t, shape, at):
	case shape.Type == "list" && t.Kind() == reflect.Slice:
		c.outJSON(t.Elem(), c.operation.Shape(shape.Item), at+"[]")
	case shape.Type == "map" && t.Kind() == reflect.Map:
		c.outJSON(t.Elem(), c.operation.Shape(shape.Item), at+"{}")
	case shape.Type == "structure" && t.Kind() == reflect.Struct:
		for name, field := range c.parameters(t) {
			if m := memberIn(shape, name, true); m != nil {
				c.outJSON(field, c.operation.Shape(m.Shape), at+"."+name)
			} else {
				c.t.Errorf("%s has no member %s in the model", at, name)
			}
		}
	default:
		c.t.Errorf("%s is a %s, and in the model a %s", at, t, shape.Type)
	}
}

func (c *comparison) outXML(t reflect.Type, shape *model.Shape, at string) {
	t = plain(t)
	switch {
	case shape == nil:
		// EC2 answers <return>true</return> where the model has no answer.
		for i := range t.NumField() {
			if tag := t.Field(i).Tag.Get("xml"); tag != "return" {
				c.t.Errorf("%s has an answer %s, and none in the model", at, tag)
			}
		}
	case t.Implements(reflect.TypeFor[xml.Marshaler]()):
	case c.scalar(t, shape, at):
	case shape.Type != "structure" || t.Kind() != reflect.Struct:
		c.t.Errorf("%s is a %s, and in the model a %s", at, t, shape.Type)
	default:
		for i := range t.NumField() {
			f := t.Field(i)
			tag, _, _ := strings.Cut(f.Tag.Get("xml"), ",")
			switch {
			case f.Anonymous && tag == "":
				c.outXML(f.Type, shape, at)
			case tag == "-" || f.Name == "XMLName":
			default:
				c.element(f.Type, shape, strings.Split(cmp.Or(tag, f.Name), ">"), at)
			}
		}
	}
}

// element compares a field with the member on a path of elements.
func (c *comparison) element(t reflect.Type, shape *model.Shape, path []string, at string) {
	m := memberOut(shape, path[0])
	at += "." + strings.Join(path, ">")
	if m == nil {
		if path[0] != "return" || len(shape.Members) > 0 {
			c.t.Errorf("%s is no member in the model", at)
		}
		return
	}
	inner := c.operation.Shape(m.Shape)
	switch {
	case inner.Type == "list":
		item := inner.ItemName
		if item == "" {
			item = "member"
		}
		if t = plain(t); t.Kind() != reflect.Slice || !inner.Flat && (len(path) != 2 || path[1] != item) {
			c.t.Errorf("%s is a %s, and in the model a list of %s", at, t, item)
			return
		}
		c.outXML(t.Elem(), c.operation.Shape(inner.Item), at)
	case len(path) > 1:
		c.element(t, inner, path[1:], at)
	case inner.Type == "map":
	default:
		c.outXML(t, inner, at)
	}
}

func memberOut(shape *model.Shape, name string) *model.Member {
	for _, m := range shape.Members { // names are unique
		if m.Out == name {
			return m
		}
	}
	return nil
}
