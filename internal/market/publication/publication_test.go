package publication_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/aws"
	"tenon/internal/market/publication"
)

func ref(name string) cloud.ClassRef {
	return cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: name}
}

func kind(name string, price model.Money) catalog.Type {
	return catalog.Type{
		Name: name, Requirements: requirement.NewSet(requirement.New(requirement.KeyRegion, requirement.In, "eu-north-1")), Capacity: model.Resources{CPU: 4000},
		Offerings: []catalog.Offering{
			{Zone: "eu-north-1a", CapacityType: catalog.Spot, Price: price, Available: true},
			{Zone: "eu-north-1b", CapacityType: catalog.Spot, Price: price, Outage: &catalog.Outage{Since: time.Unix(1, 0).UTC(), Until: time.Unix(2, 0).UTC()}},
		},
	}
}

func market() *publication.Publication {
	return &publication.Publication{
		Catalogs: map[cloud.ClassRef]*catalog.Catalog{
			ref("a"): {Types: []catalog.Type{kind("small", 100), kind("large", 300), {Name: "none"}}},
			ref("b"): {Types: []catalog.Type{kind("large", 400), kind("small", 100)}},
		},
		Closed:   map[string]string{"web": "pauses"},
		Settings: map[string]string{"node-price": "0.02"},
	}
}

func encode(t *testing.T, p *publication.Publication, most int) []byte {
	t.Helper()
	text, err := p.Encode(most)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What is published is read back as it was, and the same market gives the same bytes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	text := encode(t, market(), publication.Most)
	got, err := publication.FromObject(publication.Object("kube-system", text, time.Unix(1000, 0)))
	if err != nil {
		t.Fatal(err)
	}
	want := market()
	want.At = time.Unix(1000, 0).UTC()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if !bytes.Equal(text, encode(t, market(), publication.Most)) {
		t.Error("the same market gives other bytes")
	}
	if got.Region() != "eu-north-1" {
		t.Errorf("region %q", got.Region())
	}
}

// Classes for which there is no room are named, and the others are there.
func TestWithheldClasses(t *testing.T) {
	t.Parallel()
	one := market()
	delete(one.Catalogs, ref("b"))
	got, err := publication.Decode(encode(t, market(), len(encode(t, one, publication.Most))))
	if err != nil {
		t.Fatal(err)
	}
	if got.Catalogs[ref("a")] == nil || len(got.Catalogs) != 1 || len(got.Withheld) != 1 || got.Withheld[0] != ref("b") {
		t.Errorf("published %d classes, withheld %v", len(got.Catalogs), got.Withheld)
	}
}

// The market of the largest region fits in an object, and further classes that sell nearly the same cost little.
func TestTheLargestRegionFits(t *testing.T) {
	t.Parallel()
	offers := aws.Cloud().Builtin.Offers("us-east-1")
	one := &publication.Publication{Catalogs: map[cloud.ClassRef]*catalog.Catalog{ref("a"): offers}}
	three := &publication.Publication{Catalogs: map[cloud.ClassRef]*catalog.Catalog{}}
	for i := range 3 {
		three.Catalogs[ref(fmt.Sprint("class-", i))] = offers
	}
	alone, together := len(encode(t, one, publication.Most)), len(encode(t, three, publication.Most))
	t.Logf("one class takes %d bytes, three take %d", alone, together)
	if alone > publication.Most/2 || together > alone+3*(20<<10) {
		t.Errorf("one class takes %d bytes, three take %d", alone, together)
	}
}

// What is no published market, or one of another time, gives an error that says so.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	zipped := func(text string) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, err := w.Write([]byte(text))
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"no text":           {nil, "EOF"},
		"not compressed":    {[]byte("plain text, and more of it"), "invalid header"},
		"cut off":           {encode(t, market(), publication.Most)[:200], "unexpected EOF"},
		"another format":    {zipped(`{"head":{"format":"tenon/snapshot","version":1}}`), `its format is "tenon/snapshot"`},
		"a later version":   {zipped(`{"head":{"format":"tenon/market","version":9}}`), "version 9 is newer"},
		"no head":           {zipped(`{"type":{"name":"a"}}`), "does not begin as one"},
		"empty":             {zipped(``), "EOF"},
		"what is not there": {zipped(`{"head":{"format":"tenon/market","version":1}}{"class":{"ref":{"kind":"K","name":"n"},"sells":[[3,0]]}}`), "K/n sells what was not described"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := publication.Decode(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// The newest publication is found in all namespaces, or, where not all may be read, the one in a known namespace by its name.
func TestRead(t *testing.T) {
	t.Parallel()
	old, now := publication.Object("former", encode(t, market(), publication.Most), time.Unix(10, 0)), publication.Object("kube-system", encode(t, market(), publication.Most), time.Unix(20, 0))
	for name, c := range map[string]struct {
		answers map[string][]corev1.ConfigMap // by path; what is missing is forbidden
		want    int64                         // 0: there is none
	}{
		"all namespaces":   {map[string][]corev1.ConfigMap{"/api/v1/configmaps": {*old, *now}}, 20},
		"none":             {map[string][]corev1.ConfigMap{"/api/v1/configmaps": {}}, 0},
		"one by its name":  {map[string][]corev1.ConfigMap{"/api/v1/namespaces/former/configmaps/tenon-market": {*old}}, 10},
		"nothing is shown": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				found, allowed := c.answers[r.URL.Path]
				named := strings.HasSuffix(r.URL.Path, "/"+publication.Name)
				if !allowed || !named && r.URL.Query().Get("labelSelector") != "tenon.sh/publication=market" {
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
					return
				}
				if named {
					_ = json.NewEncoder(w).Encode(found[0])
					return
				}
				_ = json.NewEncoder(w).Encode(corev1.ConfigMapList{Items: found}) // the client sees what is missing
			}))
			t.Cleanup(server.Close)
			got, err := publication.Read(t.Context(), &rest.Config{Host: server.URL}, "elsewhere", "former")
			switch {
			case c.want == 0 && !errors.Is(err, publication.ErrNone):
				t.Errorf("error %v", err)
			case c.want != 0 && (err != nil || got.At.Unix() != c.want):
				t.Errorf("publication %+v, error %v", got, err)
			}
		})
	}
}

// BenchmarkEncode is what the controller spends when prices change.
func BenchmarkEncode(b *testing.B) {
	p := &publication.Publication{Catalogs: map[cloud.ClassRef]*catalog.Catalog{ref("a"): aws.Cloud().Builtin.Offers("us-east-1")}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Encode(publication.Most); err != nil {
			b.Fatal(err)
		}
	}
}
