package whatif

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// with adds or replaces pools, workloads, pods and DaemonSets. They are read like manifests.
func (c *attempt) with(t *Trial, given *ingest.Objects) error {
	if err := refuse(given); err != nil {
		return err
	}
	objects := ingest.Objects{NodePools: given.NodePools, Pods: given.Pods, DaemonSets: given.DaemonSets}
	if t.Around != nil {
		objects.NodeClasses = t.Around.NodeClasses
		objects.Others = surroundings(t.Around.Others)
	}
	for _, other := range given.Others {
		object, of := fresh(other)
		objects.Others = append(objects.Others, object)
		if of.Kind != "" {
			c.withoutPods(of)
		}
	}
	catalogs := map[string]snapshot.CatalogIndex{}
	options := t.Options
	options.Now, options.Settings, options.Files, options.Overlays, options.Buffers = c.out.Now, c.out.Settings, true, false, false
	options.Bookings = ingest.Bookings{}
	options.Catalog = func(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error) {
		at, err := c.catalogOf(pool, class, t.Options)
		if err != nil {
			return nil, err
		}
		catalogs[pool.Name] = at
		return &c.out.Catalogs[at], nil
	}
	made := ingest.Build(&objects, options)
	c.addPools(made, catalogs, given.NodePools, options)
	c.addPods(made)
	return nil
}

// refuse names the objects that cannot be tried.
func refuse(given *ingest.Objects) error {
	kind, name := "", ""
	switch {
	case len(given.Nodes) > 0:
		kind, name = "Node", given.Nodes[0].Name
	case len(given.NodeClaims) > 0:
		kind, name = "NodeClaim", given.NodeClaims[0].Name
	case len(given.Overlays) > 0:
		kind, name = "NodeOverlay", given.Overlays[0].Name
	}
	for ref := range given.NodeClasses {
		kind, name = ref.Kind, ref.Name
	}
	for _, o := range given.Others {
		switch o.(type) {
		case *policyv1.PodDisruptionBudget:
			kind, name = "PodDisruptionBudget", o.GetName()
		case *autoscalingv1beta1.CapacityBuffer:
			kind, name = "CapacityBuffer", o.GetName()
		}
	}
	if kind == "" {
		return nil
	}
	return fmt.Errorf("--with takes pools, workloads, pods and DaemonSets, with what those refer to, and no %s (%s): make two plans with -f, and compare them", kind, name)
}

// surroundings are the objects of a cluster that pods refer to.
func surroundings(others []metav1.Object) []metav1.Object {
	return slices.DeleteFunc(slices.Clone(others), func(o metav1.Object) bool {
		_, of := fresh(o)
		return of.Kind != ""
	})
}

// fresh is a workload without a status, since all of its pods are to be created, and its name. Other
// objects are unchanged.
func fresh(o metav1.Object) (metav1.Object, Object) {
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	named := func(kind string) Object { return Object{Kind: kind, Namespace: namespace, Name: o.GetName()} }
	switch o := o.(type) {
	case *appsv1.Deployment:
		out := *o
		out.Status = appsv1.DeploymentStatus{}
		return &out, named("Deployment")
	case *appsv1.StatefulSet:
		out := *o
		out.Status = appsv1.StatefulSetStatus{}
		return &out, named("StatefulSet")
	case *appsv1.ReplicaSet:
		out := *o
		out.Status = appsv1.ReplicaSetStatus{}
		return &out, named("ReplicaSet")
	case *corev1.ReplicationController:
		out := *o
		out.Status = corev1.ReplicationControllerStatus{}
		return &out, named("ReplicationController")
	case *batchv1.Job:
		out := *o
		out.Status = batchv1.JobStatus{}
		return &out, named("Job")
	}
	return o, Object{}
}

// catalogOf is the index of a pool's catalogue: that of a pool with the same node class or, if there is
// none, that of the market.
func (c *attempt) catalogOf(pool *karpenterv1.NodePool, class metav1.Object, options ingest.Options) (snapshot.CatalogIndex, error) {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if ref == nil {
		return 0, errors.New("spec.template.spec.nodeClassRef is missing")
	}
	best := snapshot.CatalogIndex(-1)
	for i := range c.out.Pools {
		p := &c.out.Pools[i]
		if p.Labels[karpenterv1.NodeClassLabel(ref.Group, ref.Kind)] == ref.Name && (best < 0 || p.Name == pool.Name) {
			best = p.Catalog
		}
	}
	if best >= 0 {
		return best, nil
	}
	if options.Catalog == nil {
		return 0, fmt.Errorf("no pool of the snapshot has the node class %s: what it sells is not known", ref.Name)
	}
	found, err := options.Catalog(pool, class)
	if err != nil {
		return 0, err
	}
	return c.out.AddCatalog(found), nil
}

// addPools adds or replaces pools. A pool of the same name keeps what was learned about it.
func (c *attempt) addPools(made *snapshot.Snapshot, catalogs map[string]snapshot.CatalogIndex, given []*karpenterv1.NodePool, options ingest.Options) {
	nodes := ingest.InService(c.out.Nodes)
	reader := ingest.NewTranslator(ingest.NewIndex(), options)
	for i := range made.Pools {
		p := made.Pools[i]
		var sold bool
		if p.Catalog, sold = catalogs[p.Name]; !sold { // its reason says why nothing can be bought from it
			p.Catalog = c.out.AddCatalog(&catalog.Catalog{})
		}
		for _, pool := range given {
			if pool.Name == p.Name {
				reader.Allow(pool, nodes[p.Name], &p.Consolidation)
			}
		}
		at := slices.IndexFunc(c.out.Pools, func(old snapshot.Pool) bool { return old.Name == p.Name })
		if at < 0 {
			c.out.Pools = append(c.out.Pools, p)
			continue
		}
		old := &c.out.Pools[at]
		p.Consolidation.Caution, p.Consolidation.Pace = old.Consolidation.Caution, old.Consolidation.Pace
		if p.NodePrice == 0 { // it may be the controller's setting, which a snapshot has on its pools alone
			p.NodePrice = old.NodePrice
		}
		*old = p
	}
	slices.SortStableFunc(c.out.Pools, func(a, b snapshot.Pool) int { return strings.Compare(a.Name, b.Name) })
}

// addPods adds pods and daemons, with their templates.
func (c *attempt) addPods(made *snapshot.Snapshot) {
	first := snapshot.TemplateIndex(len(c.out.Templates))
	c.out.Templates = append(c.out.Templates, made.Templates...)
	again := map[string]bool{}
	for i := range made.Pods {
		again[made.Pods[i].Key()] = true
	}
	c.out.Pods = slices.DeleteFunc(c.out.Pods, func(p snapshot.Pod) bool { return again[p.Key()] })
	for i := range made.Pods {
		p := made.Pods[i]
		p.Template += first
		c.out.Pods = append(c.out.Pods, p)
	}
	for i := range made.Daemons {
		d := made.Daemons[i]
		d.Template += first
		c.out.Daemons = slices.DeleteFunc(c.out.Daemons, func(old snapshot.Daemon) bool { return old.Namespace == d.Namespace && old.Name == d.Name })
		c.out.Daemons = append(c.out.Daemons, d)
	}
}
