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

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/settings"
)

// refusing is an API server that answers lists of quotas with an error.
type refusing struct {
	client.Reader
	err error
}

func (r refusing) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list.(type) {
	case *corev1.ResourceQuotaList, *tenonv1alpha1.NodeGroupList:
		return r.err
	}
	return nil
}

// TestKindsThatMayNotBeReadAreLeftOut: with a role for another autoscaler the process does not wait
// for ever for kinds that it may not read, and names them. After a temporary error all kinds are
// read.
func TestKindsThatMayNotBeReadAreLeftOut(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "some"}, "", errors.New("no role"))
	for name, tc := range map[string]struct {
		err    error
		groups bool
		want   string
		told   int
	}{
		"all may be read":          {nil, false, "*v1.ResourceQuota *v1.LimitRange *v1.Deployment", 0},
		"quotas may not":           {forbidden, false, "*v1.LimitRange *v1.Deployment", 1},
		"the server is restarting": {errors.New("connection refused"), false, "*v1.ResourceQuota *v1.LimitRange *v1.Deployment", 0},
		"node groups, too":         {nil, true, "*v1.ResourceQuota *v1.LimitRange *v1.Deployment *v1alpha1.NodeGroup", 0},
		"node groups may not":      {forbidden, true, "*v1.LimitRange *v1.Deployment", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
			var kinds []string
			for _, kind := range readable(t.Context(), refusing{err: tc.err}, settings.Settings{FeatureGates: settings.FeatureGates{NodeGroups: tc.groups}}, log) {
				kinds = append(kinds, fmt.Sprintf("%T", kind))
			}
			if got := strings.Join(kinds, " "); got != tc.want || len(lines) != tc.told {
				t.Errorf("reads %s, want %s; said %q", got, tc.want, lines)
			}
		})
	}
}
