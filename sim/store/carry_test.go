package store

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// For every kind, a carrier makes of an object what the object's encoding makes of it.
func TestCarriersDoWhatEncodingsDo(t *testing.T) {
	for _, k := range kindsOf(t) {
		if lose, known := k.wording().carrierOf(reflect.TypeOf(k.proto).Elem()); !known || lose == nil {
			t.Logf("%s goes through its encoding", k.GVK.Kind)
		}
		any := filler{rand.New(rand.NewPCG(7, 7))}
		for range 200 {
			object := k.blank()
			any.fill(reflect.ValueOf(object).Elem(), 0)
			before := clone(object)
			want, refused := k.encoded(clone(object))
			got, err := k.received(birth, object)
			if (err != nil) != (refused != nil) {
				t.Fatalf("%s: %v, and its encoding says %v", k.GVK.Kind, err, refused)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s differs: %s", k.GVK.Kind, differs(reflect.ValueOf(got), reflect.ValueOf(want)))
			}
			if !reflect.DeepEqual(object, before) {
				t.Fatalf("the sender's %s has changed", k.GVK.Kind)
			}
		}
	}
}

// Two objects are alike exactly when they would be stored alike.
func TestAlikeIsStoredAlike(t *testing.T) {
	for _, k := range kindsOf(t) {
		for seed := range uint64(100) {
			one, other := k.blank(), k.blank()
			filler{rand.New(rand.NewPCG(seed, 1))}.fill(reflect.ValueOf(one).Elem(), 0)
			filler{rand.New(rand.NewPCG(seed, 1+seed%2))}.fill(reflect.ValueOf(other).Elem(), 0)
			one, _ = k.received(birth, one)
			other, _ = k.received(birth, other)
			if one == nil || other == nil {
				continue
			}
			for _, p := range [][2]client.Object{{one, other}, {one, clone(one)}, {one, touched(one, seed)}} {
				if got, want := alike(p[0], p[1]), reflect.DeepEqual(p[0], p[1]); got != want {
					t.Fatalf("%s: alike is %v, and the difference is %q", k.GVK.Kind, got, differs(reflect.ValueOf(p[0]), reflect.ValueOf(p[1])))
				}
			}
		}
	}
}

// The most frequent kinds of a run have carriers, so their objects are not encoded.
func TestCommonKindsAreCarried(t *testing.T) {
	common := []client.Object{&corev1.Pod{}, &corev1.Node{}, &karpenterv1.NodeClaim{}, &karpenterv1.NodePool{}}
	for _, k := range kindsOf(t) {
		for _, object := range common {
			if reflect.TypeOf(object) != reflect.TypeOf(k.proto) {
				continue
			}
			if _, known := k.wording().carrierOf(reflect.TypeOf(object).Elem()); !known || comparerOf(reflect.TypeOf(object).Elem()) == nil {
				t.Errorf("%T is", object)
			}
		}
	}
}

// differs says where two values first differ.
func differs(a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !a.IsNil() && !b.IsNil() {
			return differs(a.Elem(), b.Elem())
		}
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			if d := differs(a.Index(i), b.Index(i)); d != "" {
				return fmt.Sprintf("[%d]%s", i, d)
			}
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() {
				if d := differs(a.Field(i), b.Field(i)); d != "" {
					return "." + f.Name + d
				}
			}
		}
	}
	if !reflect.DeepEqual(a.Interface(), b.Interface()) {
		return fmt.Sprintf(": %#v, and not %#v", a, b)
	}
	return ""
}

func kindsOf(t *testing.T) []*Kind {
	s, err := New(clocktesting.NewFakePassiveClock(time.Unix(0, 0)), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Kind
	for _, gvk := range s.Kinds() {
		all = append(all, s.kinds[gvk])
	}
	return all
}

// touched returns a copy in which one text or one number is different.
func touched(object client.Object, seed uint64) client.Object {
	into := clone(object)
	left := int(seed % 40)
	touch(reflect.ValueOf(into).Elem(), &left)
	return into
}

func touch(v reflect.Value, left *int) {
	switch v.Kind() {
	case reflect.String:
		if *left--; *left == 0 {
			v.SetString(v.String() + "x")
		}
	case reflect.Int32, reflect.Int64:
		if *left--; *left == 0 {
			v.SetInt(v.Int() + 1)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			touch(v.Elem(), left)
		}
	case reflect.Slice:
		for i := range v.Len() {
			touch(v.Index(i), left)
		}
	case reflect.Struct:
		if v.Type() == timeType || v.Type() == quantityType {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				touch(v.Field(i), left)
			}
		}
	}
}

// filler fills a value with anything that its type allows: missing and empty lists, times with
// fractions of seconds, quantities in all forms.
type filler struct{ dice *rand.Rand }

func (f filler) fill(v reflect.Value, depth int) {
	switch special := v.Addr().Interface().(type) {
	case *metav1.Time:
		if f.dice.IntN(3) > 0 {
			special.Time = time.Unix(f.dice.Int64N(4e9), f.dice.Int64N(1e9)).In([]*time.Location{time.UTC, time.Local, time.FixedZone("", 3600)}[f.dice.IntN(3)])
		}
		return
	case *metav1.MicroTime:
		special.Time = time.Unix(f.dice.Int64N(4e9), 0)
		return
	case *resource.Quantity:
		texts := []string{"0", "1", "1000m", "1.5", "0.0001", "2Gi", "1024Mi", "1e3", "12345678901234567890", "100n", "-3"}
		*special = resource.MustParse(texts[f.dice.IntN(len(texts))])
		if f.dice.IntN(2) == 0 {
			_ = special.String()
		}
		return
	case *karpenterv1.NillableDuration:
		*special = []karpenterv1.NillableDuration{{}, karpenterv1.NeverEnding(), karpenterv1.DurationOf(time.Hour), {Raw: []byte(` "24h" `)}}[f.dice.IntN(4)]
		return
	}
	f.fillKind(v, depth)
}

func (f filler) fillKind(v reflect.Value, depth int) {
	const deepest = 14
	some := f.dice.IntN(4)
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(some > 1)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(some) - 1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(some))
	case reflect.String:
		v.SetString([]string{"", "a", "<b&\u2028>", fmt.Sprint(f.dice.Uint32())}[some])
		if f.dice.IntN(5000) == 0 {
			v.SetString("no \xff text")
		}
	case reflect.Pointer:
		if some > 1 && depth < deepest {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if some > 0 && depth < deepest {
			v.Set(reflect.MakeSlice(v.Type(), some-1, some-1))
			for i := range v.Len() {
				f.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if some > 0 && depth < deepest {
			v.Set(reflect.MakeMap(v.Type()))
			for range some - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				f.fill(key, depth+1)
				f.fill(value, depth+1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				f.fill(v.Field(i), depth+1)
			}
		}
	}
}
