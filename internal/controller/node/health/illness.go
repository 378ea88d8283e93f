package health

import (
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/telemetry"
)

// illness is an unhealthy condition of a node.
type illness struct {
	Condition string
	// Over is when the provider's patience with it ends.
	Over time.Time
}

// diagnose finds the illness of a node with which patience ends first. Of several that end
// at the same time it is the one that the provider names first.
func diagnose(policies []cloud.RepairPolicy, node *corev1.Node) (illness, bool) {
	var worst illness
	found := false
	for _, policy := range policies {
		for _, c := range node.Status.Conditions {
			if string(c.Type) != policy.Condition || string(c.Status) != policy.Status {
				continue
			}
			if over := c.LastTransitionTime.Add(policy.Toleration); !found || over.Before(worst.Over) {
				worst, found = illness{Condition: policy.Condition, Over: over}, true
			}
		}
	}
	return worst, found
}

// nodeGroup is the nodes among which an ill one is counted.
type nodeGroup struct {
	// pool is nil for the whole cluster.
	pool       *karpenterv1.NodePool
	nodes, ill int
}

// mostIll is how many of a hundred nodes may be ill. If more are, the cause is hardly the
// nodes.
const mostIll = 20

// mayLose reports whether few enough nodes are ill. It rounds up, so that one node may be
// lost however few there are.
func (w nodeGroup) mayLose() bool { return w.ill <= (w.nodes*mostIll+99)/100 }

// rareBlocked bounds how often a breaker is announced.
const rareBlocked = 15 * time.Minute

// blocked says on everything concerned that the breaker holds. The spelling of the first
// text is the one that people's alerts look for.
func blocked(w nodeGroup, node *corev1.Node, claim *karpenterv1.NodeClaim) []telemetry.Event {
	text := "more then 20% nodes are unhealthy in the cluster"
	objects := []client.Object{node, claim}
	if w.pool != nil {
		text = "more than 20% nodes are unhealthy in the nodepool"
		objects = append(objects, w.pool)
	}
	var out []telemetry.Event
	for _, o := range objects {
		out = append(out, telemetry.Warning(o, "NodeRepairBlocked", text, string(o.GetUID())).Within(rareBlocked))
	}
	return out
}

// endGracePeriod gives the claim's pods no time, and reports whether that is news. A claim whose
// time was over before keeps its deadline.
func endGracePeriod(claim *karpenterv1.NodeClaim, now time.Time) bool {
	const annotation = karpenterv1.AnnotationTerminationTimestamp
	if at, err := time.Parse(time.RFC3339, claim.Annotations[annotation]); err == nil && at.Before(now) {
		return false
	}
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations[annotation] = now.UTC().Format(time.RFC3339)
	return true
}

// snakeCase writes a condition as metrics do: NetworkingReady is networking_ready, and GPUReady
// gpu_ready.
func snakeCase(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		begins := unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins && runes[i-1] != '_' {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
