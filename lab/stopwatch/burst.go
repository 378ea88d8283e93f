package stopwatch

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/testing/workload"
	"tenon/sim/measure"
)

// burst makes many pods at once, and waits until the last is bound.
func (r run) burst(ctx context.Context, pods int) error {
	r.plan.Say("%d pods at once", pods)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	prices, err := r.prices(ctx)
	if err != nil {
		return err
	}
	seen, err := r.watching(ctx, &corev1.Pod{}, &karpenterv1.NodeClaim{})
	if err != nil {
		return err
	}
	fleet := measure.NewFleet(prices)
	fleet.Begin(pods)
	begun := time.Now()
	if err := r.client.Create(ctx, workload.Deployment("burst", int32(pods), "1")); err != nil {
		return err
	}
	for !fleet.Settled() {
		select {
		case s := <-seen:
			fleet.Note(s.object, s.gone, s.at.Sub(begun))
		case <-ctx.Done():
			fleet.Say(time.Since(begun), r.plan.Say)
			return fmt.Errorf("not all of %d pods are bound: %w", pods, ctx.Err())
		}
	}
	p := fleet.End(measure.Planned{})
	usage, err := r.usage(ctx, r.plan.Steady)
	if err != nil {
		return err
	}
	r.result.Bursts = append(r.result.Bursts, Burst{
		Pods: pods, Made: p.Made, Claimed: p.LastClaim, Bound: p.LastBound, Claims: p.FirstClaims,
		PodsPerClaim: float64(pods) / float64(max(p.FirstClaims, 1)), ResidentBytes: usage.ResidentBytes,
	})
	return r.clear(ctx)
}
