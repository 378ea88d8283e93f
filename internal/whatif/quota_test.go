package whatif

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// Additional replicas have the room that the quotas of their namespace leave, once for all that is scaled there; the others
// are refused with the quota's bound. Another namespace's quota does not count, nor does one of a snapshot alone.
func TestScaleKeepsToQuotas(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{
		Templates: []snapshot.Template{{Namespace: "shop", Owner: "Deployment/web"}, {Namespace: "shop", Owner: "Deployment/api"}, {Namespace: "free", Owner: "Deployment/web"}},
		Pods: []snapshot.Pod{
			{Namespace: "free", Name: "web-1", Node: "n", Template: 2}, {Namespace: "shop", Name: "api-1", Node: "n", Template: 1}, {Namespace: "shop", Name: "web-1", Node: "n"},
		},
	}
	around := &ingest.Objects{}
	for _, p := range s.Pods {
		around.Pods = append(around.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}}}}})
	}
	around.Others = append(around.Others, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.cpu": resource.MustParse("3")}},
		Status: corev1.ResourceQuotaStatus{Hard: corev1.ResourceList{"requests.cpu": resource.MustParse("3")}, Used: corev1.ResourceList{"requests.cpu": resource.MustParse("1")}},
	})
	for name, tc := range map[string]struct {
		around *ingest.Objects
		scales string
		want   map[string]int // refused pods by workload
	}{
		"within the quota":         {around, "deployment/shop/web=5", map[string]int{}},
		"beyond it":                {around, "deployment/shop/web=7", map[string]int{"shop Deployment/web": 2}},
		"two share what it leaves": {around, "deployment/shop/web=4 deployment/shop/api=4", map[string]int{"shop Deployment/api": 2}},
		"another namespace":        {around, "deployment/free/web=50", map[string]int{}},
		"of a snapshot alone":      {nil, "deployment/shop/web=50", map[string]int{}},
	} {
		trial := Trial{Around: tc.around}
		for text := range strings.FieldsSeq(tc.scales) {
			scale, err := ParseScale(text)
			if err != nil {
				t.Fatal(err)
			}
			trial.Scales = append(trial.Scales, scale)
		}
		out, _, err := trial.Apply(s)
		if err != nil {
			t.Errorf("%s: %s", name, err)
			continue
		}
		refused := map[string]int{}
		for _, p := range out.Pods {
			if len(p.Refused) > 0 {
				refused[p.Namespace+" "+out.Templates[p.Template].Owner]++
				if text := p.Refused.Text(); !strings.Contains(text, "team") || !strings.Contains(text, "requests.cpu: 500m wanted, 0 of 3 left") {
					t.Errorf("%s: %s is refused as %s", name, p.Name, text)
				}
			}
		}
		if fmt.Sprint(refused) != fmt.Sprint(tc.want) {
			t.Errorf("%s: refused %v, want %v", name, refused, tc.want)
		}
	}
}
