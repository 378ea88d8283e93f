package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

func before(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// TestNodesAreDescribedWithTheirClaims checks that the conditions of a claim and of its node are in one list, the newest
// first, and that those of a failed launch ask for attention.
func TestNodesAreDescribedWithTheirClaims(t *testing.T) {
	t.Parallel()
	s := NewState(nil)
	n := node("a")
	n.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
	n.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true", "example.com/token": "s3cret"}
	n.Status.Conditions[0].LastTransitionTime = before(2 * time.Minute)
	s.Put(n)
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", CreationTimestamp: before(3 * time.Minute)}}
	claim.Status.NodeName = "a"
	claim.Status.Conditions = []metav1.Condition{
		{Type: karpenterv1.ConditionRegistered, Status: metav1.ConditionTrue, LastTransitionTime: before(time.Minute)},
		{Type: karpenterv1.ConditionLaunched, Status: metav1.ConditionUnknown, Reason: "LaunchFailed", Message: "out of stock", LastTransitionTime: before(170 * time.Second)},
		{Type: karpenterv1.ConditionDrifted, Status: metav1.ConditionFalse, LastTransitionTime: before(3 * time.Minute)},
	}
	s.Put(claim)
	for _, name := range []string{"a", "c"} {
		d, ok := s.Details("Node", name, noon)
		if !ok || d.Name != "a" || !d.Created.Equal(claim.CreationTimestamp.Time) {
			t.Fatalf("%s: %t %+v", name, ok, d)
		}
		var got []string
		for _, c := range d.Conditions {
			line := c.Of + " " + c.Type
			if c.Attention {
				line += " !"
			}
			got = append(got, line)
		}
		if diff := cmp.Diff([]string{"NodeClaim Registered", "Node Ready", "NodeClaim Launched !", "NodeClaim Drifted"}, got); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
		if text := facts(d); !strings.Contains(text, "Taints: gpu=true NoSchedule") || !strings.Contains(text, "Labels: "+corev1.LabelTopologyZone+"=us-west-2a") || !strings.Contains(text, "do-not-disrupt=true") || strings.Contains(text, "s3cret") {
			t.Errorf("sections:\n%s", text)
		}
	}
	s.Delete(n)
	s.Delete(claim)
	if d, ok := s.Details("Node", "a", noon); ok || len(s.details) > 0 {
		t.Errorf("details of nothing: %+v, and %d are kept", d, len(s.details))
	}
}

// facts writes the sections of details, a line each.
func facts(d Details) string {
	var out strings.Builder
	for _, s := range d.Sections {
		for _, f := range s.Facts {
			out.WriteString(s.Title + ": " + f.Name + "=" + f.Value + "\n")
		}
	}
	return out.String()
}

// TestBudgetsAreEvaluated checks the allowances of budgets at noon for a pool of three nodes, one of which is
// not ready.
func TestBudgetsAreEvaluated(t *testing.T) {
	t.Parallel()
	schedule := func(line string, hours time.Duration) (*string, *scalar.Duration) {
		return &line, &scalar.Duration{Duration: hours * time.Hour}
	}
	morning, three := schedule("0 10 * * *", 3)
	night, one := schedule("0 2 * * *", 1)
	broken, _ := schedule("0 10 * *", 1)
	drifted := []karpenterv1.DisruptionReason{karpenterv1.DisruptionDrifted}
	cases := map[string]struct {
		budgets []karpenterv1.Budget
		want    []int // empty, drifted, underutilized
		turns   string
		problem bool
	}{
		"none":                      {nil, []int{Unbounded, Unbounded, Unbounded}, "", false},
		"a share is rounded up":     {[]karpenterv1.Budget{{Nodes: "50%"}}, []int{2, 2, 2}, "", false},
		"a reason has its own":      {[]karpenterv1.Budget{{Nodes: "2"}, {Nodes: "0", Reasons: drifted}}, []int{2, 0, 2}, "", false},
		"one that counts until one": {[]karpenterv1.Budget{{Nodes: "1", Schedule: morning, Duration: three}}, []int{1, 1, 1}, "13:00", false},
		"one that counts at night":  {[]karpenterv1.Budget{{Nodes: "1", Schedule: night, Duration: one}}, []int{Unbounded, Unbounded, Unbounded}, "02:00", false},
		"one that is unreadable":    {[]karpenterv1.Budget{{Nodes: "1", Schedule: broken, Duration: one}}, []int{0, 0, 0}, "", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewState(nil)
			pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			pool.Spec.Disruption.Budgets = tc.budgets
			s.Put(pool)
			for _, name := range []string{"a", "b", "c"} {
				n := node(name, karpenterv1.LabelNodePool, "p")
				if name == "c" {
					n.Status.Conditions[0].Status = corev1.ConditionFalse
				}
				s.Put(n)
			}
			s.Put(node("other"))
			d, _ := s.Details("NodePool", "p", noon)
			b := d.Budgets
			var got []int
			for _, a := range b.Allowed {
				got = append(got, a.Nodes)
			}
			turns := ""
			if !b.Turns.IsZero() {
				turns = b.Turns.Format("15:04")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || turns != tc.turns || b.Nodes != 3 || b.Disrupting != 1 {
				t.Errorf("allowed (-want +got):\n%s; it turns at %q, %d nodes, %d of them going", diff, turns, b.Nodes, b.Disrupting)
			}
			if len(b.Lines) != len(tc.budgets) || tc.problem != (len(b.Lines) > 0 && b.Lines[0].Problem != "") {
				t.Errorf("lines: %+v", b.Lines)
			}
		})
	}
}

// TestPoolsGroupsAndClassesAreDescribed checks the details of each kind, and that a class's user data is not
// shown.
func TestPoolsGroupsAndClassesAreDescribed(t *testing.T) {
	t.Parallel()
	two, secret := 2, "s3cret"
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pool.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}, MinValues: &two}}
	pool.Spec.Template.Spec.ExpireAfter = karpenterv1.NeverEnding()
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Kind: "EC2NodeClass", Name: "k"}
	pool.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: resource.MustParse("8")}
	pool.Status.Resources = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	group := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "g"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "Group", Mode: tenonv1alpha1.ModeNative}}
	group.Status.Size = &tenonv1alpha1.NodeGroupSize{Min: 1, Max: 5, Desired: 3}
	group.Status.Unregistered = []tenonv1alpha1.UnregisteredInstance{{ProviderID: "aws:///z/i-1", Since: before(0)}}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "k"}}
	class.Spec.UserData = &secret
	class.Status.AMIs = []awsv1.AMI{{ID: "ami-1", Name: "old", Deprecated: true}}
	class.Status.CapacityReservations = []awsv1.CapacityReservation{{ID: "cr-1", InstanceType: "m5.large", AvailabilityZone: "z", InstanceMatchCriteria: "open", State: "active"}}
	s := NewState(nil)
	for _, o := range []any{pool, group, class} {
		s.Put(o)
	}
	for object, want := range map[string]string{
		"NodePool/p":     "Nodes may have: zone=In a, b (at least 2 of them)",
		"NodeGroup/g":    "Instances without a node: i-1=since 2026-03-01 12:00:00 UTC",
		"EC2NodeClass/k": "Capacity reservations: cr-1=m5.large in z, open, active",
	} {
		kind, name, _ := strings.Cut(object, "/")
		d, ok := s.Details(kind, name, noon)
		if text := facts(d); !ok || !strings.Contains(text, want) || strings.Contains(text, secret) {
			t.Errorf("%s:\n%s", object, text)
		}
		if (kind == "EC2NodeClass") != (d.Budgets == nil) {
			t.Errorf("%s has budgets %+v", object, d.Budgets)
		}
	}
	pools := s.Fleet().Pools
	if p := pools[1]; p.Class != "EC2NodeClass/k" || p.Object != "p" || p.Limited("cpu") != 4000 || pools[0].Object != "g" {
		t.Errorf("the pool is %+v", p)
	}
}
