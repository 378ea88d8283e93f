package preflight

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/settings"
)

const checkRights = "rights"

// Right is something that the controller does at the API server.
type Right struct {
	Verb, Group, Resource, Subresource string
	// Namespace and Name are set where the right is needed for these alone.
	Namespace, Name string
}

// String is the right as kubectl auth can-i has it.
func (r Right) String() string {
	what := r.Resource
	if r.Group != "" {
		what += "." + r.Group
	}
	if r.Subresource != "" {
		what += "/" + r.Subresource
	}
	if r.Name != "" {
		what += " " + r.Name
	}
	if r.Namespace != "" {
		what += " in " + r.Namespace
	}
	return r.Verb + " " + what
}

// grant is several rights: verbs separated by blanks, resources as in a role.
type grant struct {
	group, resources, verbs string
	namespace, name         string
}

// release is where the controller is installed; it stands for that namespace in rules.
const release = "RELEASE"

// Rights are what the controller needs with its settings, in the namespace where it is installed. A test holds
// them against the roles of the chart, in both directions.
func Rights(s settings.Settings, namespace string) []Right {
	rules := []grant{
		{group: "karpenter.k8s.aws", resources: "ec2nodeclasses", verbs: "list watch patch"},
		{group: "karpenter.k8s.aws", resources: "ec2nodeclasses/status", verbs: "patch"},
		{group: "karpenter.sh", resources: "nodepools", verbs: "get list watch patch"},
		{group: "karpenter.sh", resources: "nodeclaims", verbs: "get list watch create patch delete"},
		{group: "karpenter.sh", resources: "nodepools/status nodeclaims/status", verbs: "patch"},
		{group: "karpenter.sh", resources: "nodepools/finalizers nodeclaims/finalizers", verbs: "update"},
		{resources: "nodes", verbs: "get list watch patch delete"},
		{resources: "pods", verbs: "list watch delete"},
		{resources: "pods/eviction", verbs: "create"},
		{resources: "pods/status", verbs: "patch"},
		{resources: "persistentvolumes persistentvolumeclaims namespaces services replicationcontrollers resourcequotas limitranges", verbs: "list watch"},
		{resources: "events", verbs: "create patch"},
		{group: "storage.k8s.io", resources: "storageclasses csinodes volumeattachments", verbs: "list watch"},
		{group: "apps", resources: "daemonsets statefulsets", verbs: "list watch"},
		{group: "apps", resources: "replicasets", verbs: "get list watch"},
		{group: "apps", resources: "deployments", verbs: "get list watch patch"},
		{group: "policy", resources: "poddisruptionbudgets", verbs: "list watch"},
		{resources: "services", verbs: "get", namespace: "kube-system", name: "kube-dns"},
		{resources: "configmaps", verbs: "get create update", namespace: release},
	}
	if s.FeatureGates.NodeOverlay {
		rules = append(rules, grant{group: "karpenter.sh", resources: "nodeoverlays", verbs: "list watch"},
			grant{group: "karpenter.sh", resources: "nodeoverlays/status", verbs: "patch"})
	}
	if s.FeatureGates.CapacityBuffer {
		rules = append(rules, grant{group: "autoscaling.x-k8s.io", resources: "capacitybuffers", verbs: "list watch"},
			grant{group: "autoscaling.x-k8s.io", resources: "capacitybuffers/status", verbs: "patch"})
	}
	if s.ProvisioningRequests.Enabled {
		rules = append(rules, grant{group: "autoscaling.x-k8s.io", resources: "provisioningrequests", verbs: "list watch"},
			grant{group: "autoscaling.x-k8s.io", resources: "provisioningrequests/status", verbs: "patch"})
	}
	if s.FeatureGates.CapacityBuffer || s.ProvisioningRequests.Enabled {
		rules = append(rules, grant{resources: "podtemplates", verbs: "list watch"})
	}
	if s.FeatureGates.NodeGroups {
		rules = append(rules, grant{group: "tenon.sh", resources: "nodegroups", verbs: "get list watch create delete"},
			grant{group: "tenon.sh", resources: "nodegroups/status", verbs: "patch"},
			grant{group: "coordination.k8s.io", resources: "leases", verbs: "get", namespace: "kube-system", name: "cluster-autoscaler"},
			grant{resources: "configmaps", verbs: "get", namespace: "kube-system", name: "cluster-autoscaler-priority-expander"},
			grant{resources: "configmaps", verbs: "get update", namespace: "kube-system", name: "cluster-autoscaler-status"},
			grant{resources: "configmaps", verbs: "create", namespace: "kube-system"})
	}
	if s.DashboardListen != "" {
		rules = append(rules, grant{resources: "events", verbs: "list watch"}, grant{group: "metrics.k8s.io", resources: "nodes", verbs: "list"})
		if !s.FeatureGates.NodeGroups { // objects may be left from before
			rules = append(rules, grant{group: "tenon.sh", resources: "nodegroups", verbs: "list watch"})
		}
	}
	if !s.DisableLeaderElection {
		rules = append(rules, grant{group: "coordination.k8s.io", resources: "leases", verbs: "get update", namespace: release, name: s.LeaderElectionName},
			grant{group: "coordination.k8s.io", resources: "leases", verbs: "create", namespace: release})
	}
	var rights []Right
	for _, r := range rules {
		rights = append(rights, r.rights(namespace)...)
	}
	if s.Shadow() {
		rights = slices.DeleteFunc(rights, func(r Right) bool { return !r.shadow() })
	}
	return rights
}

// shadow reports whether the right is needed in shadow mode too: it reads for the picture, or keeps the Lease.
func (r Right) shadow() bool {
	return r.Verb == "list" || r.Verb == "watch" || r.Resource == "leases" || r.Resource == "services"
}

func (r grant) rights(namespace string) []Right {
	if r.namespace == release {
		r.namespace = namespace
	}
	var list []Right
	for resource := range strings.FieldsSeq(r.resources) {
		name, sub, _ := strings.Cut(resource, "/")
		for verb := range strings.FieldsSeq(r.verbs) {
			list = append(list, Right{Verb: verb, Group: r.group, Resource: name, Subresource: sub, Namespace: r.namespace, Name: r.name})
		}
	}
	return list
}

// judgeRights says which rights are missing.
func judgeRights(subject string, asked int, denied []Right) []Finding {
	if len(denied) == 0 {
		return []Finding{{Check: checkRights, Level: OK, Text: fmt.Sprintf("%s has all %d rights", subject, asked)}}
	}
	const remedy = "install the roles of the chart (charts/tenon/templates/rbac.yaml), and see that a binding names this account"
	if len(denied) == asked {
		return []Finding{{checkRights, Failed, fmt.Sprintf("%s has none of the %d rights", subject, asked), "the controller can do nothing in this cluster", remedy}}
	}
	var findings []Finding
	for _, r := range denied {
		findings = append(findings, Finding{checkRights, Failed, fmt.Sprintf("%s may not %s", subject, r), meaning(r), remedy})
	}
	return findings
}

// meaning is what does not work without a right.
func meaning(r Right) string {
	switch {
	case r.Resource == "leases":
		return "the controller never leads, and does nothing"
	case r.Subresource == "status" && r.Resource == "pods":
		return "pods are bound wherever there is room first, which may not be where they were planned"
	case r.Resource == "events" && r.Verb != "create" && r.Verb != "patch":
		return "the dashboard shows no events"
	case r.Verb == "list" || r.Verb == "watch":
		return "the controller's picture of the cluster is never complete, so that it decides nothing"
	case r.Subresource == "eviction" || r.Resource == "pods":
		return "nodes that go are never empty, and stay"
	case r.Resource == "nodeclaims" && r.Verb == "create":
		return "no node is bought"
	case r.Resource == "events":
		return "people are not told why"
	case r.Resource == "configmaps":
		return "what was learned about the memory of machines is lost with a restart"
	}
	return "what the controller decides about these objects cannot be carried out"
}
