package garbagecollection_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/aws/controller/instanceprofile/garbagecollection"
	"tenon/internal/testing/harness"
)

type cleaner struct{ kept map[string]bool }

func (c *cleaner) Clean(_ context.Context, inUse map[string]bool) ([]string, error) {
	c.kept = inUse
	return nil, nil
}

// What a class or a claim names is kept.
func TestWhatIsInUse(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default"}, Status: awsv1.EC2NodeClassStatus{InstanceProfile: "new"},
	})
	r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Annotations = map[string]string{awsv1.AnnotationInstanceProfileName: "old"}
	})
	c := &cleaner{}
	if result := r.Run(garbagecollection.New(r.Kit, c), ""); result.After != 30*time.Minute {
		t.Errorf("again after %s", result.After)
	}
	if diff := cmp.Diff(map[string]bool{"old": true, "new": true}, c.kept); diff != "" {
		t.Errorf("in use (-want +got):\n%s", diff)
	}
}
