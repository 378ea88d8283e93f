package corpus

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// Case is one workload: the waiting pods, the cluster's present nodes and pods, and the machines
// that can be bought.
type Case struct {
	Name string
	// Pods wait for a place, Running have one on Nodes.
	Pods, Running []*corev1.Pod
	Nodes         []*corev1.Node
	Pools         []*karpenterv1.NodePool
	// Catalog is what every pool may buy, as far as its requirements allow.
	Catalog *catalog.Catalog
	// Words are the words that the catalogue adds to the core's vocabulary.
	Words requirement.Words
	// IgnorePreferences has schedulers ignore preferences.
	IgnorePreferences bool
}

// Namespace is the namespace of all pods.
const Namespace = "default"

// epoch is when everything was made. No case depends on the time.
var epoch = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)

// WithPools returns the case with other pools.
func (c Case) WithPools(pools ...*karpenterv1.NodePool) Case {
	c.Pools = slices.Clone(pools)
	return c
}

// Pool makes a ready pool with these requirements on its nodes.
func Pool(name string, requirements ...karpenterv1.Requirement) *karpenterv1.NodePool {
	if requirements == nil {
		requirements = []karpenterv1.Requirement{}
	}
	pool := &karpenterv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: uidOf(name), CreationTimestamp: metav1.NewTime(epoch)},
	}
	pool.Spec.Template.Spec.Requirements = requirements
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{
		Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default",
	}
	pool.Status.Conditions = []metav1.Condition{{
		Type: condition.Ready, Status: metav1.ConditionTrue, Reason: "Ready", LastTransitionTime: metav1.NewTime(epoch),
	}}
	return pool
}

// In requires the label to have one of the values.
func In(key string, values ...string) karpenterv1.Requirement {
	return karpenterv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// Gt requires the label to be a number greater than the value.
func Gt(key, value string) karpenterv1.Requirement {
	return karpenterv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpGt, Values: []string{value}}
}
