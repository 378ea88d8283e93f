package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/network"
	"tenon/core/catalog"
	"tenon/core/order"
)

const (
	// pause is how long the launcher waits after EC2 throttles a call.
	pause = time.Second
	// attempts is how often the launcher makes a call that EC2 throttles.
	attempts = 6

	codeMismatch     = "IdempotentParameterMismatch"
	codeTemplateGone = "InvalidLaunchTemplateName.NotFoundException"
)

// token identifies a purchase to EC2. It is the same in every process.
func token(uid string, attempt int) string {
	sum := sha256.Sum256([]byte(uid + "/" + strconv.Itoa(attempt)))
	return hex.EncodeToString(sum[:16])
}

// templateGone means that a launch template disappeared just before its use.
type templateGone struct{ err error }

func (e *templateGone) Error() string { return e.err.Error() }
func (e *templateGone) Unwrap() error { return e.err }

func isTemplateGone(err error) bool {
	_, is := errors.AsType[*templateGone](err)
	return is
}

// send makes the call that buys, and reads its answer.
func (d *Launcher) send(ctx context.Context, claim *cloud.Claim, r *purchase) (cloud.Instance, error) {
	p := r.pending
	release, err := d.hold(ctx, p.order)
	if err != nil {
		return cloud.Instance{}, d.noTemplates(r, err)
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return cloud.Instance{}, err // this call sent nothing
	}
	taken := d.take(p.order)
	request := *p.order.Request
	request.ClientToken = aws.String(token(claim.UID, r.attempt))
	sent := d.Clock.Now()
	out, err := d.EC2.CreateFleet(ctx, &request, onlyThrottled)
	if err != nil {
		d.giveBack(taken, "")
		return d.failed(ctx, claim, r, err)
	}
	answer := Read(out)
	d.learn(claim, p, answer.Failures)
	if answer.Bought == nil {
		d.giveBack(taken, "")
		r.pending, r.attempt = nil, r.attempt+1
		return cloud.Instance{}, p.order.Refused(answer.Failures)
	}
	d.giveBack(taken, answer.Bought.SubnetID)
	d.enterPurchase(claim, r, *answer.Bought, sent)
	return r.bought.instance.Clone(), nil
}

// onlyThrottled lets the SDK repeat a call only if the one before certainly had no effect. The launcher
// repeats all other calls itself, using what it knows of the purchase.
func onlyThrottled(o *ec2.Options) {
	o.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
		s.MaxAttempts, s.MaxBackoff = attempts, 2*time.Second
		s.RateLimiter = unlimited{}
		s.Retryables = []retry.IsErrorRetryable{retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}}
	})
}

// unlimited never delays the SDK's retries: the limiter of calls decides when the next attempt is made.
type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (unlimited) AddTokens(uint) error { return nil }

// hold ensures that all launch templates exist; it does so for all of them in parallel.
func (d *Launcher) hold(ctx context.Context, o Order) (release func(), err error) {
	releases := make([]func(), len(o.Templates))
	failures := make([]error, len(o.Templates))
	var group sync.WaitGroup
	for i, t := range o.Templates {
		group.Go(func() { releases[i], failures[i] = d.Templates.Hold(ctx, t) })
	}
	group.Wait()
	all := func() {
		for _, release := range releases {
			if release != nil {
				release()
			}
		}
	}
	if err := errors.Join(failures...); err != nil {
		all()
		return nil, err
	}
	return all, nil
}

func (d *Launcher) noTemplates(r *purchase, err error) error {
	if !r.pending.unsure.IsZero() {
		return err // an earlier attempt may have had an effect
	}
	r.pending = nil
	switch {
	case api.IsThrottled(err):
		return &cloud.Throttled{RetryAfter: pause, Err: err}
	case api.Code(err) == "":
		return err // no answer came
	}
	why := api.ReasonOf(err.Error())
	return &cloud.Rejected{Reason: why.Reason, Message: "Error getting launch template configs: " + why.Message, Err: err}
}

// failed decides what an error of the call means.
func (d *Launcher) failed(ctx context.Context, claim *cloud.Claim, r *purchase, err error) (cloud.Instance, error) {
	p := r.pending
	code := api.Code(err)
	wrapped := fmt.Errorf("create fleet: %w", err)
	switch {
	case leavesOpen(err):
		if p.unsure.IsZero() {
			p.unsure = d.Clock.Now()
		}
		return cloud.Instance{}, wrapped // the effect of the call is unknown
	case code == codeMismatch, !p.unsure.IsZero() && !api.IsThrottled(err):
		// EC2 knows the token with another request, or refuses now what an earlier attempt may have done:
		// look whether there is an instance.
		return d.resolve(ctx, claim, r, wrapped)
	case api.IsThrottled(err) && !p.unsure.IsZero():
		return cloud.Instance{}, wrapped
	}
	r.pending = nil
	if api.IsThrottled(err) {
		return cloud.Instance{}, &cloud.Throttled{RetryAfter: pause, Err: d.rejected("Error creating fleet request: ", wrapped)}
	}
	if code == codeTemplateGone {
		for _, t := range p.order.Templates {
			d.Templates.Forget(t.Name)
		}
		return cloud.Instance{}, &templateGone{d.rejected("Launch templates not found when creating fleet request: ", wrapped)}
	}
	return cloud.Instance{}, d.rejected("Error creating fleet request: ", wrapped)
}

// leavesOpen reports whether a failed call may have had an effect: no answer came, or the service failed
// while it processed the call. A throttled call had no effect.
func leavesOpen(err error) bool {
	if api.IsThrottled(err) {
		return false
	}
	if answered, is := errors.AsType[*smithyhttp.ResponseError](err); is && answered.HTTPStatusCode() >= http.StatusInternalServerError {
		return true
	}
	return api.Code(err) == "" || api.IsServerFault(err)
}

func (d *Launcher) rejected(prefix string, err error) error {
	why := api.ReasonOf(err.Error())
	return &cloud.Rejected{Reason: why.Reason, Message: prefix + why.Message, Err: err}
}

// resolve finds out what an earlier request with the same token bought. If EC2 does not show an instance
// although it would by now, the request bought nothing, and the claim moves on to the next token.
func (d *Launcher) resolve(ctx context.Context, claim *cloud.Claim, r *purchase, cause error) (cloud.Instance, error) {
	p := r.pending
	if p.unsure.IsZero() {
		p.unsure = d.Clock.Now()
	}
	found, err := d.Instances.BoughtFor(ctx, claim.UID)
	switch {
	case err != nil:
		return cloud.Instance{}, errors.Join(cause, err)
	case len(found) > 0:
		d.adopt(ctx, claim, r, found[0])
		return d.confirm(ctx, r)
	case d.Clock.Now().Sub(p.unsure) < d.VisibleWithin:
		return cloud.Instance{}, fmt.Errorf("what was bought before may not be visible yet: %w", cause)
	}
	r.pending, r.attempt = nil, r.attempt+1
	return cloud.Instance{}, fmt.Errorf("nothing was bought before; the next attempt has a new token: %w", cause)
}

func (d *Launcher) take(o Order) map[string]network.Taking {
	taken := map[string]network.Taking{}
	for _, subnet := range order.Keys(o.Takes) {
		taken[subnet] = d.Addresses.Take(subnet, o.Takes[subnet])
	}
	return taken
}

func (d *Launcher) giveBack(taken map[string]network.Taking, used string) {
	for _, subnet := range order.Keys(taken) {
		if subnet != used {
			d.Addresses.Return(taken[subnet])
		}
	}
}

// learn notes which offers EC2 could not provide, even if the launch succeeded with another one.
func (d *Launcher) learn(claim *cloud.Claim, p *pending, failures []Failure) {
	for _, f := range failures {
		d.Failed(f.Zone, zoneID(p.facts, f.Zone), p.order.CapacityType, api.ReasonOf(f.Code+": "+f.Message).Reason)
	}
	lesson := p.order.Learn(failures)
	d.Shortages.Note(lesson.Offers...)
	for _, id := range lesson.Reservations {
		d.Counts.Exhausted(id)
	}
	for _, id := range lesson.Subnets {
		d.Addresses.Exhausted(id)
		d.Shortages.NoteSubnet(id)
	}
	if lesson.NoSpot {
		d.Shortages.NoteCapacityType(catalog.Spot)
		d.NoSpotRole(*claim)
	}
}

func zoneID(f Facts, zone string) string {
	for _, s := range f.Class.Status.Subnets {
		if s.Zone == zone {
			return s.ZoneID
		}
	}
	return ""
}

// enterPurchase records a bought instance.
func (d *Launcher) enterPurchase(claim *cloud.Claim, r *purchase, b Bought, sent time.Time) {
	p := r.pending
	i := cloud.Instance{
		ProviderID: instance.ProviderID(b.Zone, b.ID), ClaimUID: claim.UID, ClaimName: claim.Name, Pool: claim.Pool, Class: claim.Class,
		Offer:   cloud.Offer{InstanceType: b.InstanceType, Zone: b.Zone, CapacityType: p.order.CapacityType},
		ImageID: b.ImageID, State: cloud.Pending, Launched: sent,
	}
	if c, known := p.order.Candidate(b.InstanceType, b.Zone); known {
		i.Offer = c.Offer()
		if i.Offer.Reservation != "" {
			d.Counts.Launched(i.Offer.Reservation, sent)
		}
		i = described(claim, p.facts, c, i)
	}
	r.bought, r.pending = &bought{instance: i, id: b.ID, at: sent}, nil
}
