package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Call is a call that has ended, or one attempt of it, for metrics.
type Call struct {
	Service   string
	Operation string
	// Status is the HTTP status, 0 if no answer came.
	Status int
	// Attempt is set for a single attempt. Otherwise the call is a whole one, with the number of attempts
	// after the first.
	Attempt bool
	Retries int
	Took    time.Duration
}

type stackOption = func(*middleware.Stack) error

func (o Options) middleware() []stackOption {
	options := []stackOption{awsmiddleware.AddUserAgentKeyValue("karpenter.sh", orUnknown(o.Version))}
	if o.ReadOnly {
		options = append(options, readOnly)
	}
	if o.Limiter != nil || o.observes() {
		options = append(options, o.paced)
	}
	if o.observes() {
		options = append(options, o.observed)
	}
	return options
}

func (o Options) observes() bool { return o.Observe != nil && o.Clock != nil }

func orUnknown(version string) string {
	if version == "" {
		return "unknown"
	}
	return version
}

// paced makes every attempt wait for its turn. It runs inside the retries, so that each attempt waits again,
// and outside the signing, because a signature must not grow old while its call waits.
func (o Options) paced(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Pace",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			var permit Permit
			if o.Limiter != nil {
				var err error
				if permit, err = o.Limiter.Wait(ctx, awsmiddleware.GetServiceID(ctx)+" "+awsmiddleware.GetOperationName(ctx)); err != nil {
					return middleware.FinalizeOutput{}, middleware.Metadata{}, err
				}
			}
			done := o.attempt(ctx)
			out, metadata, err := next.HandleFinalize(ctx, in)
			permit.Done(IsThrottled(err))
			done(metadata, err)
			return out, metadata, err
		}), "Retry", middleware.After)
}

// ErrReadOnly is the error of a call that the client does not send because it would change something.
var ErrReadOnly = errors.New("calls that change something are not sent")

// readOnly refuses every operation whose name does not mark it as one that only reads.
func readOnly(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("ReadOnly",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			operation := awsmiddleware.GetOperationName(ctx)
			for _, prefix := range []string{"Describe", "Get", "List"} {
				if strings.HasPrefix(operation, prefix) {
					return next.HandleInitialize(ctx, in)
				}
			}
			return middleware.InitializeOutput{}, middleware.Metadata{}, fmt.Errorf("%s %s: %w", awsmiddleware.GetServiceID(ctx), operation, ErrReadOnly)
		}), middleware.After)
}

type attemptsKey struct{}

// attempt counts one more attempt of an observed call; done reports its end.
func (o Options) attempt(ctx context.Context) (done func(middleware.Metadata, error)) {
	if !o.observes() {
		return func(middleware.Metadata, error) {}
	}
	if n, ok := ctx.Value(attemptsKey{}).(*int); ok {
		*n++
	}
	begun := o.Clock.Now()
	return func(metadata middleware.Metadata, err error) {
		o.Observe(o.call(ctx, begun, metadata, err, func(c *Call) { c.Attempt = true }))
	}
}

// observed measures whole calls, with all their attempts and their time in the queue.
func (o Options) observed(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Observe",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			begun, tries := o.Clock.Now(), 0
			out, metadata, err := next.HandleInitialize(context.WithValue(ctx, attemptsKey{}, &tries), in)
			o.Observe(o.call(ctx, begun, metadata, err, func(c *Call) { c.Retries = max(tries-1, 0) }))
			return out, metadata, err
		}), middleware.After)
}

func (o Options) call(ctx context.Context, begun time.Time, metadata middleware.Metadata, err error, more func(*Call)) Call {
	c := Call{
		Service: awsmiddleware.GetServiceID(ctx), Operation: awsmiddleware.GetOperationName(ctx),
		Status: statusOf(metadata, err), Took: o.Clock.Since(begun),
	}
	more(&c)
	return c
}

func statusOf(metadata middleware.Metadata, err error) int {
	if refused, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return refused.HTTPStatusCode()
	}
	if answer, ok := awsmiddleware.GetRawResponse(metadata).(*smithyhttp.Response); ok {
		return answer.StatusCode
	}
	return 0
}
