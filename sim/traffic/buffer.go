package traffic

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/sim/invariant"
)

// mostBuffers is the largest number of CapacityBuffers at a time.
const mostBuffers = 3

// buffer makes the users ask for spare room, change its size, or give it up.
func (u *Users) buffer() {
	if u.stopped {
		return
	}
	ctx := context.Background()
	// When a user's action fails, the user will try something else: nothing here depends on it.
	if name := fmt.Sprintf("spare-%d", u.Buffers.IntN(mostBuffers)); u.Buffers.IntN(3) > 0 {
		_ = u.reserve(ctx, name)
	} else {
		_ = u.Client.Delete(ctx, &autoscalingv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	}
	u.Later(u.Now().Add(time.Duration(u.Buffers.ExpFloat64()*float64(10*time.Minute))), "buffers", u.buffer)
}

// reserve makes a buffer, for pods of its own or for a share of an app; an existing one gets another size.
func (u *Users) reserve(ctx context.Context, name string) error {
	var b autoscalingv1beta1.CapacityBuffer
	replicas := int32(u.Buffers.IntN(max(u.Size/2, 2)))
	key := metav1.ObjectMeta{Namespace: namespace, Name: name}
	if u.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &b) == nil {
		b.Spec.Replicas = &replicas
		return u.Client.Update(ctx, &b)
	}
	b = autoscalingv1beta1.CapacityBuffer{ObjectMeta: key}
	if len(u.apps) > 0 && u.Buffers.IntN(3) == 0 {
		b.Spec.ScalableRef = &autoscalingv1beta1.ScalableRef{APIGroup: "apps", Kind: "Deployment", Name: u.apps[u.Buffers.IntN(len(u.apps))]}
		b.Spec.Percentage = ptr.To(int32(1 + u.Buffers.IntN(100)))
		return u.Client.Create(ctx, &b)
	}
	b.Spec.Replicas, b.Spec.PodTemplateRef = &replicas, &autoscalingv1beta1.LocalObjectRef{Name: name}
	template := &corev1.PodTemplate{ObjectMeta: key, Template: u.template(name, int64(100*(1+u.Buffers.IntN(20))), int64(128*(1+u.Buffers.IntN(24))))}
	if u.Buffers.IntN(8) == 0 { // some ask for more than any machine has
		template.Template = u.template(name, 1_000_000, 1024)
		template.Template.Annotations = map[string]string{invariant.Infeasible: "true"}
	}
	_ = u.Client.Delete(ctx, &corev1.PodTemplate{ObjectMeta: key}) // the template of an earlier buffer
	if err := u.Client.Create(ctx, template); err != nil {
		return err
	}
	return u.Client.Create(ctx, &b)
}
