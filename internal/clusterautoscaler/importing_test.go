package clusterautoscaler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/clusterautoscaler"
)

// deployment is a Deployment of Cluster Autoscaler with a command.
func deployment(command ...string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler"},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{
				{Name: "sidecar", Image: "registry.example/proxy:1"},
				{Name: "main", Image: "registry.example/autoscaling/cluster-autoscaler:v1.34.0", Command: command},
			},
		}}},
	}
}

// notes are the notes of an import, one per line.
func notes(r clusterautoscaler.Result) []string {
	var lines []string
	for _, n := range r.Notes {
		lines = append(lines, fmt.Sprintf("%s %s", n.Effect, n.Setting))
	}
	return lines
}

// Groups, the cluster's name and buffers become values of the chart; each other flag has a note, the most serious first.
func TestImport(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		command []string
		want    clusterautoscaler.Settings
		notes   []string
	}{
		"the usual Deployment": {
			command: []string{"./cluster-autoscaler", "--v=4", "--cloud-provider=aws", "--skip-nodes-with-local-storage=false",
				"--node-group-auto-discovery=asg:tag=k8s.io/cluster-autoscaler/enabled,k8s.io/cluster-autoscaler/demo"},
			want: clusterautoscaler.Settings{
				ClusterName:   "demo",
				AutoDiscovery: []string{"asg:tag=k8s.io/cluster-autoscaler/enabled,k8s.io/cluster-autoscaler/demo"},
				FeatureGates:  clusterautoscaler.FeatureGates{NodeGroups: true},
			},
			notes: []string{
				"changed --v=4",
				"changed --skip-nodes-with-local-storage=false",
				"kept --node-group-auto-discovery=asg:tag=k8s.io/cluster-autoscaler/enabled,k8s.io/cluster-autoscaler/demo",
				"needless --cloud-provider=aws",
			},
		},
		"groups by name, in a shell": {
			command: []string{"sh", "-c", `exec ./cluster-autoscaler --nodes 1:9:web --nodes="0:4:batch" --cluster-name demo --capacity-buffer-controller-enabled --enable-provisioning-requests`},
			want: clusterautoscaler.Settings{
				ClusterName: "demo", Nodes: []string{"1:9:web", "0:4:batch"}, ProvisioningRequests: true,
				FeatureGates: clusterautoscaler.FeatureGates{NodeGroups: true, CapacityBuffer: true},
			},
			notes: []string{
				"changed --capacity-buffer-controller-enabled=true", "changed --enable-provisioning-requests=true",
				"kept --nodes=1:9:web", "kept --nodes=0:4:batch", "kept --cluster-name=demo",
			},
		},
		"a flag of a pattern, and one that is not known": {
			command: []string{"--nodes=1:9:web", "--cluster-name=demo", "--initial-node-group-backoff-duration=1m", "--teleport"},
			want:    clusterautoscaler.Settings{ClusterName: "demo", Nodes: []string{"1:9:web"}, FeatureGates: clusterautoscaler.FeatureGates{NodeGroups: true}},
			notes: []string{
				"lost --teleport=true", "changed --initial-node-group-backoff-duration=1m",
				"kept --nodes=1:9:web", "kept --cluster-name=demo",
			},
		},
		"limits on all nodes": {
			command: []string{"--nodes=1:9:web", "--cluster-name=demo", "--max-nodes-total=100", "--cores-total=8:400", "--memory-total=16:1600", "--gpu-total=nvidia.com/gpu:0:16", "--gpu-total=nvidia-tesla-v100:0:4"},
			want: clusterautoscaler.Settings{
				ClusterName: "demo", Nodes: []string{"1:9:web"}, FeatureGates: clusterautoscaler.FeatureGates{NodeGroups: true},
				MaxNodesTotal: 100, CoresTotal: "8:400", MemoryTotal: "16:1600", GPUTotal: []string{"nvidia.com/gpu:0:16"},
			},
			notes: []string{
				"lost --gpu-total=nvidia-tesla-v100:0:4", "kept --nodes=1:9:web", "kept --cluster-name=demo", "kept --max-nodes-total=100",
				"kept --cores-total=8:400", "kept --memory-total=16:1600", "kept --gpu-total=nvidia.com/gpu:0:16",
			},
		},
		"schedulers and priorities": {
			command: []string{"--nodes=1:9:web", "--cluster-name=demo", "--allowed-scheduler-names=default-scheduler,batch", "--allowed-scheduler-names=gang", "--expendable-pods-priority-cutoff=0"},
			want: clusterautoscaler.Settings{
				ClusterName: "demo", Nodes: []string{"1:9:web"}, FeatureGates: clusterautoscaler.FeatureGates{NodeGroups: true},
				AllowedSchedulers: []string{"default-scheduler", "batch", "gang"},
			},
			notes: []string{
				"changed --expendable-pods-priority-cutoff=0", "kept --nodes=1:9:web", "kept --cluster-name=demo",
				"kept --allowed-scheduler-names=default-scheduler,batch", "kept --allowed-scheduler-names=gang",
			},
		},
		"nothing says which groups": {
			command: []string{"./cluster-autoscaler"},
			want:    clusterautoscaler.Settings{FeatureGates: clusterautoscaler.FeatureGates{NodeGroups: true}},
			notes:   []string{"lost no --nodes and no --node-group-auto-discovery", "lost no name of the cluster"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := clusterautoscaler.Import(deployment(tc.command...), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, r.Values.Settings); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.notes, notes(r)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// Notes list priorities from the highest on; unreadable priorities and a missing ConfigMap have notes, too.
func TestPriorities(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		data map[string]string
		want []string
	}{
		"two":           {map[string]string{"priorities": "10: [.*spot.*]\n50: [^prod-, web]"}, []string{"50 for ^prod- web", "10 for .*spot.*"}},
		"a bad pattern": {map[string]string{"priorities": "10: ['(']"}, []string{"key priorities cannot be read, so no priority counted: priority 10: "}},
		"no YAML map":   {map[string]string{"priorities": "web"}, []string{"key priorities cannot be read"}},
		"no key":        {nil, []string{"key priorities has no priorities"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: clusterautoscaler.PriorityConfigMap}, Data: tc.data}
			r, err := clusterautoscaler.Import(deployment("--nodes=1:9:web", "--cluster-name=demo", "--expander=priority,least-waste"), m)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range r.Notes {
				if strings.Contains(n.Setting, clusterautoscaler.PriorityConfigMap) {
					got = append(got, n.Setting+" "+n.Text)
				}
			}
			if len(got) != len(tc.want) {
				t.Fatalf("told: %q, want %d", got, len(tc.want))
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("note %d is %q, want it to say %q", i, got[i], want)
				}
			}
		})
	}
}

// A Deployment of another program is refused.
func TestAnotherProgram(t *testing.T) {
	t.Parallel()
	d := deployment()
	d.Spec.Template.Spec.Containers = d.Spec.Template.Spec.Containers[:1]
	if _, err := clusterautoscaler.Import(d, nil); err == nil || !strings.Contains(err.Error(), "kube-system/cluster-autoscaler does not run Cluster Autoscaler") {
		t.Errorf("error %v, want it to name the Deployment", err)
	}
}
