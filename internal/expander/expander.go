// Package expander asks a server of Cluster Autoscaler's expander grpc which of several groups grow.
//
//	core: which question is open? ──▶ Answer ──▶ server
//	  ▲                                  │
//	  └────── snapshot with answers ◀────┘
//
// It must not choose itself: what a server says goes into the snapshot, and the core follows it there, so that a decision can be
// replayed without the server.
package expander

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/decide"
	"tenon/core/expand"
	"tenon/core/snapshot"
)

// timeout is how long a server may take for an answer. (Cluster Autoscaler has the same.)
const timeout = 5 * time.Second

// Server chooses among options.
type Server interface {
	// BestOptions returns the groups of the options that the server keeps.
	BestOptions(ctx context.Context, r Request) ([]string, error)
}

// Request is a question, with the objects that it is about.
type Request struct {
	Options []Option
	// Nodes are what the next node of each group is like.
	Nodes map[string]*corev1.Node
}

// Option is a number of further nodes of a group, and the pods that would get a place on them.
type Option struct {
	Group string
	Nodes int64
	// Debug says in words what the option is.
	Debug string
	Pods  []*corev1.Pod
}

// Asker asks a server about snapshots of the cluster that the reader reads.
type Asker struct {
	Server Server
	Reader client.Reader
}

// mostQuestions bounds the questions about one snapshot. There are at most as many as groups; further ones stay open, and all their
// options remain.
const mostQuestions = 100

// Answer returns the snapshot with the server's answers to all questions that are open about it. A question that the server does not
// answer keeps all options; later questions about this snapshot are then not asked. The error says why there was no answer.
func (a Asker) Answer(ctx context.Context, s *snapshot.Snapshot, b decide.Budget) (*snapshot.Snapshot, error) {
	out := *s
	for range mostQuestions {
		q := decide.Question(&out, b)
		if q == nil {
			break
		}
		groups, err := a.ask(ctx, q)
		if err != nil {
			return &out, err
		}
		out.Answers = append(out.Answers[:len(out.Answers):len(out.Answers)], expand.Answer{Question: q.Key(), Groups: groups})
	}
	return &out, nil
}

func (a Asker) ask(ctx context.Context, q *expand.Question) ([]string, error) {
	request, err := a.gather(ctx, q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	groups, err := a.Server.BestOptions(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("ask the expander's server about %d groups: %w", len(q.Options), err)
	}
	return groups, nil
}

// gather reads the objects of a question. Pods that are gone in the meantime are left out.
func (a Asker) gather(ctx context.Context, q *expand.Question) (Request, error) {
	out := Request{Nodes: map[string]*corev1.Node{}}
	var groups tenonv1alpha1.NodeGroupList
	if err := a.Reader.List(ctx, &groups); err != nil {
		return out, fmt.Errorf("list node groups: %w", err)
	}
	pods := map[string]*corev1.Pod{}
	for _, o := range q.Options {
		option := Option{Group: o.Group, Nodes: o.Nodes, Debug: fmt.Sprintf("%d nodes of %s for %d pods", o.Nodes, o.Group, o.Pods)}
		for _, key := range o.Helped {
			if _, read := pods[key]; !read {
				pod, err := a.pod(ctx, key)
				if err != nil {
					return out, err
				}
				pods[key] = pod
			}
			if pods[key] != nil {
				option.Pods = append(option.Pods, pods[key])
			}
		}
		out.Options = append(out.Options, option)
	}
	for i := range groups.Items {
		g := &groups.Items[i]
		asked := slices.ContainsFunc(q.Options, func(o expand.Option) bool { return o.Group == g.Spec.GroupName })
		if asked && g.Status.Template != nil {
			out.Nodes[g.Spec.GroupName] = nextNode(g)
		}
	}
	return out, nil
}

// pod is the pod with a key, NAMESPACE/NAME; nil if there is none.
func (a Asker) pod(ctx context.Context, key string) (*corev1.Pod, error) {
	namespace, name, _ := strings.Cut(key, "/")
	pod := &corev1.Pod{}
	switch err := a.Reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod); {
	case errors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get pod %s: %w", key, err)
	}
	return pod, nil
}

// nextNode is what the next node of a group is like.
func nextNode(g *tenonv1alpha1.NodeGroup) *corev1.Node {
	t := g.Status.Template
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "template-node-for-" + g.Spec.GroupName, Labels: t.Labels},
		Spec:       corev1.NodeSpec{Taints: t.Taints},
		Status: corev1.NodeStatus{
			Capacity: t.Capacity, Allocatable: t.Allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}
