package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/ingest"
	"tenon/internal/preflight"
	"tenon/internal/provider"
)

// The cloud is asked about the replacements of each class, its findings are listed, and what is not in order is to be done before; so is a launch
// template with which the group could not grow again.
func TestGroupCheckLooksAtTheAccount(t *testing.T) {
	t.Parallel()
	broken := metav1.Condition{Type: tenonv1alpha1.ConditionTemplateKnown, Status: metav1.ConditionFalse, Message: "the launch template is gone"}
	for name, tc := range map[string]struct {
		level      preflight.Level
		conditions []metav1.Condition
		open       bool
		want       string
	}{
		"in order":           {level: preflight.OK, want: "ok       aws-subnets"},
		"not looked up":      {level: preflight.Skipped, want: "skipped  aws-subnets"},
		"no addresses":       {level: preflight.Failed, open: true, want: "failed   aws-subnets         few addresses"},
		"no launch template": {level: preflight.OK, conditions: []metav1.Condition{broken}, open: true, want: "could not grow again if you go back: the launch template is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: "shared"}
			c := groupCheck{name: "web", output: "text", objects: &ingest.Objects{
				NodeClasses: map[karpenterv1.NodeClassReference]metav1.Object{ref: &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "shared"}}},
				NodeGroups:  []*tenonv1alpha1.NodeGroup{{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Status: tenonv1alpha1.NodeGroupStatus{Conditions: tc.conditions}}},
			}}
			for _, name := range []string{"a", "b"} {
				pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
				pool.Spec.Template.Spec.NodeClassRef = &ref
				c.objects.NodePools = append(c.objects.NodePools, pool)
			}
			c.room = func(launches []provider.Launch) []preflight.Finding {
				if len(launches) != 1 || launches[0].Class.GetName() != "shared" || launches[0].Nodes != 3 {
					t.Errorf("launches %+v", launches)
				}
				return []preflight.Finding{{Check: "aws-subnets", Level: tc.level, Text: "few addresses", Means: "nodes stay", Remedy: "add subnets"}}
			}
			p := document.Planned{Snapshot: &snapshot.Snapshot{}, Plan: plan.Plan{Disruptions: []plan.Disruption{
				{Replacements: []plan.Claim{{Pool: "a"}, {Pool: "b"}}}, {Replacements: []plan.Claim{{Pool: "a"}}},
			}}}
			var out strings.Builder
			if err := c.write(&out, p); err != nil || c.open != tc.open || !strings.Contains(out.String(), tc.want) {
				t.Errorf("open: %t, %v:\n%s", c.open, err, out.String())
			}
		})
	}
}
