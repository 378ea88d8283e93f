package kubelet

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func attachmentOf(change ...func(*storage.VolumeAttachment)) *storage.VolumeAttachment {
	va := &storage.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(epoch), Finalizers: []string{attachFinalizer}},
		Spec:       storage.VolumeAttachmentSpec{Attacher: Driver, NodeName: "n"},
	}
	for _, c := range change {
		c(va)
	}
	return va
}

func TestStepAttachment(t *testing.T) {
	t.Parallel()
	bare := func(va *storage.VolumeAttachment) { va.Finalizers = nil }
	attached := func(va *storage.VolumeAttachment) { va.Status.Attached = true }
	dying := func(va *storage.VolumeAttachment) {
		when := stamped(10)
		va.DeletionTimestamp = &when
	}
	foreign := func(va *storage.VolumeAttachment) { va.Spec.Attacher = "other" }
	cases := map[string]struct {
		va   *storage.VolumeAttachment
		gone bool
		now  float64
		want attachmentStep
	}{
		"the finalizer comes first":                         {va: attachmentOf(bare), want: attachmentStep{AddFinalizer: true}},
		"attaching takes a second":                          {va: attachmentOf(), now: 0.5, want: attachmentStep{At: at(1)}},
		"after a second it is attached":                     {va: attachmentOf(), now: 1, want: attachmentStep{Attached: true}},
		"once":                                              {va: attachmentOf(attached), now: 9},
		"nothing is attached to a terminated machine":       {va: attachmentOf(), gone: true, now: 9},
		"detaching takes a second":                          {va: attachmentOf(attached, dying), now: 10.5, want: attachmentStep{At: at(11)}},
		"after a second it is detached":                     {va: attachmentOf(attached, dying), now: 11, want: attachmentStep{RemoveFinalizer: true}},
		"a terminated machine's volume is detached at once": {va: attachmentOf(attached, dying), gone: true, now: 10, want: attachmentStep{RemoveFinalizer: true}},
		"a detached one stays detached":                     {va: attachmentOf(attached, dying, bare), now: 99},
		"other attachers' attachments are ignored":          {va: attachmentOf(bare, foreign), now: 99},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := stepAttachment(tc.va, tc.gone, Defaults(), at(tc.now)); got != tc.want {
				t.Errorf("step = %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestStepClaim(t *testing.T) {
	t.Parallel()
	wffc, immediate := class(storage.VolumeBindingWaitForFirstConsumer), class(storage.VolumeBindingImmediate)
	only := class(storage.VolumeBindingImmediate)
	only.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{
		{Key: v1.LabelTopologyZone, Values: []string{"c"}},
	}}}
	foreign := class(storage.VolumeBindingImmediate)
	foreign.Provisioner = "other"
	ours := map[string]string{annotationProvisioner: Driver}
	selected := map[string]string{annotationBetaProvisioner: Driver, annotationSelectedNode: "n"}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1.LabelTopologyZone: "b"}}}
	bound := claim("data", selected)
	bound.Spec.VolumeName = "pv"
	cases := map[string]struct {
		in   claimInput
		want string
	}{
		"a claim without a provisioner":               {claimInput{Claim: claim("data", nil), Class: immediate}, "nothing"},
		"a bound claim":                               {claimInput{Claim: bound, Class: wffc, Node: node}, "nothing"},
		"another provisioner's class":                 {claimInput{Claim: claim("data", ours), Class: foreign}, "nothing"},
		"a claim waits for the first consumer":        {claimInput{Claim: claim("data", ours), Class: wffc}, "nothing"},
		"the volume is in its node's zone":            {claimInput{Claim: claim("data", selected), Class: wffc, Node: node, Zones: []string{"a", "b"}}, "b"},
		"the selected node is gone":                   {claimInput{Claim: claim("data", selected), Class: wffc}, "reschedule"},
		"an immediate volume is in some zone":         {claimInput{Claim: claim("data", ours), Class: immediate, Zones: []string{"a"}}, "a"},
		"the class restricts the zones":               {claimInput{Claim: claim("data", ours), Class: only, Zones: []string{"a"}}, "c"},
		"without zones in the cluster it has no zone": {claimInput{Claim: claim("data", ours), Class: immediate}, "everywhere"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := describeClaimStep(stepClaim(tc.in)); got != tc.want {
				t.Errorf("step = %s, want %s", got, tc.want)
			}
		})
	}
}

func describeClaimStep(s claimStep) string {
	switch {
	case s.Reschedule:
		return "reschedule"
	case s.Volume == nil:
		return "nothing"
	case s.Volume.Spec.NodeAffinity == nil:
		return "everywhere"
	default:
		return s.Volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
	}
}

func TestReclaimable(t *testing.T) {
	t.Parallel()
	volume := func(change func(*v1.PersistentVolume)) *v1.PersistentVolume {
		pv := volumeFor(claimInput{Claim: claim("data", nil), Class: class(storage.VolumeBindingImmediate)}, "a")
		pv.Status.Phase = v1.VolumeReleased
		change(pv)
		return pv
	}
	now := metav1.NewTime(time.Time{})
	cases := map[string]struct {
		pv       *v1.PersistentVolume
		attached bool
		want     bool
	}{
		"released":       {pv: volume(func(*v1.PersistentVolume) {}), want: true},
		"still attached": {pv: volume(func(*v1.PersistentVolume) {}), attached: true},
		"bound":          {pv: volume(func(pv *v1.PersistentVolume) { pv.Status.Phase = v1.VolumeBound })},
		"retained": {pv: volume(func(pv *v1.PersistentVolume) {
			pv.Spec.PersistentVolumeReclaimPolicy = v1.PersistentVolumeReclaimRetain
		})},
		"made by others": {pv: volume(func(pv *v1.PersistentVolume) { pv.Annotations = nil })},
		"deleted":        {pv: volume(func(pv *v1.PersistentVolume) { pv.DeletionTimestamp = &now })},
	}
	for name, tc := range cases {
		if got := reclaimable(tc.pv, tc.attached); got != tc.want {
			t.Errorf("%s: reclaimable = %v, want %v", name, got, tc.want)
		}
	}
}
