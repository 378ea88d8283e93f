// Package peer runs the reference, sigs.k8s.io/karpenter as a library, on a workload.
//
// It times only the scheduler's Solve, as the reference's own benchmark does: reading the objects,
// filling its picture of the cluster and counting topology domains come before. Every run builds a
// new scheduler, because a scheduler goes on filling the nodes of the run before. Five workers try
// nodes in parallel, as in the reference's own benchmark.
package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"tenon/bench/corpus"
)

// Result is the outcome of one case.
type Result struct {
	// Setup is the time before Solve, Solve the time in it.
	Setup, Solve time.Duration
	// Allocated are the bytes allocated in Solve, whether they were freed or not.
	Allocated uint64
	// Nodes counts the new nodes, and Price sums what the cheapest offering left to each costs.
	Nodes int
	Price float64
	// Placed pods have a place, Refused pods have an error, and Unseen pods have neither, because
	// the time ran out.
	Placed, Refused, Unseen int
	// Stopped says that the time ran out before the end.
	Stopped bool
}

// Run solves the case within the limit; 0 means no limit.
func Run(ctx context.Context, c corpus.Case, limit time.Duration) (Result, error) {
	log.SetLogger(logr.Discard())
	karpenter.WellKnownLabels.Insert(c.Words.WellKnown...)
	ctx = injection.WithControllerName(ctx, "provisioner")
	ctx = options.ToContext(ctx, &options.Options{IgnoreDRARequests: true, CPURequests: 2000})
	start := time.Now()
	pods := slices.Clone(c.Pods) // the scheduler sorts them
	scheduler, err := newScheduler(ctx, c, pods)
	if err != nil {
		return Result{}, fmt.Errorf("set up the scheduler for %s: %w", c.Name, err)
	}
	out := Result{Setup: time.Since(start)}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	err = out.solve(ctx, scheduler, pods)
	return out, err
}

func (r *Result) solve(ctx context.Context, scheduler *scheduling.Scheduler, pods []*corev1.Pod) error {
	all := len(pods)
	runtime.GC()
	before := allocated()
	start := time.Now()
	results, err := scheduler.Solve(ctx, pods)
	r.Solve = time.Since(start)
	r.Allocated = allocated() - before
	r.Stopped = errors.Is(err, context.DeadlineExceeded)
	if err != nil && !r.Stopped {
		return err
	}
	r.Nodes, r.Refused = len(results.NewNodeClaims), len(results.PodErrors)
	for _, claim := range results.NewNodeClaims {
		r.Placed += len(claim.Pods)
		r.Price += price(claim.Requirements, claim.InstanceTypeOptions)
	}
	for _, node := range results.ExistingNodes {
		r.Placed += len(node.Pods)
	}
	r.Unseen = all - r.Placed - r.Refused
	return nil
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func newScheduler(ctx context.Context, c corpus.Case, pods []*corev1.Pod) (*scheduling.Scheduler, error) {
	pools, err := nodePools(c)
	if err != nil {
		return nil, err
	}
	types := map[string][]*cloudprovider.InstanceType{}
	shared := instanceTypes(c.Catalog)
	for _, pool := range pools {
		types[pool.Name] = shared
	}
	reader := apiServer(c)
	cluster, err := picture(ctx, c)
	if err != nil {
		return nil, err
	}
	nodes := cluster.DeepCopyNodes()
	opts := []scheduling.Options{scheduling.NumConcurrentReconciles(5), scheduling.MinValuesPolicy(options.MinValuesPolicyStrict)}
	if c.IgnorePreferences {
		opts = append(opts, scheduling.IgnorePreferences)
	}
	topology, err := scheduling.NewTopology(ctx, reader, cluster, nodes, pools, types, pods, opts...)
	if err != nil {
		return nil, fmt.Errorf("count topology domains: %w", err)
	}
	return scheduling.NewScheduler(ctx, reader, pools, cluster, nodes, topology, types,
		nil, // daemons
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{},
		nil, // volumes
		nil, // devices
		opts...), nil
}

// nodePools returns the pools as the reference's types: the wire form is the same. They are in the
// order of their weights, which are all equal here.
func nodePools(c corpus.Case) ([]*karpenter.NodePool, error) {
	out := make([]*karpenter.NodePool, len(c.Pools))
	for i, pool := range c.Pools {
		text, err := json.Marshal(pool)
		if err != nil {
			return nil, fmt.Errorf("write pool %s: %w", pool.Name, err)
		}
		out[i] = &karpenter.NodePool{}
		if err := json.Unmarshal(text, out[i]); err != nil {
			return nil, fmt.Errorf("read pool %s: %w", pool.Name, err)
		}
	}
	return out, nil
}

// apiServer answers what the scheduler asks about pods that run already.
func apiServer(c corpus.Case) client.Client {
	var objects []client.Object
	for _, node := range c.Nodes {
		objects = append(objects, node)
	}
	for _, pod := range c.Running {
		objects = append(objects, pod)
	}
	return indexed(objects...)
}

func indexed(objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithObjects(objects...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
			return []string{o.(*corev1.Pod).Spec.NodeName}
		}).Build()
}

// picture makes the reference's own picture of the cluster. It gets every node and pod directly,
// so its client can stay empty: asking a client for the pods of each node would take longer than
// all the rest.
func picture(ctx context.Context, c corpus.Case) (*state.Cluster, error) {
	cluster := state.NewCluster(clock.RealClock{}, indexed(), nil)
	for _, node := range c.Nodes {
		if err := cluster.UpdateNode(ctx, node.DeepCopy()); err != nil {
			return nil, fmt.Errorf("tell of node %s: %w", node.Name, err)
		}
	}
	for _, pod := range c.Running {
		if err := cluster.UpdatePod(ctx, pod); err != nil {
			return nil, fmt.Errorf("tell of pod %s: %w", pod.Name, err)
		}
	}
	return cluster, nil
}
