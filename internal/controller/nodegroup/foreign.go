package nodegroup

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/reconcile"
)

// leaseFresh is how long after its last renewal a Lease proves that its holder runs.
const leaseFresh = time.Minute

// Reasons of the condition ForeignAutoscalerActive.
const (
	reasonNoneSeen   = "NoneSeen"
	reasonDeployment = "DeploymentRuns"
	reasonLease      = "LeaseRenewed"
	reasonNotSeen    = "AutoscalersNotRead"
)

// foreign is what was seen of Cluster Autoscalers.
type foreign struct {
	err         error // why they could not be looked for
	deployments []autoscaler
	holder      string // the holder that renews the Lease; empty if it is not renewed
}

// autoscaler is a Deployment of Cluster Autoscaler that is not scaled to 0.
type autoscaler struct {
	name string
	// groups are those of --nodes. All is set if its flags do not settle which groups it changes.
	groups map[string]bool
	all    bool
}

// lookForeign looks for Cluster Autoscalers. It reads their Lease from the API server, because the cache has only the Leases of nodes.
func (w watcher) lookForeign(ctx context.Context) (f foreign) {
	var deployments appsv1.DeploymentList
	if err := w.kit.Client.List(ctx, &deployments); err != nil {
		return foreign{err: fmt.Errorf("list deployments: %w", err)}
	}
	for i := range deployments.Items {
		if a, is := autoscalerOf(&deployments.Items[i]); is {
			f.deployments = append(f.deployments, a)
		}
	}
	var lease coordinationv1.Lease
	err := w.kit.Uncached(reconcile.Unwatched).Get(ctx, client.ObjectKey{Namespace: clusterautoscaler.Namespace, Name: clusterautoscaler.Name}, &lease)
	if client.IgnoreNotFound(err) != nil {
		return foreign{err: fmt.Errorf("read the lease of Cluster Autoscaler: %w", err)}
	}
	if s := lease.Spec; err == nil && s.HolderIdentity != nil && s.RenewTime != nil && w.kit.Clock.Since(s.RenewTime.Time) <= leaseFresh {
		f.holder = *s.HolderIdentity
	}
	return f
}

// autoscalerOf reads a Deployment, and reports whether it runs Cluster Autoscaler.
func autoscalerOf(d *appsv1.Deployment) (autoscaler, bool) {
	command, is := clusterautoscaler.CommandOf(d)
	if !is || clusterautoscaler.Stopped(d) {
		return autoscaler{}, false
	}
	a := autoscaler{name: d.Namespace + "/" + d.Name, groups: map[string]bool{}}
	named := command.Values("nodes")
	a.all = len(named) == 0 || len(command.Values("node-group-auto-discovery")) > 0
	for _, text := range named {
		parts := strings.SplitN(text, ":", 3)
		a.all = a.all || len(parts) != 3
		a.groups[parts[len(parts)-1]] = true
	}
	return a, true
}

// on says why a Cluster Autoscaler may change a group, with a remedy; the reason is empty if none does. A Lease counts if no
// Deployment says which groups its holder has: the holder may run outside of the cluster, or be shutting down.
func (f *foreign) on(group string) (reason, text string) {
	for _, a := range f.deployments {
		if a.all || a.groups[group] {
			return reasonDeployment, withRemedy("Cluster Autoscaler runs as Deployment "+a.name+" and may change this group", "scale it to 0, or have its flags name other groups alone, with --nodes")
		}
	}
	if f.holder != "" && len(f.deployments) == 0 {
		return reasonLease, withRemedy(fmt.Sprintf("%s renews the Lease %s/%s of Cluster Autoscaler", f.holder, clusterautoscaler.Namespace, clusterautoscaler.Name), "stop it; a minute after the last renewal the group is free")
	}
	return "", ""
}

// tellActive writes into an object whether a Cluster Autoscaler runs that may change its group.
func tellActive(o *tenonv1alpha1.NodeGroup, f *foreign, now time.Time) {
	set := conditions.Read(o.Status.Conditions, condition.SubjectOf(o), now)
	reason, text := f.on(o.Spec.GroupName)
	switch {
	case f.err != nil:
		set.SetUnknown(tenonv1alpha1.ConditionForeignAutoscaler, reasonNotSeen, withRemedy(f.err.Error(), "see whether the controller's role has the rights of its chart"))
	case reason != "":
		set.SetTrueBecause(tenonv1alpha1.ConditionForeignAutoscaler, reason, text)
	default:
		set.SetFalse(tenonv1alpha1.ConditionForeignAutoscaler, reasonNoneSeen, "no Cluster Autoscaler is alive that may change this group")
	}
	o.Status.Conditions = set.List()
}
