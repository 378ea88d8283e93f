package aws

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/autoscaling"
	"tenon/lab/aws/ec2"
	"tenon/lab/aws/eks"
	"tenon/lab/aws/eventbridge"
	"tenon/lab/aws/fault"
	"tenon/lab/aws/iam"
	"tenon/lab/aws/policy"
	"tenon/lab/aws/pricing"
	"tenon/lab/aws/servicequotas"
	"tenon/lab/aws/sqs"
	"tenon/lab/aws/ssm"
	"tenon/lab/aws/wire"
)

// Config configures an emulator. Begin with Defaults.
type Config struct {
	Resources accounts.Config
	// Account is the account of callers whose access key is not among Accounts and is not itself an
	// account number of twelve digits.
	Account  string
	Accounts map[string]string // by access key
	// Region is the region that the metadata service reports.
	Region string
	Faults []fault.Fault // active from the start
	// Policies say what callers may do, by access key; a key without an entry may do everything.
	Policies map[string][]policy.Document
	Log      *slog.Logger
	// Listener serves Run; it is closed at the end.
	Listener net.Listener
}

// Defaults returns an account in us-west-2, which has four zones, without faults.
func Defaults() Config {
	return Config{Resources: accounts.Defaults(), Account: "000000000001", Region: "us-west-2", Log: slog.New(slog.DiscardHandler)}
}

// Server is the emulator.
type Server struct {
	config   Config
	clock    clock.Clock
	world    *accounts.World
	faults   *fault.Set
	router   *wire.Router
	services []*wire.Service
	calls    *Journal
	guard    *guard
	control  http.Handler
	metadata http.Handler
	requests atomic.Int64
}

// New prepares an emulator. Handler serves it; Run serves it and lets time pass.
func New(c Config) (*Server, error) {
	if c.Log == nil || len(c.Account) != 12 || c.Region == "" {
		return nil, errors.New("emulator without a log, a region or an account of twelve digits: start from Defaults")
	}
	faults := fault.NewSet(c.Resources.Seed)
	world, err := accounts.New(c.Resources, faults, c.Log)
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, clock: c.Resources.Clock, world: world, faults: faults, calls: newJournal()}
	s.services = []*wire.Service{
		ec2.Service(world), iam.Service(world), iam.TokenService(world), ssm.Service(world), pricing.Service(world),
		sqs.Service(world), eks.Service(world), eks.ShiftService(world), autoscaling.Service(world),
		servicequotas.Service(world), eventbridge.Service(world),
	}
	s.router = wire.NewRouter(c.Account, c.Accounts, s.services...)
	s.guard = &guard{policies: c.Policies, world: world, counts: map[string]Permission{}}
	s.control, s.metadata = s.newControl(), s.newMetadata()
	for _, f := range c.Faults {
		if _, _, err := s.Cause(f); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run serves a listener until the context ends.
func Run(ctx context.Context, c Config) error {
	if c.Listener == nil {
		return errors.New("emulator without a listener")
	}
	s, err := New(c)
	if err != nil {
		return err
	}
	return s.Serve(ctx, c.Listener)
}

// Serve answers on a listener and lets time pass, until the context ends. It
// leaves no goroutine behind.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second,
		// Requests that wait for messages end with the context.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	passed := make(chan error, 1)
	go func() { passed <- s.world.Run(ctx) }()
	var failure error
	select {
	case <-ctx.Done():
	case err := <-served:
		failure = fmt.Errorf("serve the emulated AWS: %w", err)
		served <- err
	}
	cancel()
	_ = server.Close() // open connections are of no use any more
	<-served
	return errors.Join(failure, <-passed)
}

// Handler serves all services, the control API below /lab/ and the instance metadata service below
// /latest/.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/lab/", s.control)
	mux.Handle("/latest/", s.metadata)
	return http.HandlerFunc(func(w http.ResponseWriter, h *http.Request) {
		// The mux would clean the paths of REST APIs, whose parts may have slashes.
		if _, pattern := mux.Handler(h); pattern == "/lab/" || pattern == "/latest/" {
			mux.ServeHTTP(w, h)
			return
		}
		s.serve(w, h)
	})
}

// serve handles one call: it reads it, lets a fault strike, carries it out and answers.
func (s *Server) serve(w http.ResponseWriter, h *http.Request) {
	arrived := s.clock.Now()
	call, err := s.router.Parse(h)
	var resource string
	call.Permit = func(in any) error {
		resource = resourceOf(in)
		return s.guard.permit(call, in)
	}
	call.RequestID = s.config.Resources.Seed.UUID("request", strconv.FormatInt(s.requests.Add(1), 10))
	var verdict fault.Verdict
	if err == nil {
		verdict = s.faults.Gate(fault.About{Account: call.Account, Region: call.Region, Service: call.Service.Name, Operation: call.Operation}, arrived)
	}
	if !s.wait(h.Context(), verdict.Delay) {
		return // the caller is gone
	}
	var answer any
	switch {
	case err != nil:
	case verdict.Drop:
		s.note(call, resource, arrived, "connection closed")
		panic(http.ErrAbortHandler) // net/http closes the connection and says nothing
	case verdict.Error != nil:
		err = verdict.Error
	default:
		answer, err = call.Do()
	}
	if verdict.Lose {
		s.note(call, resource, arrived, "answer lost")
		panic(http.ErrAbortHandler)
	}
	s.note(call, resource, arrived, codeOf(err))
	call.Reply(w, answer, err)
}

// wait lets time pass, and reports whether the caller is still there.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := s.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if known, ok := errors.AsType[*wire.Error](err); ok {
		return known.Code
	}
	return "InternalError"
}

func (s *Server) note(c *wire.Call, resource string, arrived time.Time, code string) {
	s.calls.add(Call{Time: arrived, Took: s.clock.Since(arrived), Account: c.Account, Region: c.Region, Service: c.Service.Name, Operation: c.Operation, Resource: resource, Code: code})
	s.config.Log.Debug("call", "service", c.Service.Name, "operation", c.Operation, "region", c.Region, "code", code)
}

// Cause makes something go wrong. It returns the fault with its identifier, and what it struck if it
// happens once and immediately.
func (s *Server) Cause(f fault.Fault) (fault.Fault, []string, error) {
	f, err := s.faults.Add(f, s.clock.Now())
	if err != nil || f.Kind.Lasts() {
		return f, nil, err
	}
	return f, s.world.Happen(f), nil
}

// Faults returns the faults that last.
func (s *Server) Faults() *fault.Set { return s.faults }

// Calls returns the journal of calls.
func (s *Server) Calls() *Journal { return s.calls }

// Services returns the services that the emulator serves.
func (s *Server) Services() []*wire.Service { return s.services }

// World returns what the accounts own.
func (s *Server) World() *accounts.World { return s.world }
