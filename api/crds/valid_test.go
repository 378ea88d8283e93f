package crds_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	kjson "sigs.k8s.io/json"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/karpenter/v1alpha1"
	"tenon/api/label"
)

// The patterns of the definitions.
var (
	someDuration = regexp.MustCompile(`^([0-9]+(s|m|h))+$`)
	someBudget   = regexp.MustCompile(`^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$`)
	someQuantity = regexp.MustCompile(`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`)
)

// list returns a list of two objects: one with the given specification, and a healthy one.
func list(spec any) []byte { return listed("spec", spec) }

func listed(part string, odd any) []byte {
	text, err := json.Marshal(map[string]any{"items": []any{
		map[string]any{"metadata": map[string]any{"name": "odd"}, part: odd},
		map[string]any{"metadata": map[string]any{"name": "healthy"}, "spec": map[string]any{}},
	}})
	if err != nil {
		panic(err)
	}
	return text
}

// decode reads a list, and checks that both objects are there and that the odd one can be written.
func decode[T any](t *testing.T, text []byte, into *T, items func(*T) int) {
	t.Helper()
	began := time.Now()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, into); err != nil || items(into) != 2 {
		t.Errorf("%T: %d objects of 2 are read: %v\n%s", into, items(into), err, text)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%T: took %s to read", into, took)
	}
	if _, err := json.Marshal(into); err != nil {
		t.Errorf("%T cannot be written: %v", into, err)
	}
}

// FuzzValidObjects: if the patterns of the definitions accept an object, a list with it is read, and
// quickly. One object that Go's own parsers cannot read would stop all of its kind.
func FuzzValidObjects(f *testing.F) {
	for _, seed := range [][2]string{
		{"24h", "100"}, {"9999999h", "1e-10000000"}, {"99999999999999999999s", "1e20000000"}, {"1h1h", "1e1.5"}, {"0m", "-1"},
		{"1h30m", ".5Gi"}, {"2562048h", "1E-.5"}, {"1m0s", "+1."}, {"3h", "12e999"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, duration, quantity string) {
		pool, template, claim, overlay := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
		if someDuration.MatchString(duration) {
			for _, spec := range []map[string]any{template, claim} {
				spec["expireAfter"], spec["terminationGracePeriod"] = duration, duration
			}
			pool["disruption"] = map[string]any{"consolidateAfter": duration}
			if someBudget.MatchString(duration) {
				pool["disruption"] = map[string]any{"budgets": []any{map[string]any{"nodes": "1", "duration": duration}}}
			}
		}
		pool["template"] = map[string]any{"spec": template}
		if someQuantity.MatchString(quantity) {
			pool["limits"] = map[string]any{"cpu": quantity}
			claim["resources"] = map[string]any{"requests": map[string]any{"cpu": quantity}}
			overlay["capacity"] = map[string]any{"example.dev/slot": quantity}
		}
		pools := &karpenterv1.NodePoolList{}
		decode(t, list(pool), pools, func(l *karpenterv1.NodePoolList) int { return len(l.Items) })
		for i := range pools.Items {
			_ = pools.Items[i].Validate(label.Rules{}) // an answer of either kind will do
			_ = pools.Items[i].DeepCopy().Hash()
		}
		decode(t, list(claim), &karpenterv1.NodeClaimList{}, func(l *karpenterv1.NodeClaimList) int { return len(l.Items) })
		decode(t, list(overlay), &v1alpha1.NodeOverlayList{}, func(l *v1alpha1.NodeOverlayList) int { return len(l.Items) })
		if someQuantity.MatchString(quantity) {
			amounts := map[string]any{"cpu": quantity}
			status := listed("status", map[string]any{"capacity": amounts, "allocatable": amounts, "resources": amounts})
			decode(t, status, &karpenterv1.NodePoolList{}, func(l *karpenterv1.NodePoolList) int { return len(l.Items) })
			decode(t, status, &karpenterv1.NodeClaimList{}, func(l *karpenterv1.NodeClaimList) int { return len(l.Items) })
		}
		// No pattern says what this duration looks like.
		kubelet := map[string]any{"kubelet": map[string]any{"evictionSoftGracePeriod": map[string]any{"memory.available": duration}}}
		decode(t, list(kubelet), &awsv1.EC2NodeClassList{}, func(l *awsv1.EC2NodeClassList) int { return len(l.Items) })
	})
}

// A value that cannot be read makes only its own object invalid, and a value that is too long becomes the
// longest one.
func TestUnreadableObjectsAreInvalid(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{`"1e-10000000"`: false, `"1e1.5"`: false, `"100"`: true, `100`: true, `"-1"`: true} {
		pool := &karpenterv1.NodePool{}
		read := fmt.Sprintf(`{"spec":{"limits":{"cpu":%s},"template":{"spec":{"expireAfter":"9999999h","terminationGracePeriod":"9999999h"}}}}`, text)
		if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(read), pool); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err := pool.Validate(label.Rules{}); (err == nil) != valid {
			t.Errorf("%s: error %v, want valid %t", text, err, valid)
		}
		spec := pool.Spec.Template.Spec
		if spec.ExpireAfter.Duration.Hours() < 2e6 || spec.TerminationGracePeriod.Hours() < 2e6 || spec.ExpireAfter.String() != "9999999h" {
			t.Errorf("the durations are %v and %v", spec.ExpireAfter, spec.TerminationGracePeriod)
		}
	}
	soft := &awsv1.EC2NodeClass{}
	text := `{"spec":{"kubelet":{"evictionSoftGracePeriod":{"memory.available":"soon"}}}}`
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), soft); err != nil || soft.Spec.Kubelet.Validate() == nil {
		t.Errorf("a grace period that is no duration: read with error %v, valid %t", err, soft.Spec.Kubelet.Validate() == nil)
	}
}
