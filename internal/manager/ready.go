package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// requiredKinds are the kinds without which the controllers have nothing to do.
var requiredKinds = []schema.GroupVersionKind{
	{Group: "karpenter.sh", Version: "v1", Kind: "NodePool"},
	{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim"},
}

// missingKindsError says that the cluster does not know the API.
type missingKindsError struct{ kinds []string }

func (e *missingKindsError) Error() string {
	return fmt.Sprintf("the cluster does not serve %s; install the custom resource definitions (in a checkout: kubectl apply -f api/crds)",
		strings.Join(e.kinds, " and "))
}

// findKinds asks the API server for every kind, and names all that are missing. The mapper asks
// again for what it did not find before, so kinds that are installed later are seen.
func findKinds(mapper meta.RESTMapper) error {
	var missing []string
	for _, kind := range requiredKinds {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		switch {
		case meta.IsNoMatchError(err):
			missing = append(missing, kind.Kind+" "+kind.GroupVersion().String())
		case err != nil:
			return fmt.Errorf("ask the API server for %s: %w", kind.Kind, err)
		}
	}
	if len(missing) > 0 {
		return &missingKindsError{kinds: missing}
	}
	return nil
}

func kindsServed(mapper meta.RESTMapper) healthz.Checker {
	return func(*http.Request) error { return findKinds(mapper) }
}

// syncer is the part of a cache that readiness checks.
type syncer interface {
	WaitForCacheSync(ctx context.Context) bool
}

// syncTimeout makes readiness answer before a probe gives up.
const syncTimeout = 2 * time.Second

func cachesSynced(caches syncer) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), syncTimeout)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("caches are not filled yet")
		}
		return nil
	}
}

// kindWatch logs what a failing probe cannot say: which kinds are missing and what to do. It logs once, and
// again when the kinds exist.
type kindWatch struct {
	mapper meta.RESTMapper
	clock  clock.WithTicker
	log    logr.Logger
}

// kindPeriod is how often missing kinds are checked.
const kindPeriod = 10 * time.Second

// NeedLeaderElection is false because a standby needs the kinds as well.
func (w kindWatch) NeedLeaderElection() bool { return false }

// Start checks until the kinds exist, and then returns.
func (w kindWatch) Start(ctx context.Context) error {
	ticker := w.clock.NewTicker(kindPeriod)
	defer ticker.Stop()
	for told := ""; ; {
		err := findKinds(w.mapper)
		if err == nil {
			w.log.Info("the cluster serves every kind that is needed")
			return nil
		}
		if text := err.Error(); text != told {
			w.log.Error(err, "not ready")
			told = text
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}
