package api

import (
	"context"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// Call is a call that has ended, for metrics.
type Call struct {
	Service   string
	Operation string
	// Code is the error's, empty for none.
	Code     string
	Failed   bool
	Attempts int
	Took     time.Duration
}

type stackOption = func(*middleware.Stack) error

func (o Options) middleware() []stackOption {
	options := []stackOption{awsmiddleware.AddUserAgentKeyValue("karpenter.sh", orUnknown(o.Version))}
	if o.Limiter != nil {
		options = append(options, o.paced)
	}
	if o.Observe != nil && o.Clock != nil {
		options = append(options, o.observed)
	}
	return options
}

func orUnknown(version string) string {
	if version == "" {
		return "unknown"
	}
	return version
}

// paced makes every attempt wait for its turn. It stands inside of the retries, so that
// the next attempt waits again, and outside of the signature, which must not grow old.
func (o Options) paced(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Pace",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			permit, err := o.Limiter.Wait(ctx, awsmiddleware.GetServiceID(ctx)+" "+awsmiddleware.GetOperationName(ctx))
			if err != nil {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, err
			}
			attempt(ctx)
			out, metadata, err := next.HandleFinalize(ctx, in)
			permit.Done(IsThrottled(err))
			return out, metadata, err
		}), "Retry", middleware.After)
}

type attemptsKey struct{}

// attempt counts one more attempt of a call that is observed.
func attempt(ctx context.Context) {
	if n, ok := ctx.Value(attemptsKey{}).(*int); ok {
		*n++
	}
}

// observed measures whole calls, with all their attempts and the time that they waited.
func (o Options) observed(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Observe",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			begun, tries := o.Clock.Now(), 0
			out, metadata, err := next.HandleInitialize(context.WithValue(ctx, attemptsKey{}, &tries), in)
			o.Observe(Call{
				Service:   awsmiddleware.GetServiceID(ctx),
				Operation: awsmiddleware.GetOperationName(ctx),
				Code:      Code(err), Failed: err != nil,
				Attempts: max(tries, 1), Took: o.Clock.Since(begun),
			})
			return out, metadata, err
		}), middleware.After)
}
