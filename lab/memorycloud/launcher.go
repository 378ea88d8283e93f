package memorycloud

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/internal/translate"
	"tenon/lab/kubelet"
)

// launcher makes the Node of a machine when it has booted, and deletes it when the machine has ended. The
// lab's simulated kubelets adopt the Node.
type launcher struct {
	nodes kubernetes.Interface
	log   logr.Logger
	life  context.Context // of the process

	mu    sync.Mutex
	boots map[string]*boot // by provider ID
}

// boot is a machine that has no Node yet.
type boot struct {
	node  string
	timer *time.Timer
}

func newLauncher(ctx context.Context, o Options, log logr.Logger) (*launcher, error) {
	nodes, err := kubelets(o)
	if err != nil {
		return nil, fmt.Errorf("make a client for machines: %w", err)
	}
	return &launcher{nodes: nodes, log: log.WithName("machines"), life: ctx, boots: map[string]*boot{}}, nil
}

// Launch implements memory.Launcher.
func (l *launcher) Launch(m memory.Machine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.faultOf(m).NeverJoin {
		return
	}
	b := &boot{node: m.Node}
	b.timer = time.AfterFunc(time.Until(m.Boots), func() { l.join(m) })
	l.boots[m.Instance.ProviderID] = b
}

// faultOf returns the fault of a machine from its start, which its claim's annotations name.
func (l *launcher) faultOf(m memory.Machine) kubelet.Fault {
	fault, err := kubelet.ParseFault(m.Annotations[kubelet.AnnotationFault])
	if err != nil {
		l.log.Error(err, "could not read the fault of a machine", "node", m.Node)
	}
	return fault
}

// Terminate implements memory.Launcher.
func (l *launcher) Terminate(providerID string) {
	l.mu.Lock()
	b := l.boots[providerID]
	delete(l.boots, providerID)
	l.mu.Unlock()
	if b == nil {
		return
	}
	b.timer.Stop()
	err := l.nodes.CoreV1().Nodes().Delete(l.life, b.node, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		l.log.Error(err, "could not delete the node of a machine that has ended", "node", b.node)
	}
}

func (l *launcher) join(m memory.Machine) {
	_, err := l.nodes.CoreV1().Nodes().Create(l.life, nodeOf(m), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) && l.life.Err() == nil {
		l.log.Error(err, "could not make the node of a machine", "node", m.Node)
	}
}

func nodeOf(m memory.Machine) *v1.Node {
	node := kubelet.HandMadeNode(m.Node, translate.Quantities(m.Instance.Capacity))
	maps.Copy(node.Annotations, m.Annotations)
	node.Labels = maps.Clone(m.Labels)
	node.Labels[v1.LabelHostname] = m.Node
	node.Spec.ProviderID = m.Instance.ProviderID
	node.Spec.Taints = taintsOf(m.Taints)
	node.Status.Allocatable = translate.Quantities(m.Instance.Allocatable)
	return node
}

func taintsOf(list []model.Taint) []v1.Taint {
	out := make([]v1.Taint, len(list))
	for i, t := range list {
		out[i] = v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffect(t.Effect)}
	}
	return out
}
