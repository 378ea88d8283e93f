package tagging_test

import (
	"context"
	"errors"
	"testing"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/controller/tagging"
	"tenon/internal/reconcile"
	"tenon/internal/rig"
)

// labeller notes what it is asked to tag.
type labeller struct {
	asked []string
	err   error
}

func (l *labeller) Label(_ context.Context, providerID, node, claim string) error {
	l.asked = append(l.asked, providerID+" "+node+" "+claim)
	return l.err
}

// A claim whose node has joined is tagged once; one without is left alone.
func TestTagging(t *testing.T) {
	t.Parallel()
	r := rig.New(t, memory.Options{}, rig.Pool("default"))
	claim, node := r.Settled("a", "default")
	r.Named("b", "default")
	l := &labeller{}
	c := tagging.New(r.Kit, l)
	for range 2 {
		r.Run(c, "a")
		r.Run(c, "b")
		r.Run(c, "gone")
	}
	if want := claim.Status.ProviderID + " " + node.Name + " a"; len(l.asked) != 1 || l.asked[0] != want {
		t.Errorf("tagged %v, want %s once", l.asked, want)
	}
	got := r.Claim("a").Annotations
	if got[awsv1.AnnotationTagged] != "true" || got[awsv1.AnnotationClusterNameTagged] != "true" {
		t.Errorf("annotations are %v", got)
	}
}

// An instance that is gone is not waited for; another error is tried again.
func TestTaggingFails(t *testing.T) {
	t.Parallel()
	r := rig.New(t, memory.Options{}, rig.Pool("default"))
	r.Settled("a", "default")
	l := &labeller{err: &cloud.NotFound{}}
	c := tagging.New(r.Kit, l)
	r.Run(c, "a")
	l.err = errors.New("down")
	if _, err := c.Reconcile(t.Context(), key("a")); !errors.Is(err, l.err) {
		t.Errorf("error %v, want %v", err, l.err)
	}
	if r.Claim("a").Annotations[awsv1.AnnotationTagged] != "" {
		t.Error("what failed is noted as done")
	}
}

// Claims that are done, or on their way out, wake nobody.
func TestTaggable(t *testing.T) {
	t.Parallel()
	r := rig.New(t, memory.Options{}, rig.Pool("default"))
	claim, _ := r.Settled("a", "default")
	wakes := tagging.New(r.Kit, &labeller{}).Watches[0].Wakes
	done := claim.DeepCopy()
	done.Annotations = map[string]string{awsv1.AnnotationTagged: "true", awsv1.AnnotationClusterNameTagged: "true"}
	if !wakes(nil, claim) || wakes(nil, done) || wakes(claim, nil) || wakes(nil, &karpenterv1.NodeClaim{}) {
		t.Error("the wrong claims are looked at")
	}
}

func key(name string) reconcile.Key { return reconcile.Key{Name: name} }
