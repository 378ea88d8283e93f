package tagging_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/aws/controller/nodeclaim/tagging"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// labeller notes what it is asked to tag.
type labeller struct {
	asked []string
	err   error
}

func (l *labeller) Label(_ context.Context, providerID string, tags map[string]string) error {
	l.asked = append(l.asked, fmt.Sprint(providerID, " ", tags))
	return l.err
}

func (l *labeller) Forget(providerID string) { l.asked = append(l.asked, providerID+" forgotten") }

// When a user removes one of the annotations, the instance's tags are looked at anew; what was known of them may be older than the request.
func TestTaggingIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, annotation := range []string{awsv1.AnnotationTagged, awsv1.AnnotationClusterNameTagged} {
		r := harness.New(t, memory.Options{}, harness.Pool("default"))
		claim, _ := r.Settled("a", "default")
		l := &labeller{}
		c := tagging.New(r.Kit, l)
		r.Run(c, "a")
		tagged := r.Claim("a")
		delete(tagged.Annotations, annotation)
		r.Must(r.API.Update(t.Context(), tagged))
		r.Run(c, "a")
		if len(l.asked) != 3 || l.asked[1] != claim.Status.ProviderID+" forgotten" {
			t.Errorf("%s is removed: %v", annotation, l.asked)
		}
		if got := r.Claim("a").Annotations[annotation]; got != "true" {
			t.Errorf("%s is %q afterwards", annotation, got)
		}
	}
}

// A claim whose node has joined is tagged, with the name of its node once, and looked at again for tags
// that were removed; one without a node is left alone.
func TestTagging(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("default"))
	claim, node := r.Settled("a", "default")
	r.Named("b", "default")
	l := &labeller{}
	c := tagging.New(r.Kit, l)
	for range 2 {
		if after := r.Run(c, "a").After; after != 30*time.Minute {
			t.Errorf("looks again in %s", after)
		}
		r.Run(c, "b")
		r.Run(c, "gone")
	}
	heal := map[string]string{awsv1.TagNodeClaim: "a", awsv1.TagNodePool: "default", awsv1.TagNodeClass: claim.Spec.NodeClassRef.Name}
	first := maps.Clone(heal)
	first[awsv1.TagName] = node.Name
	want := []string{fmt.Sprint(claim.Status.ProviderID, " ", first), fmt.Sprint(claim.Status.ProviderID, " ", heal)}
	if !slices.Equal(l.asked, want) {
		t.Errorf("tagged %v, want %v", l.asked, want)
	}
	got := r.Claim("a").Annotations
	if got[awsv1.AnnotationTagged] != "true" || got[awsv1.AnnotationClusterNameTagged] != "true" {
		t.Errorf("annotations are %v", got)
	}
}

// An instance that is gone is not waited for; another error is tried again.
func TestTaggingFails(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("default"))
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

// Claims that are done wake the controller only when it begins, and those on their way out never.
func TestTaggable(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("default"))
	claim, _ := r.Settled("a", "default")
	wakes := tagging.New(r.Kit, &labeller{}).Watches[0].Wakes
	done := claim.DeepCopy()
	done.Annotations = map[string]string{awsv1.AnnotationTagged: "true", awsv1.AnnotationClusterNameTagged: "true"}
	if !wakes(nil, claim) || !wakes(nil, done) || wakes(done, done) || wakes(claim, nil) || wakes(nil, &karpenterv1.NodeClaim{}) {
		t.Error("the wrong claims are looked at")
	}
}

func key(name string) reconcile.Key { return reconcile.Key{Name: name} }
