// Package execute carries out decisions: it creates the NodeClaims of a plan, each exactly once even
// after failures, and performs the effects of a disruption under way on its objects (see package
// command). nodeclaim.lifecycle launches the instances.
//
// Before a claim is created it is entered in the ledger, so that the next decision counts it whether or
// not a watch has shown it. A part of the plan that no longer holds is dropped, not repaired, and the next
// decision considers it again.
package execute

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/parallel"
	"tenon/internal/reconcile"
	"tenon/internal/world"
)

// Order is one claim to be created.
type Order struct {
	Claim *karpenterv1.NodeClaim // with a name
	// Pool is the pool as the decision saw it.
	Pool *karpenterv1.NodePool
	// Capacity is what the claim takes of the pool's limits.
	Capacity model.Resources
	Pods     []world.PodRef
	// For are the snapshot indexes of all pods for which the claim is created.
	For []snapshot.PodIndex
	// Price is the expected price an hour.
	Price model.Money
	// Reason is the value of the label reason in nodeclaims_created_total.
	Reason string
}

// Outcome is the result of an order.
type Outcome struct {
	Order Order
	// Claim is the object that was created, nil if none was.
	Claim *karpenterv1.NodeClaim
	// Dropped is why the order was not carried out although no error occurred: the claim no longer
	// meets plan.ToLaunch.
	Dropped reason.Cause
	// Err is the error, if any.
	Err error
}

// Executor creates claims.
type Executor struct {
	kit   reconcile.Kit
	world *world.World
	// parallel is how many claims are created at the same time; with one, no goroutine is started.
	parallel int
	turn     sync.Mutex // see InTurn
}

// New makes an executor.
func New(kit reconcile.Kit, w *world.World, parallel int) *Executor {
	return &Executor{kit: kit, world: w, parallel: max(parallel, 1)}
}

// Launch carries out orders, and returns the outcomes in the same order.
func (e *Executor) Launch(ctx context.Context, orders []Order) []Outcome {
	outcomes := make([]Outcome, len(orders))
	parallel.Run(e.parallel, len(orders), func(i int) { outcomes[i] = e.launch(ctx, orders[i]) })
	return outcomes
}

func (e *Executor) launch(ctx context.Context, o Order) Outcome {
	for _, need := range plan.ToLaunch() {
		if cause := e.ensure(&o, need); cause.Code != reason.None {
			return Outcome{Order: o, Dropped: cause}
		}
	}
	made, err := e.make(ctx, o.Claim)
	if err != nil {
		return Outcome{Order: o, Err: fmt.Errorf("make claim %s: %w", o.Claim.Name, err)}
	}
	e.kit.Metrics.NodeclaimsCreatedTotal.WithLabelValues(o.Reason, o.Pool.Name, relaxed(made)).Inc()
	return Outcome{Order: o, Claim: made}
}

// ensure says why an order does not meet a precondition. An order that is within the limits is entered in
// the ledger at once, because other orders are checked concurrently.
func (e *Executor) ensure(o *Order, need plan.Precondition) reason.Cause {
	switch need {
	case plan.PoolUnchanged:
		return e.outdated(o.Pool)
	case plan.LimitsKept:
		return e.world.Assume(o.Claim, o.Capacity, o.Pods)
	}
	panic("not a precondition of a claim that is made: " + string(need))
}

// outdated says why a decision about a pool no longer holds.
func (e *Executor) outdated(decided *karpenterv1.NodePool) reason.Cause {
	pool, found := e.world.Pool(decided.Name)
	switch {
	case !found || pool.UID != decided.UID || pool.DeletionTimestamp != nil:
		return reason.Cause{Code: reason.PoolGone, Where: decided.Name}
	case pool.Generation != decided.Generation:
		return reason.Cause{Code: reason.PoolChanged, Where: decided.Name}
	}
	return reason.Cause{}
}

// attempts is how often the creation of a claim is tried while its outcome is unknown.
const attempts = 3

// make creates the object. If the answer is lost, it finds out whether the object exists. If that fails
// too, the claim stays in the ledger and is checked again; see world.Doubtful.
func (e *Executor) make(ctx context.Context, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	var last error
	for range attempts {
		made := claim.DeepCopy()
		err := e.kit.Client.Create(ctx, made)
		switch {
		case err == nil:
			return made, nil
		case refused(err), apierrors.IsAlreadyExists(err) && last == nil:
			// Before our first try, a claim with this name is not ours.
			e.world.Retract(claim.Name)
			return nil, err
		}
		last = err
		if found, ok := e.find(ctx, claim); ok {
			return found, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, last
}

// find looks for a claim whose creation was not answered.
func (e *Executor) find(ctx context.Context, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, bool) {
	found := &karpenterv1.NodeClaim{}
	err := e.kit.Uncached(reconcile.AfterLostAnswer).Get(ctx, reconcile.Key{Name: claim.Name}, found)
	return found, err == nil
}

// refused reports whether it is certain that nothing was created.
func refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		apierrors.IsTooManyRequests(err)
}

func relaxed(claim *karpenterv1.NodeClaim) string {
	if claim.Annotations[karpenterv1.AnnotationMinValuesRelaxed] == "true" {
		return "true"
	}
	return "false"
}
