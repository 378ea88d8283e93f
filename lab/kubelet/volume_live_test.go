package kubelet

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func class(mode storage.VolumeBindingMode) *storage.StorageClass {
	return &storage.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "gp3"}, Provisioner: Driver, VolumeBindingMode: &mode}
}

func claim(name string, annotations map[string]string) *v1.PersistentVolumeClaim {
	className := "gp3"
	return &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: "c-1", Annotations: annotations},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: &className,
			AccessModes:      []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources:        v1.VolumeResourceRequirements{Requests: quantities("storage", "8Gi")},
		},
	}
}

func withClaim(name string) podOption {
	return func(p *v1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "data", VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
}

// must fails the test on an error of a request that the test makes in place of the control plane.
func (w *world) must(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// bind acts as the volume controller: it binds claim and volume.
func (w *world) bind(claimName string) *v1.PersistentVolume {
	w.t.Helper()
	ctx := context.Background()
	c, err := w.client.CoreV1().PersistentVolumeClaims("default").Get(ctx, claimName, metav1.GetOptions{})
	w.must(c, err)
	pv, err := w.client.CoreV1().PersistentVolumes().Get(ctx, "pvc-"+string(c.UID), metav1.GetOptions{})
	w.must(pv, err)
	c.Spec.VolumeName = pv.Name
	c, err = w.client.CoreV1().PersistentVolumeClaims("default").Update(ctx, c, metav1.UpdateOptions{})
	w.must(c, err)
	c.Status.Phase = v1.ClaimBound
	w.must(w.client.CoreV1().PersistentVolumeClaims("default").UpdateStatus(ctx, c, metav1.UpdateOptions{}))
	return pv
}

// attach acts as the attach-detach controller.
func (w *world) attach(volume, node string) {
	w.t.Helper()
	w.must(w.client.StorageV1().VolumeAttachments().Create(context.Background(), &storage.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "csi-" + volume},
		Spec: storage.VolumeAttachmentSpec{
			Attacher: Driver, NodeName: node,
			Source: storage.VolumeAttachmentSource{PersistentVolumeName: &volume},
		},
	}, metav1.CreateOptions{}))
}

func (w *world) attachment(volume string) *storage.VolumeAttachment {
	va, err := w.client.StorageV1().VolumeAttachments().Get(context.Background(), "csi-"+volume, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return va
}

func TestVolumeIsProvisionedInTheNodesZoneAttachedUsedAndReclaimed(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		ctx := context.Background()
		w.must(nil, w.fleet.Launch(launched("a")))
		w.pass(time.Minute)
		w.must(w.client.StorageV1().StorageClasses().Create(ctx, class(storage.VolumeBindingWaitForFirstConsumer), metav1.CreateOptions{}))
		w.must(w.client.CoreV1().PersistentVolumeClaims("default").Create(ctx, claim("data", map[string]string{
			annotationProvisioner: Driver, annotationSelectedNode: "a",
		}), metav1.CreateOptions{}))
		w.pass(time.Second)

		pv := w.bind("data")
		term := pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]
		if term.Key != v1.LabelTopologyZone || !slices.Equal(term.Values, []string{"eu-west-1a"}) {
			t.Errorf("volume's affinity = %+v", term)
		}
		if got := pv.Spec.Capacity.Storage().String(); got != "8Gi" || pv.Spec.ClaimRef.Name != "data" {
			t.Errorf("volume has %s for %+v", got, pv.Spec.ClaimRef)
		}

		w.createPod(boundPod("p", "a", withClaim("data")))
		w.pass(10 * time.Second)
		if got, want := describePod(w.pod("p")), "Pending main:ContainerCreating/0"; !strings.HasPrefix(got, want) {
			t.Errorf("before its volume is attached: %s", got)
		}
		inUse := []v1.UniqueVolumeName{inUseName(pv.Spec.CSI.VolumeHandle)}
		if got := w.node("a").Status.VolumesInUse; !slices.Equal(got, inUse) {
			t.Errorf("volumes in use = %v, want %v", got, inUse)
		}

		w.attach(pv.Name, "a")
		w.pass(900 * time.Millisecond)
		if w.attachment(pv.Name).Status.Attached {
			t.Error("attached before the delay")
		}
		w.pass(100 * time.Millisecond)
		if got := describePod(w.pod("p")); !w.attachment(pv.Name).Status.Attached || !strings.HasPrefix(got, "Running") {
			t.Errorf("attached: %v, pod %s", w.attachment(pv.Name).Status.Attached, got)
		}

		w.deletePod("p")
		w.pass(time.Second)
		if got := w.node("a").Status.VolumesInUse; len(got) != 0 {
			t.Errorf("volumes in use without the pod: %v", got)
		}
		w.must(nil, w.client.StorageV1().VolumeAttachments().Delete(ctx, "csi-"+pv.Name, metav1.DeleteOptions{}))
		w.release(pv.Name)
		w.pass(900 * time.Millisecond)
		if w.attachment(pv.Name) == nil || w.written("DELETE persistentvolumes") != 0 {
			t.Error("detached, or its volume deleted, before the delay")
		}
		w.pass(200 * time.Millisecond)
		if w.attachment(pv.Name) != nil || w.written("DELETE persistentvolumes") != 1 {
			t.Errorf("attachment %+v, %d volumes deleted", w.attachment(pv.Name), w.written("DELETE persistentvolumes"))
		}
		if w.log.Len() > 0 {
			t.Errorf("log is not empty:\n%s", w.log)
		}
	})
}

// release acts as the volume controller after the claim was deleted.
func (w *world) release(volume string) {
	w.t.Helper()
	patch := []byte(`{"status":{"phase":"Released"}}`)
	w.must(w.client.CoreV1().PersistentVolumes().Patch(context.Background(), volume, types.MergePatchType, patch, metav1.PatchOptions{}, "status"))
}

func TestClaimWhoseNodeIsGoneIsScheduledAgain(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		ctx := context.Background()
		w.must(w.client.StorageV1().StorageClasses().Create(ctx, class(storage.VolumeBindingWaitForFirstConsumer), metav1.CreateOptions{}))
		w.must(w.client.CoreV1().PersistentVolumeClaims("default").Create(ctx, claim("data", map[string]string{
			annotationProvisioner: Driver, annotationSelectedNode: "gone",
		}), metav1.CreateOptions{}))
		w.pass(5 * time.Second)
		c, err := w.client.CoreV1().PersistentVolumeClaims("default").Get(ctx, "data", metav1.GetOptions{})
		w.must(c, err)
		if _, selected := c.Annotations[annotationSelectedNode]; selected || w.written("POST persistentvolumes") != 0 {
			t.Errorf("annotations %v, %d volumes", c.Annotations, w.written("POST persistentvolumes"))
		}
	})
}

func TestTerminatedMachineReleasesItsVolumes(t *testing.T) {
	t.Parallel()
	liveWith(t, func(c *Config) { c.DetachDelay = time.Hour }, func(w *world) {
		w.must(nil, w.fleet.Launch(launched("a")))
		w.pass(time.Minute)
		w.attach("pv-1", "a")
		w.pass(time.Minute)
		w.must(nil, w.client.StorageV1().VolumeAttachments().Delete(context.Background(), "csi-pv-1", metav1.DeleteOptions{}))
		w.pass(time.Second)
		if w.attachment("pv-1") == nil {
			t.Fatal("detached before the delay")
		}
		w.fleet.Terminate(launched("a").ProviderID)
		w.pass(time.Minute)
		if va := w.attachment("pv-1"); va != nil {
			t.Errorf("still attached to a machine that is gone: %+v", va)
		}
	})
}
