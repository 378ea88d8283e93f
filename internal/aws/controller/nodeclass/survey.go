package nodeclass

import (
	"context"
	"errors"
	"sync"
	"time"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/classstatus"
	"tenon/cloud/aws/inventory"
	"tenon/cloud/aws/offering"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
)

// decision is what to make of an answer, and when to ask again; zero is when the class changes.
type decision func(*classstatus.Status) (again time.Duration)

// step looks at one thing that a class needs, which a condition tells of.
type step struct {
	condition string
	// look asks AWS. It runs beside other looks, and changes nothing of the class.
	look func(context.Context, *awsv1.EC2NodeClass) (decision, error)
}

// survey looks at everything, even when one look fails, so that a class shows all its problems at once.
// Conditions whose look failed stay as they were.
//
// All looks run at the same time. Each is retried for several seconds without an answer; in sequence, they
// would report an outage, and its end, a minute late.
func (k keeper) survey(ctx context.Context, s *classstatus.Status) (reconcile.Result, error) {
	again := reconcile.Never
	var failed []error
	note := func(condition string, after time.Duration, err error) {
		if err != nil {
			s.Unsure(condition, api.Explain(err))
			failed = append(failed, err)
		} else if after > 0 {
			again = again.Sooner(reconcile.In(after))
		}
	}
	steps := k.steps()
	answers, errs := k.lookAll(ctx, s.Class, steps)
	for i, step := range steps {
		var after time.Duration
		if answers[i] != nil {
			after = answers[i](s)
		}
		note(step.condition, after, errs[i])
	}
	after, err := k.validate(ctx, s) // which needs to know all that was found
	note(awsv1.ConditionValidationSucceeded, after, err)
	return again, errors.Join(failed...)
}

func (k keeper) lookAll(ctx context.Context, class *awsv1.EC2NodeClass, steps []step) ([]decision, []error) {
	answers, errs := make([]decision, len(steps)), make([]error, len(steps))
	var looks sync.WaitGroup
	for i, step := range steps {
		looks.Go(func() { answers[i], errs[i] = step.look(ctx, class) })
	}
	looks.Wait()
	return answers, errs
}

func (k keeper) steps() []step {
	steps := []step{{awsv1.ConditionAMIsReady, k.images}}
	if k.kit.Settings.FeatureGates.ReservedCapacity {
		steps = append(steps, step{awsv1.ConditionCapacityReservationsReady, k.reservations})
	}
	return append(steps,
		step{awsv1.ConditionPlacementGroupReady, k.placement},
		step{awsv1.ConditionSubnetsReady, k.subnets},
		step{awsv1.ConditionSecurityGroupsReady, k.securityGroups},
		step{awsv1.ConditionInstanceProfileReady, k.profile},
	)
}

func (k keeper) images(ctx context.Context, class *awsv1.EC2NodeClass) (decision, error) {
	found, unsupported, err := k.inventory.FindImages(ctx, class)
	switch {
	case err != nil:
		return nil, err
	case unsupported != "":
		return func(s *classstatus.Status) time.Duration { return s.UnsupportedImages(unsupported) }, nil
	}
	return func(s *classstatus.Status) time.Duration { return s.Images(found) }, nil
}

func (k keeper) reservations(ctx context.Context, class *awsv1.EC2NodeClass) (decision, error) {
	found, again, err := k.inventory.FindReservations(ctx, class)
	if err != nil {
		return nil, err
	}
	return func(s *classstatus.Status) time.Duration {
		s.Reservations(found)
		return again
	}, nil
}

// placement decides something even when the lookup fails.
func (k keeper) placement(ctx context.Context, class *awsv1.EC2NodeClass) (decision, error) {
	found, err := k.inventory.FindPlacement(ctx, class)
	return func(s *classstatus.Status) time.Duration {
		s.Placement(found, err)
		if !found && s.Class.Spec.PlacementGroupSelector != nil {
			return time.Minute // it may be made yet
		}
		return 0
	}, err
}

func (k keeper) subnets(ctx context.Context, class *awsv1.EC2NodeClass) (decision, error) {
	found, err := k.inventory.FindSubnets(ctx, class)
	if err != nil {
		return nil, err
	}
	return func(s *classstatus.Status) time.Duration { return s.Subnets(found) }, nil
}

func (k keeper) securityGroups(ctx context.Context, class *awsv1.EC2NodeClass) (decision, error) {
	found, err := k.inventory.FindSecurityGroups(ctx, class)
	if err != nil {
		return nil, err
	}
	return func(s *classstatus.Status) time.Duration { return s.SecurityGroups(found) }, nil
}

func (k keeper) profile(ctx context.Context, class *awsv1.EC2NodeClass) (decision, error) {
	name, err := k.inventory.EnsureProfile(ctx, class)
	if err != nil {
		return nil, err
	}
	return func(s *classstatus.Status) time.Duration {
		s.Profile(name)
		return 0
	}, nil
}

// Validation that found out nothing is repeated soon, and if a call is at fault, later and later up to patience.
const (
	soon     = time.Second
	patience = 10 * time.Second
)

// validate checks with dry runs whether instances could be launched, once everything for that exists.
func (k keeper) validate(ctx context.Context, s *classstatus.Status) (time.Duration, error) {
	family, err := s.Class.Spec.Family()
	if err != nil {
		return 0, err
	}
	if family == awsv1.FamilyAL2023 {
		if _, err := k.inventory.ServiceRange(ctx); api.IsServerFault(err) {
			return s.Again(patience), nil
		} else if err != nil {
			s.NoServiceRange()
			return 0, err
		}
	}
	if !s.Dependencies() {
		return classstatus.ValidationHold, nil
	}
	if err := errors.Join(s.Tags(), s.Kubelet()); err != nil {
		return 0, nil // said in the condition; only another spec can mend it
	}
	pools, err := lookup.PoolsWith(ctx, k.kit.Client, refOf(s.Class))
	if err != nil {
		return 0, err
	}
	verdict, err := k.inventory.Try(ctx, s.Class, pools)
	switch {
	case errors.Is(err, inventory.ErrAgain):
		reconcile.Log(ctx).V(1).Info("dry run of the nodeclass is repeated", "err", err.Error())
		return s.Again(patience), nil
	case errors.Is(err, inventory.ErrNoProfile):
		return s.NoProfile(), nil
	case errors.Is(err, offering.ErrNoTypes): // at the start; the first look that needs them says what is wrong
		s.Unsure(awsv1.ConditionValidationSucceeded, err.Error())
		return soon, nil
	case err != nil:
		return 0, err
	case !verdict.Passed:
		return s.Failed(verdict.Reason, verdict.Message), nil
	}
	return s.Passed(), nil
}
