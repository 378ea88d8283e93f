package snapshot

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"tenon/core/model"
	"tenon/core/requirement"
)

// filler fills values of any type with random content, so that a field that is
// added to a snapshot is covered without a change here.
type filler struct{ *rand.Rand }

func (f filler) fill(v reflect.Value) {
	switch target := v.Addr().Interface().(type) {
	case *requirement.Set:
		*target = f.set()
		return
	case *requirement.KeySet:
		*target = requirement.NewKeySet(f.words()...)
		return
	case *model.Resources:
		*target = model.NewResources(f.amounts()...)
		return
	case *time.Time:
		*target = time.Unix(f.Int64N(1<<33), f.Int64N(1e9)).In(time.FixedZone("there", 3600*f.IntN(10)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Slice:
		n := f.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, word := range f.words() {
			value := reflect.New(v.Type().Elem()).Elem()
			f.fill(value)
			v.SetMapIndex(reflect.ValueOf(word), value)
		}
	case reflect.Pointer:
		if f.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem())
		}
	case reflect.String:
		v.SetString(f.word())
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(int32(f.Uint32())))
	default:
		panic(fmt.Sprintf("the generator does not know %s: teach it", v.Type()))
	}
}

// word includes what JSON has to escape.
func (f filler) word() string {
	return []string{"", "a", "zone-1", "<&>", "\"\\", "\u2028é", "karpenter.sh/nodepool"}[f.IntN(7)]
}

func (f filler) words() []string {
	var out []string
	for range f.IntN(3) {
		out = append(out, f.word())
	}
	return out
}

func (f filler) amounts() []model.Amount {
	var out []model.Amount
	for _, name := range []string{"cpu", "memory", "pods", "ephemeral-storage", "nvidia.com/gpu"} {
		if f.IntN(2) == 0 {
			out = append(out, model.Amount{Name: name, Value: f.Int64()})
		}
	}
	return out
}

func (f filler) set() requirement.Set {
	var list []requirement.Requirement
	for range f.IntN(4) {
		operator := requirement.Operators()[f.IntN(8)]
		values := []string{fmt.Sprint(f.IntN(9)), fmt.Sprint(f.IntN(9))}
		if operator.Numeric() {
			values = values[:1]
		}
		list = append(list, requirement.New(f.word(), operator, values...).WithMinValues(f.IntN(3)))
	}
	return requirement.NewSet(list...)
}

func randomSnapshot(seed uint64) *Snapshot {
	s := &Snapshot{}
	filler{rand.New(rand.NewPCG(seed, 1))}.fill(reflect.ValueOf(s).Elem())
	for i := range s.Pools {
		s.Pools[i].Catalog = 0
	}
	for i := range s.Pods {
		s.Pods[i].Template = 0
	}
	for i := range s.Daemons {
		s.Daemons[i].Template = 0
	}
	if len(s.Catalogs) == 0 {
		s.Pools = nil
	}
	if len(s.Templates) == 0 {
		s.Pods, s.Daemons = nil, nil
	}
	return s
}

func written(t testing.TB, s *Snapshot) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A snapshot can be "written to a file and read back": nothing is lost, and the bytes
// depend only on the content.
func TestCodecRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		s := randomSnapshot(seed)
		first := written(t, s)
		read, err := Read(strings.NewReader(first))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := written(t, read); again != first {
			t.Fatalf("seed %d: bytes differ\n%s\n%s", seed, first, again)
		}
		if where := difference(reflect.ValueOf(*canonical(s)), reflect.ValueOf(*read), "snapshot"); where != "" {
			t.Fatalf("seed %d: %s", seed, where)
		}
	}
}

// difference finds the first place where two values differ, taking nil and empty for the
// same.
func difference(a, b reflect.Value, path string) string {
	switch x := a.Interface().(type) {
	case requirement.Set:
		return unless(x.Equal(b.Interface().(requirement.Set)), path, a, b)
	case requirement.KeySet:
		return unless(x.Equal(b.Interface().(requirement.KeySet)), path, a, b)
	case model.Resources:
		return unless(x.Equal(b.Interface().(model.Resources)), path, a, b)
	case time.Time:
		return unless(x.Equal(b.Interface().(time.Time)), path, a, b)
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if found := difference(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); found != "" {
				return found
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return unless(false, path, a, b)
		}
		for i := range a.Len() {
			if found := difference(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
		return ""
	case reflect.Map:
		return unless(a.Len() == b.Len() && (a.Len() == 0 || reflect.DeepEqual(a.Interface(), b.Interface())), path, a, b)
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return unless(a.IsNil() && b.IsNil(), path, a, b)
		}
		return difference(a.Elem(), b.Elem(), path)
	}
	return unless(a.Equal(b), path, a, b)
}

func unless(equal bool, path string, a, b reflect.Value) string {
	if equal {
		return ""
	}
	return fmt.Sprintf("%s: %v became %v", path, a, b)
}

func TestWriteLeavesTheSnapshotAlone(t *testing.T) {
	t.Parallel()
	s, other := randomSnapshot(7), randomSnapshot(7)
	written(t, s)
	if !reflect.DeepEqual(s, other) {
		t.Error("writing changed the snapshot")
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	whole := `{"format":"tenon/snapshot","version":1,"snapshot":{"now":"2026-01-01T00:00:00Z"}}`
	if _, err := Read(strings.NewReader(whole)); err != nil {
		t.Fatalf("the file that the cases are made of: %v", err)
	}
	cases := map[string]struct{ replace, with, want string }{
		"something else":      {whole, `hello`, "not a snapshot file"},
		"another format":      {"tenon/snapshot", "v1/List", `its format is "v1/List", want "tenon/snapshot"`},
		"a newer version":     {`"version":1`, `"version":9`, "version 9 is newer than this program, which reads up to 1"},
		"no version":          {`"version":1`, `"version":0`, "version 0 does not exist"},
		"nothing inside":      {`{"now":"2026-01-01T00:00:00Z"}`, `null`, "the file holds no snapshot"},
		"an unknown field":    {`"now"`, `"then"`, `unknown field "then"`},
		"a lost template":     {`"now"`, `"pods":[{"namespace":"n","name":"p","template":2}],"now"`, "pods[0] (n/p): there is no template 2"},
		"a lost daemon":       {`"now"`, `"daemons":[{"namespace":"n","name":"d","template":-1}],"now"`, "daemons[0] (n/d): there is no template -1"},
		"a lost catalogue":    {`"now"`, `"pools":[{"name":"p","requirements":[],"catalog":0}],"now"`, "pools[0] (p): there is no catalogue 0"},
		"something behind it": {whole, whole + "x", "not a snapshot file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(strings.NewReader(strings.Replace(whole, tc.replace, tc.with, 1)))
			if err == nil || !strings.HasPrefix(err.Error(), "read snapshot: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for seed := range uint64(5) {
		f.Add([]byte(written(f, randomSnapshot(seed))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		first := written(t, s)
		again, err := Read(strings.NewReader(first))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		if second := written(t, again); second != first {
			t.Fatalf("not the same bytes\n%s\n%s", first, second)
		}
	})
}
