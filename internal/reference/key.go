package reference

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/label"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/internal/departure"
	"tenon/internal/ingest"
	"tenon/internal/market/publication"
	"tenon/internal/podpolicy"
	"tenon/internal/rolloutpace"
	"tenon/internal/savings"
	"tenon/internal/surge"
)

// KeyKind says what kind of entry a key belongs to, such as a label.
type KeyKind string

// Kinds, in the order of the page's sections.
const (
	Label      KeyKind = "Labels of nodes"
	Annotation KeyKind = "Annotations"
	Taint      KeyKind = "Taints"
	Finalizer  KeyKind = "Finalizers"
	Tag        KeyKind = "Tags in the cloud"
	Other      KeyKind = "Labels of other objects"
)

// Key is one that Tenon reads or writes.
type Key struct {
	Kind KeyKind
	Name string
	// On are the objects that have it, By is its writer.
	On, By  string
	Meaning string
}

const (
	byTenon = "Tenon"
	byYou   = "you"
)

// Keys are the keys that Tenon has with every cloud.
func Keys() []Key {
	onClaims := func(name, meaning string) Key { return Key{Annotation, name, "claims", byTenon, meaning} }
	onPools := func(name, meaning string) Key { return Key{Annotation, name, "pools", byYou, meaning} }
	kept := func(name, meaning string) Key { return Key{Annotation, name, "pools", byTenon, meaning} }
	label := func(name, by, meaning string) Key { return Key{Label, name, "nodes, claims", by, meaning} }
	return []Key{
		label(karpenterv1.LabelNodePool, byTenon, "name of the pool"),
		label(karpenterv1.LabelCapacityType, byTenon, "`on-demand`, `spot` or `reserved`"),
		label(corev1.LabelTopologyZone, "kubelet, Tenon", "zone"),
		label(corev1.LabelTopologyRegion, "kubelet, Tenon", "region"),
		label(corev1.LabelInstanceTypeStable, "kubelet, Tenon", "instance type"),
		label(corev1.LabelArchStable, "kubelet, Tenon", "`amd64` or `arm64`"),
		label(corev1.LabelOSStable, "kubelet, Tenon", "`linux` or `windows`"),
		label(corev1.LabelWindowsBuild, "kubelet, Tenon", "build of Windows, such as `10.0.20348`"),
		{Label, karpenterv1.LabelRegistered, "nodes", byTenon, "`true` when the machine has joined the cluster and has the labels and taints of its claim"},
		{Label, karpenterv1.LabelInitialized, "nodes", byTenon, "`true` when the node is Ready, its startup taints are gone and its resources are there"},
		{Label, karpenterv1.LabelDoNotSyncTaints, "nodes", "bootstrap", "`true`: the bootstrap has put the taints on the node, and Tenon adds none"},
		{Label, karpenterv1.LabelExcludeFromBalancers, "nodes", byTenon, "the node is being removed: load balancers send it no new connections"},

		{Annotation, karpenterv1.AnnotationDoNotDisrupt, "pods, nodes, claims, a pool's template", byYou, "`true`, or a duration on a pod: no voluntary [disruption](disruption.md) removes the node, or the node of the pod"},
		{Annotation, podpolicy.AnnotationSafeToEvict, "pods", byYou, "`false`: the same as `karpenter.sh/do-not-disrupt: \"true\"`. Tenon ignores other values"},
		{Annotation, ingest.AnnotationScaleDownDisabled, "nodes", byYou, "`true`: the same as `karpenter.sh/do-not-disrupt: \"true\"`"},
		{Annotation, surge.Annotation, "the pod template of a Deployment", byYou, "`true`: a [replacement](draining.md) has to be Ready before a pod goes"},
		onPools(karpenterv1.AnnotationNodePrice, "what each node costs beyond its machine, in dollars an hour ([pools](pools.md))"),
		onPools(karpenterv1.AnnotationPriceCeiling, "how many times the price of the cheapest machine a node may cost while that machine is out of stock ([pools](pools.md))"),
		onPools(karpenterv1.AnnotationDriftAtLimit, "`DeleteFirst` or `Wait`: what happens to drifted nodes where limits leave no room for a replacement ([roll-outs](rollouts.md#pools-at-their-limit))"),
		{Annotation, karpenterv1.AnnotationChangedByHand, "nodes, claims, pools, node groups", "`tenon view`", "when, by whom and how the object was last [changed in the viewer](view.md#change)"},
		{Annotation, karpenterv1.AnnotationNodePoolHash, "pools, claims", byTenon, "hash of the template; drift is where pool and claim differ"},
		{Annotation, karpenterv1.AnnotationNodePoolHashVersion, "pools, claims", byTenon, "version of the way in which the hash is computed; if it differs, Tenon writes the hashes of claims anew, and the claims do not drift"},
		kept(rolloutpace.Annotation, "state of the [roll-out](rollouts.md); removing it restarts the roll-out"),
		kept(savings.Annotation, "what moves have [saved](rollouts.md#what-moves-save-and-caution); removing it resets the record"),
		onClaims(karpenterv1.AnnotationTerminationTimestamp, "when drain ends and pods are deleted, as RFC 3339"),
		onClaims(karpenterv1.AnnotationMinValuesRelaxed, "`true`: fewer different types were left than `minValues` asks for"),
		onClaims(karpenterv1.AnnotationPriceOverlayApplied, "`true`: a NodeOverlay changed the price"),
		onClaims(karpenterv1.AnnotationCapacityOverlayApplied, "`true`: a NodeOverlay changed the resources"),
		onClaims(karpenterv1.AnnotationRequestedDRADrivers, "Karpenter's; Tenon neither reads nor writes it"),
		onClaims(karpenterv1.AnnotationProviderCompatibility, "Karpenter's; Tenon neither reads nor writes it"),
		onClaims(karpenterv1.AnnotationDisruption, "the disruption that is under way, so that another replica can continue it"),
		onClaims(karpenterv1.AnnotationPrice, "what the machine cost an hour when it was bought"),
		{Annotation, departure.AnnotationEnds, "claims, nodes of groups", byTenon, "when the cloud takes the machine away, as RFC 3339"},
		onClaims(ingest.AnnotationRearranged, "when disruptions brought pods to the node; such pods are not moved again for a while"),
		{Annotation, surge.AnnotationFor, "pods", byTenon, "UID of the pod that this one replaces"},
		{Annotation, tenonv1alpha1.AnnotationGroup, "nodes", byTenon, "name of the [node group](node-groups.md)"},
		{Annotation, tenonv1alpha1.AnnotationJoined, "nodes", byTenon, "the node of a group has been Ready, or has had enough time to become Ready"},
		{Annotation, tenonv1alpha1.AnnotationLastPodEvent, "nodes", byTenon, "when a pod last came to the node of a group or left it, as RFC 3339"},
		{Annotation, tenonv1alpha1.AnnotationEnded, "nodes", byTenon, "the cloud was told to end the instance of a node of a group"},
		{Annotation, tenonv1alpha1.AnnotationDelayed, "nodes", byTenon, "since when an annotation `delay-deletion.cluster-autoscaler.kubernetes.io/…` keeps the instance of a drained node of a group, as RFC 3339"},
		{Annotation, tenonv1alpha1.AnnotationEvicting, "nodes", byTenon, "since when pods of a node of a group in [mode `cas`](node-groups.md#mode-cas) are to be evicted that have not begun to leave, and whether this was reported"},
		{Annotation, tenonv1alpha1.AnnotationHandoverPaused, "node groups", byYou, "`true`: no further node of a group in [mode `handover`](node-groups.md#handing-over-to-pools) is replaced"},
		{Annotation, tenonv1alpha1.AnnotationCordoned, "nodes", byTenon, "Tenon cordoned the node of a group in order to remove it, and uncordons it if it stays after all"},
		{Annotation, departure.AnnotationDaemonEviction, "pods", byYou, "`true` or `false`: whether the pod of a DaemonSet is evicted when a node of a group in [mode `cas`](node-groups.md#mode-cas) is removed"},
		{Annotation, karpenterv1.AnnotationBufferFakePod, "pods of plans", byTenon, "the pod stands for a part of a [buffer](buffers.md); the API server has no such pod"},
		{Annotation, karpenterv1.AnnotationBufferName, "pods of plans", byTenon, "name of that buffer"},
		{Annotation, karpenterv1.AnnotationBufferNamespace, "pods of plans", byTenon, "namespace of that buffer"},
		{Annotation, publication.AnnotationAt, "ConfigMap `tenon-market`", byTenon, "when prices and stock were written, as RFC 3339"},

		{Taint, karpenterv1.TaintDisrupted().Key, "nodes", byTenon, "`NoSchedule`: the node is about to be disrupted, or is being removed"},
		{Taint, model.KeyNotReceiving, "nodes", byTenon, "`PreferNoSchedule`: moved pods are planned on other nodes; for some seconds, while [pods move](disruption.md#what-is-promised)"},
		{Taint, tenonv1alpha1.TaintHandover, "nodes", byTenon, "`PreferNoSchedule`: a pool is to replace the node of a group in [mode `handover`](node-groups.md#handing-over-to-pools)"},
		{Taint, karpenterv1.TaintUnregistered().Key, "nodes", "bootstrap", "`NoExecute` until the node is registered; Tenon removes it"},

		{Finalizer, karpenterv1.FinalizerTermination, "nodes, claims", byTenon, "the object stays until the node is drained and the instance is gone"},

		{Other, publication.Label, "ConfigMap `tenon-market`", byTenon, "`market`: where `tenon plan` and the dashboard find prices and stock"},
	}
}

// Labels are the rules about labels, with those that a cloud adds.
func Labels(cloud label.Data) label.Rules { return label.Join(karpenterv1.Labels(), cloud) }

// LabelsPage is the page docs/reference/labels.md, with what a cloud adds. Aliases are other names of labels.
func LabelsPage(keys []Key, aliases map[string]string) string {
	var page strings.Builder
	page.WriteString(generated + labelsHead)
	for _, kind := range []KeyKind{Label, Annotation, Taint, Finalizer, Tag, Other} {
		page.WriteString(heading(string(kind), "key", "on", "written by", "meaning"))
		for _, k := range keys {
			if k.Kind == kind {
				fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", k.Name, k.On, k.By, cell(k.Meaning))
			}
		}
		if kind == Label {
			page.WriteString(otherNames(aliases))
		}
	}
	return page.String()
}

const labelsHead = `# Labels, annotations, taints, finalizers

Every key that Tenon reads or writes. Keys with ` + "`karpenter.sh` or `karpenter.k8s.aws`" + ` are Karpenter's and mean the same; those with ` + "`tenon.sh`" + ` are Tenon's own. You may
select nodes by each label of the first table, in pods and in the requirements of pools, even if the pool does not name it. Your own labels belong in ` + "`spec.template.metadata.labels`" + ` of a pool.
`

func otherNames(aliases map[string]string) string {
	var text strings.Builder
	text.WriteString("\nThese names are read as others:\n\n| key | read as |\n| --- | --- |\n")
	for _, alias := range order.Keys(aliases) {
		fmt.Fprintf(&text, "| `%s` | `%s` |\n", alias, aliases[alias])
	}
	return text.String()
}
