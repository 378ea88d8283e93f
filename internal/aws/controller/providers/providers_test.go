package providers_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"tenon/internal/aws/controller/providers"
	"tenon/internal/reconcile"
)

type source struct {
	asked   []string
	err     error
	version string
}

func (s *source) UpdatePrices(context.Context) error {
	s.asked = append(s.asked, "prices")
	return s.err
}
func (s *source) UpdateTypes(context.Context) (bool, error) {
	s.asked = append(s.asked, "types")
	return true, s.err
}
func (s *source) RecheckImages(context.Context) error {
	s.asked = append(s.asked, "images")
	return s.err
}
func (s *source) Version(context.Context) (string, error) { return s.version, s.err }

// Each thing is asked for in its own time, and what fails is tried again.
func TestSchedule(t *testing.T) {
	t.Parallel()
	s := &source{version: "1.34"}
	want := map[string]time.Duration{
		"providers.pricing": 12 * time.Hour, "providers.instancetype": 12 * time.Hour,
		"providers.ssm.invalidation": 30 * time.Minute, "providers.version": 5 * time.Minute,
	}
	for _, c := range providers.New(reconcile.Kit{}, s) {
		s.err = nil
		if !c.Singleton() {
			t.Errorf("%s waits for objects", c.Name)
		}
		result, err := c.Reconcile(t.Context(), reconcile.Key{})
		if err != nil || result.After != want[c.Name] {
			t.Errorf("%s again after %s, %v; want %s", c.Name, result.After, err, want[c.Name])
		}
		s.err = errors.New("boom")
		if _, err := c.Reconcile(t.Context(), reconcile.Key{}); err == nil {
			t.Errorf("%s hides an error", c.Name)
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
}

// An untried version is logged once.
func TestVersion(t *testing.T) {
	t.Parallel()
	s := &source{}
	said := 0
	log := funcr.New(func(string, string) { said++ }, funcr.Options{})
	ctx := logr.NewContext(t.Context(), log)
	controllers := providers.New(reconcile.Kit{}, s)
	check := controllers[len(controllers)-1]
	for _, step := range []struct {
		version string
		said    int
	}{{"1.36", 0}, {"1.37", 1}, {"1.37", 1}, {"1.25", 2}, {"1.26", 2}, {"2.0", 3}} {
		s.version = step.version
		if _, err := check.Reconcile(ctx, reconcile.Key{}); err != nil {
			t.Fatal(err)
		}
		if said != step.said {
			t.Errorf("version %s: said %d times, want %d", step.version, said, step.said)
		}
	}
}
