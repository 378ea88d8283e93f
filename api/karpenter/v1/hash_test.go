package v1_test

import (
	"fmt"
	"math/rand"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/mitchellh/hashstructure/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
)

func samplePool() *v1.NodePool {
	return &v1.NodePool{
		Spec: v1.NodePoolSpec{
			Template: v1.NodeClaimTemplate{
				ObjectMeta: v1.ObjectMeta{
					Labels:      map[string]string{"team": "a", "phase": "test"},
					Annotations: map[string]string{"note": "b"},
				},
				Spec: v1.NodeClaimTemplateSpec{
					Taints:        []corev1.Taint{{Key: "a", Value: "b", Effect: corev1.TaintEffectNoSchedule}},
					StartupTaints: []corev1.Taint{{Key: "c", Effect: corev1.TaintEffectNoExecute}},
					Requirements: []v1.Requirement{
						{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
					},
					NodeClassRef:           &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
					TerminationGracePeriod: &scalar.Duration{Duration: time.Hour},
					ExpireAfter:            read(`"720h"`),
				},
			},
		},
	}
}

func read(text string) v1.NillableDuration {
	var d v1.NillableDuration
	if err := d.UnmarshalJSON([]byte(text)); err != nil {
		panic(err)
	}
	return d
}

// oracle hashes a template with the library that defined the format of the annotation. Never is
// read as an absent value.
func oracle(t *testing.T, template v1.NodeClaimTemplate) string {
	t.Helper()
	if template.Spec.ExpireAfter.Duration == nil {
		template.Spec.ExpireAfter.Raw = nil
	}
	h, err := hashstructure.Hash(template, hashstructure.FormatV2, &hashstructure.HashOptions{
		SlicesAsSets: true, IgnoreZeroValue: true, ZeroNil: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(h, 10)
}

// TestHashedNames pins the names and the order of the hashed fields, which are part of the hash.
func TestHashedNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		of   any
		want string
	}{
		{v1.NodeClaimTemplate{}, "NodeClaimTemplate ObjectMeta Spec"},
		{v1.ObjectMeta{}, "ObjectMeta Labels Annotations"},
		{v1.NodeClaimTemplateSpec{}, "NodeClaimTemplateSpec Taints StartupTaints -Requirements NodeClassRef TerminationGracePeriod ExpireAfter"},
		{corev1.Taint{}, "Taint Key Value Effect TimeAdded"},
		{v1.NodeClassReference{}, "NodeClassReference Kind Name Group"},
		{scalar.Duration{}, "Duration Duration"},
		{v1.NillableDuration{}, "NillableDuration Duration -Raw"},
	} {
		hashed := reflect.TypeOf(tc.of)
		got := hashed.Name()
		for field := range hashed.Fields() {
			got += " "
			if field.Tag.Get("hash") == "ignore" {
				got += "-"
			}
			got += field.Name
		}
		if got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}

// TestHashOfRandomTemplates compares with the oracle.
func TestHashOfRandomTemplates(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(11))
	seen := map[string]bool{}
	for range 500 {
		pool := &v1.NodePool{Spec: v1.NodePoolSpec{Template: randomTemplate(random)}}
		got, want := pool.Hash(), oracle(t, pool.Spec.Template)
		if got != want {
			t.Fatalf("template %+v: got %s, want %s", pool.Spec.Template, got, want)
		}
		seen[got] = true
	}
	if len(seen) < 400 {
		t.Errorf("only %d different hashes of 500 templates", len(seen))
	}
}

func randomTemplate(random *rand.Rand) v1.NodeClaimTemplate {
	word := func() string { return fmt.Sprintf("w%d", random.Intn(5)) }
	dictionary := func() map[string]string {
		m := map[string]string{}
		for range random.Intn(4) {
			m[word()] = word()
		}
		return m
	}
	taints := func() []corev1.Taint {
		var list []corev1.Taint
		for range random.Intn(3) {
			taint := corev1.Taint{Key: word(), Effect: corev1.TaintEffectNoSchedule}
			if random.Intn(2) == 0 {
				taint.Value = word()
				taint.TimeAdded = &metav1.Time{Time: time.Unix(int64(random.Intn(1e9)), 0).UTC()}
			}
			list = append(list, taint)
		}
		return list
	}
	template := v1.NodeClaimTemplate{ObjectMeta: v1.ObjectMeta{Labels: dictionary(), Annotations: dictionary()}}
	template.Spec.Taints, template.Spec.StartupTaints = taints(), taints()
	if random.Intn(4) > 0 {
		template.Spec.NodeClassRef = &v1.NodeClassReference{Group: word(), Kind: word(), Name: word()}
	}
	if random.Intn(2) == 0 {
		template.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Duration(random.Intn(100)) * time.Minute}
	}
	template.Spec.ExpireAfter = []v1.NillableDuration{{}, v1.NeverEnding(), read(`"720h"`), read(`"0s"`)}[random.Intn(4)]
	return template
}

// TestHashCovers follows the lists of what is included and what is excluded.
func TestHashCovers(t *testing.T) {
	t.Parallel()
	before := samplePool().Hash()
	included := map[string]func(*v1.NodePool){
		"label":      func(p *v1.NodePool) { p.Spec.Template.Labels["team"] = "b" },
		"annotation": func(p *v1.NodePool) { p.Spec.Template.Annotations["note"] = "c" },
		"taint":      func(p *v1.NodePool) { p.Spec.Template.Spec.Taints[0].Value = "c" },
		"startup taint": func(p *v1.NodePool) {
			p.Spec.Template.Spec.StartupTaints[0].Effect = corev1.TaintEffectNoSchedule
		},
		"class group":  func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Group = "x" },
		"class kind":   func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Kind = "x" },
		"class name":   func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = "x" },
		"grace period": func(p *v1.NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = nil },
		"expiry":       func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = read(`"721h"`) },
		"no expiry":    func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = v1.NeverEnding() },
	}
	for name, change := range included {
		pool := samplePool()
		change(pool)
		if pool.Hash() == before {
			t.Errorf("a change of %s does not change the hash", name)
		}
	}
	weight, replicas := int32(5), int64(3)
	excluded := map[string]func(*v1.NodePool){
		"requirements":        func(p *v1.NodePool) { p.Spec.Template.Spec.Requirements = nil },
		"text of the expiry":  func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = read(`"43200m"`) },
		"expiry never read":   func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = v1.DurationOf(720 * time.Hour) },
		"disruption":          func(p *v1.NodePool) { p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}} },
		"limits":              func(p *v1.NodePool) { p.Spec.Limits = v1.Limits{"cpu": {}} },
		"weight":              func(p *v1.NodePool) { p.Spec.Weight = &weight },
		"replicas":            func(p *v1.NodePool) { p.Spec.Replicas = &replicas },
		"metadata and status": func(p *v1.NodePool) { p.Name, p.Status.NodeClassObservedGeneration = "x", 7 },
	}
	for name, change := range excluded {
		pool := samplePool()
		change(pool)
		if pool.Hash() != before {
			t.Errorf("a change of %s changes the hash", name)
		}
	}
}

func TestHashOfNeverIsThatOfAbsent(t *testing.T) {
	t.Parallel()
	never, absent := samplePool(), samplePool()
	never.Spec.Template.Spec.ExpireAfter = v1.NeverEnding()
	absent.Spec.Template.Spec.ExpireAfter = v1.NillableDuration{}
	if never.Hash() != absent.Hash() {
		t.Error("Never differs from an absent value")
	}
	if never.Spec.Template.Spec.ExpireAfter.String() != "Never" || !never.Spec.Template.Spec.ExpireAfter.IsSet() {
		t.Error("hashing changed the pool")
	}
}

// TestHashIsStable pins hashes: clusters have them in annotations, so they may change only together with the version.
func TestHashIsStable(t *testing.T) {
	t.Parallel()
	if v1.NodePoolHashVersion != "v3" {
		t.Fatal("with a new version come new numbers")
	}
	for want, pool := range map[string]*v1.NodePool{
		"4594471292906504873":  samplePool(),
		"17307646073972311821": {},
	} {
		if got := pool.Hash(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
