package nodeclass

import (
	"context"
	"errors"
	"time"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/appraisal"
	"tenon/cloud/aws/stock"
	"tenon/cloud/aws/trial"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
)

// step looks at one thing that a class needs, which a condition tells of, and says when to
// look at it again; zero is when the class changes.
type step struct {
	condition string
	look      func(context.Context, *appraisal.Standing) (again time.Duration, err error)
}

// survey looks at everything, also when one look fails: a class shows all that is wrong
// with it at once. What could not be looked at stays as it was.
func (k keeper) survey(ctx context.Context, s *appraisal.Standing) (reconcile.Result, error) {
	again := reconcile.Never
	var failed []error
	for _, step := range k.steps() {
		after, err := step.look(ctx, s)
		if err != nil {
			s.Unsure(step.condition, api.Explain(err))
			failed = append(failed, err)
			continue
		}
		if after > 0 {
			again = again.Sooner(reconcile.In(after))
		}
	}
	return again, errors.Join(failed...)
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
		step{awsv1.ConditionValidationSucceeded, k.validate},
	)
}

func (k keeper) images(ctx context.Context, s *appraisal.Standing) (time.Duration, error) {
	found, unsupported, err := k.scout.FindImages(ctx, s.Class)
	switch {
	case err != nil:
		return 0, err
	case unsupported != "":
		return s.UnsupportedImages(unsupported), nil
	}
	return s.Images(found), nil
}

func (k keeper) reservations(ctx context.Context, s *appraisal.Standing) (time.Duration, error) {
	found, again, err := k.scout.FindReservations(ctx, s.Class)
	if err != nil {
		return 0, err
	}
	s.Reservations(found)
	return again, nil
}

func (k keeper) placement(ctx context.Context, s *appraisal.Standing) (time.Duration, error) {
	found, err := k.scout.FindPlacement(ctx, s.Class)
	s.Placement(found, err)
	if err == nil && !found && s.Class.Spec.PlacementGroupSelector != nil {
		return time.Minute, nil // it may be made yet
	}
	return 0, err
}

func (k keeper) subnets(ctx context.Context, s *appraisal.Standing) (time.Duration, error) {
	found, err := k.scout.FindSubnets(ctx, s.Class)
	if err != nil {
		return 0, err
	}
	return s.Subnets(found), nil
}

func (k keeper) securityGroups(ctx context.Context, s *appraisal.Standing) (time.Duration, error) {
	found, err := k.scout.FindSecurityGroups(ctx, s.Class)
	if err != nil {
		return 0, err
	}
	return s.SecurityGroups(found), nil
}

func (k keeper) profile(ctx context.Context, s *appraisal.Standing) (time.Duration, error) {
	name, err := k.scout.EnsureProfile(ctx, s.Class)
	if err != nil {
		return 0, err
	}
	s.Profile(name)
	return 0, nil
}

// soon is when a trial is repeated that found out nothing.
const soon = time.Second

// validate tries out whether instances could be launched, once all is there for it.
func (k keeper) validate(ctx context.Context, s *appraisal.Standing) (time.Duration, error) {
	family, err := s.Class.Spec.Family()
	if err != nil {
		return 0, err
	}
	if family == awsv1.FamilyAL2023 {
		if _, err := k.scout.ServiceRange(ctx); api.IsServerFault(err) {
			return soon, nil
		} else if err != nil {
			s.NoServiceRange()
			return 0, err
		}
	}
	if !s.Dependencies() {
		return appraisal.ValidationHold, nil
	}
	if err := s.Tags(); err != nil {
		return 0, nil // said in the condition; only another spec can mend it
	}
	pools, err := lookup.PoolsWith(ctx, k.kit.Client, refOf(s.Class))
	if err != nil {
		return 0, err
	}
	verdict, err := k.scout.Try(ctx, s.Class, pools)
	switch {
	case errors.Is(err, trial.ErrAgain):
		reconcile.Log(ctx).V(1).Info("trial of the nodeclass is repeated", "err", err.Error())
		return soon, nil
	case errors.Is(err, stock.ErrNoTypes): // at the start; whoever asks for them says what is wrong
		s.Unsure(awsv1.ConditionValidationSucceeded, err.Error())
		return soon, nil
	case err != nil:
		return 0, err
	case !verdict.Passed:
		return s.Failed(verdict.Reason, verdict.Message), nil
	}
	return s.Passed(), nil
}
