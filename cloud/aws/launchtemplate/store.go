package launchtemplate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/core/order"
)

// Idle is how long a template stays in EC2 after its last use.
const Idle = time.Minute

const (
	pageSize       = 200
	codeNameExists = "InvalidLaunchTemplateName.AlreadyExistsException"
)

// Store keeps the templates that are in use in EC2.
//
//	       Hold                     release, Idle          Sweep
//	(none) ────▶ made or found, held ────▶ idle ──────────────▶ deleted
//	                     ▲                  │
//	                     └───── Hold ───────┘
type Store struct {
	ec2     api.EC2Templates
	cluster string
	clock   clock.PassiveClock
	made    func(Template)

	mu      sync.Mutex
	entries map[string]*keptTemplate
}

// keptTemplate is one template. The caller that asks EC2 about it holds its turn, so that no caller deletes it while
// another is about to use it.
type keptTemplate struct {
	turn chan struct{}

	// The store's lock guards these.
	id    string // empty until it is known
	users int
	used  time.Time
}

// NewStore makes a store for the templates of a cluster. made receives every new template; it may be nil.
func NewStore(client api.EC2Templates, cluster string, c clock.PassiveClock, made func(Template)) *Store {
	if made == nil {
		made = func(Template) {}
	}
	return &Store{ec2: client, cluster: cluster, clock: c, made: made, entries: map[string]*keptTemplate{}}
}

// Hold ensures that a template exists, and keeps it until the caller calls release. A caller that launches
// with the template calls release once it has EC2's answer.
func (s *Store) Hold(ctx context.Context, t Template) (release func(), err error) {
	e := s.enter(t.Name)
	if err := s.ensure(ctx, e, t); err != nil {
		s.leave(t.Name, e)
		return nil, fmt.Errorf("launch template %s: %w", t.Name, err)
	}
	return sync.OnceFunc(func() { s.leave(t.Name, e) }), nil
}

func (s *Store) enter(name string) *keptTemplate {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[name]
	if e == nil {
		e = &keptTemplate{turn: make(chan struct{}, 1)}
		s.entries[name] = e
	}
	e.users++
	e.used = s.clock.Now()
	return e
}

func (s *Store) leave(name string, e *keptTemplate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.users--
	e.used = s.clock.Now()
	if e.users == 0 && e.id == "" && s.entries[name] == e {
		delete(s.entries, name)
	}
}

func (s *Store) idOf(e *keptTemplate) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.id
}

func (s *Store) setID(e *keptTemplate, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.id = id
}

// ensure asks EC2 once, no matter how many callers need the template.
func (s *Store) ensure(ctx context.Context, e *keptTemplate, t Template) error {
	if s.idOf(e) != "" {
		return nil
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.idOf(e) != "" {
		return nil
	}
	id, err := s.find(ctx, t.Name)
	if err == nil && id == "" {
		id, err = s.create(ctx, t)
	}
	if err != nil {
		return err
	}
	s.setID(e, id)
	return nil
}

func (s *Store) find(ctx context.Context, name string) (id string, err error) {
	out, err := s.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{name}})
	switch {
	case api.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	case len(out.LaunchTemplates) == 0:
		return "", nil
	}
	return aws.ToString(out.LaunchTemplates[0].LaunchTemplateId), nil
}

func (s *Store) create(ctx context.Context, t Template) (id string, err error) {
	out, err := s.ec2.CreateLaunchTemplate(ctx, t.Input)
	switch {
	case api.Code(err) == codeNameExists:
		// Another process was faster, and a template's name determines its contents. Only deleting it needs
		// the ID, and the process that made it does that.
		return t.Name, nil
	case err != nil:
		return "", err
	}
	s.made(t)
	return aws.ToString(out.LaunchTemplate.LaunchTemplateId), nil
}

// Forget makes the next Hold ask EC2 again: a launch has found that the template is gone.
func (s *Store) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[name]; e != nil {
		e.id = ""
	}
}

// Hydrate finds the templates of an earlier process, so that Sweep deletes those that stay unused.
func (s *Store) Hydrate(ctx context.Context) error {
	return s.each(ctx, []types.Filter{filter("tag:"+awsv1.TagClusterName, s.cluster)}, func(found types.LaunchTemplate) error {
		name := aws.ToString(found.LaunchTemplateName)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.entries[name] == nil {
			s.entries[name] = &keptTemplate{turn: make(chan struct{}, 1), id: aws.ToString(found.LaunchTemplateId), used: s.clock.Now()}
		}
		return nil
	})
}

// Sweep deletes templates that have been idle for too long.
func (s *Store) Sweep(ctx context.Context) error {
	for _, name := range s.idle() {
		if err := s.evict(ctx, name); err != nil {
			return fmt.Errorf("delete launch template %s: %w", name, err)
		}
	}
	return nil
}

func (s *Store) idle() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, name := range order.Keys(s.entries) {
		if s.entries[name].idle(s.clock.Now()) {
			names = append(names, name)
		}
	}
	return names
}

func (e *keptTemplate) idle(now time.Time) bool { return e.users == 0 && now.Sub(e.used) >= Idle }

// evict removes the template from the store before it deletes it from EC2: a caller that wants it meanwhile
// waits for the turn and makes it again.
func (s *Store) evict(ctx context.Context, name string) error {
	s.mu.Lock()
	e := s.entries[name]
	if e == nil || !e.idle(s.clock.Now()) {
		s.mu.Unlock()
		return nil
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	default:
		s.mu.Unlock()
		return nil
	}
	id := e.id
	e.id = ""
	s.mu.Unlock()
	var err error
	if id != "" { // without an ID, a launch has found that the template is gone
		err = s.delete(ctx, id, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		e.id = id
	case e.users == 0:
		delete(s.entries, name)
	}
	return err
}

func (s *Store) delete(ctx context.Context, id, name string) error {
	in := &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id}
	if id == name { // another process made it
		in = &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: &name}
	}
	if _, err := s.ec2.DeleteLaunchTemplate(ctx, in); err != nil && !api.IsNotFound(err) {
		return err
	}
	return nil
}

// DeleteAll deletes all templates of a class that is being deleted.
func (s *Store) DeleteAll(ctx context.Context, class string) error {
	filters := []types.Filter{filter("tag:"+awsv1.TagClusterName, s.cluster), filter("tag:"+awsv1.TagNodeClass, class)}
	return s.each(ctx, filters, func(found types.LaunchTemplate) error {
		name := aws.ToString(found.LaunchTemplateName)
		if err := s.delete(ctx, name, name); err != nil {
			return fmt.Errorf("delete launch template %s: %w", name, err)
		}
		s.Forget(name)
		return nil
	})
}

func (s *Store) each(ctx context.Context, filters []types.Filter, do func(types.LaunchTemplate) error) error {
	pages := ec2.NewDescribeLaunchTemplatesPaginator(s.ec2, &ec2.DescribeLaunchTemplatesInput{Filters: filters, MaxResults: aws.Int32(pageSize)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list launch templates: %w", err)
		}
		for _, found := range page.LaunchTemplates {
			if err := do(found); err != nil {
				return err
			}
		}
	}
	return nil
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}
