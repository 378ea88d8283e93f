package fidelity

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// priorities tests which pods get a priority from a class, and what the server answers to pods that
// name a missing class.
func priorities(t *Session) {
	high := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: t.Prefix + "high"}, Value: 1000}
	meek := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: t.Prefix + "meek"}, Value: -5, PreemptionPolicy: ptr.To(corev1.PreemptNever)}
	t.make(high)
	t.make(meek)
	for _, class := range []string{"", high.Name, meek.Name} {
		p := t.pod("p" + class)
		p.Spec.PriorityClassName = class
		t.say("create a pod of a class", t.create(p))
		t.line("priority %d, %s", ptr.Deref(p.Spec.Priority, -1), ptr.Deref(p.Spec.PreemptionPolicy, ""))
	}
	lost := t.pod("lost")
	lost.Spec.PriorityClassName = t.Prefix + "nobody"
	t.say("create one of a class that is not there", t.create(lost))
}

// volumes tests the initial fields of claims and attachments of volumes.
func volumes(t *Session) {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To(t.Prefix + "disks"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	claim.Status.Phase = corev1.ClaimBound
	t.say("create a claim of a volume with a status", t.create(claim))
	t.line("its phase %s", claim.Status.Phase)
	attachment := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: t.Prefix + "attachment"},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: "example.com", NodeName: t.Prefix + "nowhere", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To("volume")}},
	}
	attachment.Status.Attached = true
	t.say("create an attachment with a status", t.create(attachment))
	t.line("attached %t", attachment.Status.Attached)
	attachment.Status.Attached = true
	t.say("say that it is attached", t.Client.Status().Update(t.ctx, attachment))
	t.line("attached %t", fresh(t, attachment).Status.Attached)
	csi := &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: t.Prefix + "csi"},
		Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "example.com", NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](12)}}}},
	}
	t.say("create what a driver can do on a node", t.create(csi))
}

// differences tests patches between two versions of an object, without a write between and with
// one.
func differences(t *Session) {
	c := t.claim("c")
	t.make(c)
	before := c.DeepCopy()
	c.Labels = map[string]string{"a": "b"}
	c.Annotations = map[string]string{}
	c.Status.NodeName = "ignored"
	t.say("add a label by a difference", t.Client.Patch(t.ctx, c, client.MergeFrom(before)))
	t.line("labels %v, annotations %d, node %q, generation %d", c.Labels, len(c.Annotations), c.Status.NodeName, c.Generation)
	stale := c.DeepCopy()
	before = c.DeepCopy()
	c.Status.NodeName = "n"
	c.Labels["a"] = "ignored"
	t.say("name its node by a difference of the status", t.Client.Status().Patch(t.ctx, c, client.MergeFrom(before)))
	t.line("labels %v, node %q", c.Labels, c.Status.NodeName)
	before = stale.DeepCopy()
	stale.Labels["c"] = "d"
	t.say("add a label to an old version", t.Client.Patch(t.ctx, stale, client.MergeFrom(before)))
	t.line("labels %v, node %q", stale.Labels, stale.Status.NodeName)
	before = c.DeepCopy()
	c.Labels["e"] = "f"
	t.say("add one to an old version under a lock", t.Client.Patch(t.ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
	n := t.node("n")
	n.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
	t.make(n)
	n = fresh(t, n)
	was := n.DeepCopy()
	n.Spec.Taints = nil
	t.sayCode("take all taints off a node by a difference", t.Client.Patch(t.ctx, n, client.MergeFrom(was)))
	t.line("%d taints", len(n.Spec.Taints))
}
