package nodegroup_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/testing/harness"
)

// autoscaler is a Deployment with one container.
func autoscaler(replicas int32, image string, command ...string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "scaler"},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: image, Command: command}},
		}}},
	}
}

// lease is the one of Cluster Autoscaler, renewed so long ago.
func lease(r *harness.Harness, holder string, ago time.Duration) *coordinationv1.Lease {
	at := metav1.NewMicroTime(r.Clock.Now().Add(-ago))
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &at},
	}
}

// A group is free only if no Cluster Autoscaler is alive that may change it, by its Deployment's flags or its Lease.
func TestForeignAutoscaler(t *testing.T) {
	t.Parallel()
	const image = "registry.example/autoscaling/cluster-autoscaler:v1.34.0"
	cases := map[string]struct {
		deployment *appsv1.Deployment
		holder     string // of the Lease
		ago        time.Duration
		want, says string
	}{
		"nothing":                        {want: "False NoneSeen", says: "no Cluster Autoscaler is alive"},
		"another program":                {deployment: autoscaler(1, "registry.example/web:1", "./web", "--nodes=1:9:web"), want: "False NoneSeen"},
		"names the group":                {deployment: autoscaler(1, image, "./cluster-autoscaler", "--nodes=1:9:web"), want: "True DeploymentRuns", says: "Deployment kube-system/scaler"},
		"names the group as a next word": {deployment: autoscaler(1, image, "./cluster-autoscaler", "--nodes", "1:9:web"), want: "True DeploymentRuns"},
		"in a shell":                     {deployment: autoscaler(1, "registry.example/mirror/ca:1", "sh", "-c", "exec /bin/cluster-autoscaler --nodes=1:9:web"), want: "True DeploymentRuns"},
		"names another group":            {deployment: autoscaler(1, image, "./cluster-autoscaler", "--nodes=1:9:other"), want: "False NoneSeen"},
		"discovers groups":               {deployment: autoscaler(1, image, "./cluster-autoscaler", "--nodes=1:9:other", "--node-group-auto-discovery=asg:tag=a"), want: "True DeploymentRuns"},
		"says nothing of groups":         {deployment: autoscaler(1, image), want: "True DeploymentRuns"},
		"an unreadable flag":             {deployment: autoscaler(1, image, "--nodes=web"), want: "True DeploymentRuns"},
		"scaled to 0":                    {deployment: autoscaler(0, image, "--nodes=1:9:web"), want: "False NoneSeen"},
		"a fresh lease":                  {holder: "ca-7d4", ago: 30 * time.Second, want: "True LeaseRenewed", says: "ca-7d4 renews the Lease kube-system/cluster-autoscaler"},
		"an old lease":                   {holder: "ca-7d4", ago: 2 * time.Minute, want: "False NoneSeen"},
		"a lease of one that names another group": {
			deployment: autoscaler(1, image, "--nodes=1:9:other"), holder: "ca-7d4", want: "False NoneSeen",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{})
			if tc.deployment != nil {
				r.Must(r.API.Create(t.Context(), tc.deployment))
			}
			if tc.holder != "" {
				r.Must(r.API.Create(t.Context(), lease(r, tc.holder, tc.ago)))
			}
			o := look(t, r, &groups{list: []cloud.Group{web(1)}}, "web")
			c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionForeignAutoscaler)
			if c == nil || string(c.Status)+" "+c.Reason != tc.want || !strings.Contains(c.Message, tc.says) {
				t.Errorf("condition %+v, want %s: %s", c, tc.want, tc.says)
			}
			if want := strings.HasPrefix(tc.want, "False"); o.Free() != want {
				t.Errorf("free is %t, want %t", o.Free(), want)
			}
		})
	}
}
