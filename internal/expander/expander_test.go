package expander_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/decide"
	"tenon/core/expand"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/expander"
	"tenon/internal/testing/harness"
)

// choosing are two groups, of which each has room for two of three pending pods.
func choosing() *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Now:      time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC),
		Settings: snapshot.Settings{WellKnown: requirement.Core().WellKnown(), Expanders: []string{expand.GRPC}},
		Templates: []snapshot.Template{{Namespace: "default", Labels: map[string]string{"app": "web"},
			Requests: model.Resources{CPU: 1000, Memory: 1 << 30, Pods: 1}}},
	}
	for i, name := range []string{"a", "b"} {
		s.Catalogs = append(s.Catalogs, catalog.Catalog{Types: []catalog.Type{{
			Name: "m5.large", Capacity: model.Resources{CPU: 2000, Memory: 8 << 30, Pods: 20},
			Offerings: []catalog.Offering{{Zone: "a", CapacityType: catalog.OnDemand, Price: 96_000, Available: true}},
		}}})
		s.Pools = append(s.Pools, snapshot.Pool{Name: snapshot.GroupPool(name), Catalog: snapshot.CatalogIndex(i),
			Group: &snapshot.Group{Name: name, ScaleDown: &snapshot.ScaleDown{}}, Limits: []model.Amount{{Name: model.Nodes, Value: 1}}})
	}
	for i := range 3 {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprint("web-", i), UID: fmt.Sprint(i), Pending: true})
	}
	return s
}

// server answers with these groups, or fails, and notes what it was asked.
type server struct {
	keeps []string
	err   error
	asked []string
}

// BestOptions implements expander.Server.
func (s *server) BestOptions(ctx context.Context, r expander.Request) ([]string, error) {
	if _, limited := ctx.Deadline(); !limited {
		return nil, errors.New("the question has no time limit")
	}
	var out []string
	for _, o := range r.Options {
		text := fmt.Sprintf("%s %d", o.Group, o.Nodes)
		for _, p := range o.Pods {
			text += " " + p.Name
		}
		if node := r.Nodes[o.Group]; node != nil {
			text += " on " + node.Status.Allocatable.Cpu().String()
		}
		out = append(out, text)
	}
	s.asked = append(s.asked, strings.Join(out, ", "))
	return s.keeps, s.err
}

// A server is asked with the pods and the next nodes that exist, and its answer decides. If it fails, all groups stay and the
// error says why.
func TestAnswer(t *testing.T) {
	t.Parallel()
	objects := func() []client.Object {
		return []client.Object{
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}},
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}},
			&tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "b-object"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "b"}, Status: tenonv1alpha1.NodeGroupStatus{
				Template: &tenonv1alpha1.NodeGroupTemplate{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("2")}}}},
		}
	}
	question := []string{"a 1 web-0 web-1, b 1 web-0 web-1 on 2"}
	for name, tc := range map[string]struct {
		server server
		first  string // the group that gets two pods
		fails  bool
	}{
		"it keeps one": {server: server{keeps: []string{"b"}}, first: "b"},
		"the other":    {server: server{keeps: []string{"a"}}, first: "a"},
		"it fails":     {server: server{err: errors.New("no idea")}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given, h := choosing(), harness.New(t, memory.Options{}, objects()...)
			asker := expander.Asker{Server: &tc.server, Reader: h.API}
			s, err := asker.Answer(t.Context(), given, decide.Budget{})
			if (err != nil) != tc.fails {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(question, tc.server.asked); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
			if len(given.Answers) > 0 {
				t.Error("the given snapshot has answers")
			}
			for _, c := range decide.Decide(s, decide.Budget{}).Plan.Claims {
				if len(c.Pods) == 2 && c.Group != tc.first && tc.first != "" {
					t.Errorf("group %s grows first, want %s", c.Group, tc.first)
				}
			}
		})
	}
}
