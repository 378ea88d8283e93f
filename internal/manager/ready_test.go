package manager

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// mapper returns its kinds, or fails.
type mapper struct {
	meta.RESTMapper
	mu    sync.Mutex
	kinds map[string]bool
	err   error
}

func (m *mapper) install(kinds ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kind := range kinds {
		m.kinds[kind] = true
	}
}

func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	if !m.kinds[kind.Kind] {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{}, nil
}

func TestMissingKindsAreNamedTogetherAndApartFromFaults(t *testing.T) {
	t.Parallel()
	if err := findKinds(&mapper{kinds: map[string]bool{"NodePool": true, "NodeClaim": true}}); err != nil {
		t.Errorf("with both kinds: %v", err)
	}
	var missing *missingKindsError
	err := findKinds(&mapper{})
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "NodePool karpenter.sh/v1 and NodeClaim karpenter.sh/v1") {
		t.Errorf("with none: %v", err)
	}
	fault := errors.New("boom")
	if err := findKinds(&mapper{err: fault}); !errors.Is(err, fault) || errors.As(err, &missing) {
		t.Errorf("with a fault: %v", err)
	}
}

// caches are synced, or never will be.
type caches bool

func (c caches) WaitForCacheSync(ctx context.Context) bool {
	if !c {
		<-ctx.Done()
	}
	return bool(c)
}

func TestReadinessAnswersInTimeWhileCachesFill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		request := httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil)
		if err := cachesSynced(caches(true))(request); err != nil {
			t.Errorf("synced caches: %v", err)
		}
		if err := cachesSynced(caches(false))(request); err == nil {
			t.Error("caches that do not sync are ready")
		}
	})
}

func TestTheKindWatchSpeaksOnceAndOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		kinds := &mapper{kinds: map[string]bool{}}
		watch := kindWatch{mapper: kinds, clock: clock.RealClock{}, log: funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})}
		ended := make(chan error, 1)
		go func() { ended <- watch.Start(t.Context()) }()
		for range 3 { // three periods without a change
			<-clock.RealClock{}.After(kindPeriod)
			synctest.Wait()
		}
		if len(lines) != 1 || !strings.Contains(lines[0], "does not serve NodePool") {
			t.Errorf("after three periods the log is %q", lines)
		}
		kinds.install("NodePool", "NodeClaim")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(lines) != 2 || !strings.Contains(lines[1], "serves every kind") {
			t.Errorf("at the end the log is %q", lines)
		}
	})
}

func TestTheKindWatchStopsWithTheProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (kindWatch{mapper: &mapper{}, clock: clock.RealClock{}}).Start(ctx); err != nil {
		t.Error(err)
	}
}
