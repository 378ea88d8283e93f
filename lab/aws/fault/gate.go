package fault

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tenon/lab/aws/wire"
)

// Verdict says what happens to a call.
type Verdict struct {
	Delay time.Duration // before anything else
	Drop  bool          // the connection is closed, nothing takes effect
	Lose  bool          // the call takes effect, the connection is closed
	Error *wire.Error   // the answer, in place of the operation's
}

// About describes a call.
type About struct{ Account, Region, Service, Operation string }

// Gate decides on a call. Of several errors it answers with the one that was requested first.
func (s *Set) Gate(a About, now time.Time) Verdict {
	var v Verdict
	s.each(now, func(l *lasting) {
		if l.aboutCalls() && l.concerns(a) && !(v.Error != nil && l.fails()) {
			s.judge(l, a, now, &v)
		}
	})
	return v
}

func (l *lasting) concerns(a About) bool {
	return l.holdsAt(a.Account, a.Region) && (l.Service == "" || l.Service == a.Service) && matches(l.Operations, a.Operation)
}

func (l *lasting) aboutCalls() bool {
	return l.fails() || l.Kind == Latency || l.Kind == Unreachable || l.Kind == LostAnswer
}

func (l *lasting) fails() bool {
	return slices.Contains([]Kind{Throttle, Unauthorized, ExpiredCredentials, APIError}, l.Kind)
}

func (s *Set) judge(l *lasting, a About, now time.Time, v *Verdict) {
	s.asked++
	if l.Share > 0 && s.seed.Share("gate", l.ID, strconv.Itoa(s.asked)) >= l.Share {
		return
	}
	if l.Kind == Throttle && l.bucket(a).take(now) {
		return
	}
	l.times++
	switch l.Kind {
	case Latency:
		v.Delay += time.Duration(l.Delay) + time.Duration(float64(l.Jitter)*s.seed.Share("jitter", strconv.Itoa(s.asked)))
	case Unreachable:
		v.Drop = true
	case LostAnswer:
		v.Lose = true
	default:
		v.Error = l.answer(a)
	}
}

// answer returns the error in the words of the service.
func (l *lasting) answer(a About) *wire.Error {
	e := l.usual(a)
	if l.Code != "" {
		e.Code = l.Code
	}
	if l.Message != "" {
		e.Message = l.Message
	}
	if l.Status != 0 {
		e.Status = l.Status
	}
	return e
}

func (l *lasting) usual(a About) *wire.Error {
	switch l.Kind {
	case Throttle:
		return throttled(a)
	case Unauthorized:
		return unauthorized(a)
	case ExpiredCredentials:
		return expired(a)
	default:
		return wire.Errorf("", "The emulator was told to fail %s.", a.Operation)
	}
}

func throttled(a About) *wire.Error {
	switch a.Service {
	case "ec2":
		return wire.StatusErrorf(http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded.")
	case "iam", "sts", "autoscaling":
		return wire.Errorf("Throttling", "Rate exceeded")
	default:
		return wire.Errorf("ThrottlingException", "Rate exceeded")
	}
}

func unauthorized(a About) *wire.Error { return Denied(a, a.Service+":"+a.Operation, "") }

// Denied returns the error of a call for which an action is not allowed, on a resource if one is named.
func Denied(a About, action, resource string) *wire.Error {
	who, on := "arn:aws:sts::"+a.Account+":assumed-role/lab/lab", ""
	if resource != "" {
		on = " on resource: " + resource
	}
	switch a.Service {
	case "ec2":
		return wire.StatusErrorf(http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. User: %s "+
			"is not authorized to perform: %s%s because no identity-based policy allows the %s action", who, action, on, action)
	case "iam", "sts", "autoscaling":
		return wire.StatusErrorf(http.StatusForbidden, "AccessDenied", "User: %s is not authorized to perform: %s%s "+
			"because no identity-based policy allows the %s action", who, action, on, action)
	default:
		return wire.StatusErrorf(http.StatusForbidden, "AccessDeniedException", "User: %s is not authorized to perform: %s%s "+
			"because no identity-based policy allows the %s action", who, action, on, action)
	}
}

func expired(a About) *wire.Error {
	code := "ExpiredTokenException"
	switch a.Service {
	case "ec2":
		code = "RequestExpired"
	case "iam", "sts", "autoscaling":
		code = "ExpiredToken"
	}
	return wire.StatusErrorf(http.StatusForbidden, code, "The security token included in the request is expired")
}

// bucket is a token bucket, full at first.
type bucket struct {
	rate, burst, tokens float64
	last                time.Time
}

// bucket returns the bucket of the account's calls to an operation in a region: AWS limits each of these
// separately.
func (l *lasting) bucket(a About) *bucket {
	key := strings.Join([]string{a.Account, a.Region, a.Service, a.Operation}, "/")
	b := l.buckets[key]
	if b == nil {
		burst := max(l.Burst, 1)
		b = &bucket{rate: l.Rate, burst: burst, tokens: burst}
		l.buckets[key] = b
	}
	return b
}

func (b *bucket) take(now time.Time) bool {
	if !b.last.IsZero() {
		b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.last).Seconds())
	}
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
