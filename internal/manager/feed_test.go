package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusing is an API server that answers lists of quotas with an error.
type refusing struct {
	client.Reader
	err error
}

func (r refusing) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if _, quotas := list.(*corev1.ResourceQuotaList); quotas {
		return r.err
	}
	return nil
}

// TestKindsThatMayNotBeReadAreLeftOut: with a role that was written for another autoscaler the
// process does not wait for ever for what it may not see, and says what it lacks. An error that may
// pass leaves nothing out.
func TestKindsThatMayNotBeReadAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want string
		told int
	}{
		"all may be read":          {nil, "*v1.ResourceQuota *v1.LimitRange *v1.Deployment", 0},
		"quotas may not":           {apierrors.NewForbidden(schema.GroupResource{Resource: "resourcequotas"}, "", errors.New("no role")), "*v1.LimitRange *v1.Deployment", 1},
		"the server is restarting": {errors.New("connection refused"), "*v1.ResourceQuota *v1.LimitRange *v1.Deployment", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
			var kinds []string
			for _, kind := range readable(t.Context(), refusing{err: tc.err}, log) {
				kinds = append(kinds, fmt.Sprintf("%T", kind))
			}
			if got := strings.Join(kinds, " "); got != tc.want || len(lines) != tc.told {
				t.Errorf("reads %s, want %s; said %q", got, tc.want, lines)
			}
		})
	}
}
