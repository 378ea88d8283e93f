package preflight

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
)

const checkAutoscalers = "autoscalers"

// leaseFresh is for how long after its last renewal a Lease says that its holder lives.
const leaseFresh = time.Minute

// Names of Leases that autoscalers hold.
const (
	leaseKarpenter = "karpenter-leader-election"
	leaseClusterCA = "cluster-autoscaler"
)

// autoMode is the definition that EKS Auto Mode brings.
const autoMode = "nodeclasses.eks.amazonaws.com"

// seen is the evidence of other autoscalers.
type seen struct {
	now         time.Time
	leases      []coordinationv1.Lease
	deployments []appsv1.Deployment
	autoMode    bool
	// lease and namespace are those of the controller that is to be installed.
	lease, namespace string
}

// judgeAutoscalers says which other autoscalers are alive.
func judgeAutoscalers(s seen) []Finding {
	var findings []Finding
	for i := range s.deployments {
		findings = append(findings, s.deployment(&s.deployments[i])...)
	}
	if len(findings) == 0 {
		// It may run outside of the cluster: then a Lease is all that can be seen of it.
		for i := range s.leases {
			findings = append(findings, s.held(&s.leases[i])...)
		}
	}
	if s.autoMode {
		findings = append(findings, Finding{checkAutoscalers, Warning, "EKS Auto Mode has been on in this cluster: there is " + autoMode,
			"Auto Mode works on the NodePools of this cluster too; Tenon leaves alone those whose class is not an EC2NodeClass",
			"turn Auto Mode off, or keep its pools apart with taints"})
	}
	if len(findings) == 0 {
		findings = append(findings, Finding{Check: checkAutoscalers, Level: OK, Text: "no other autoscaler is alive"})
	}
	return findings
}

func (s seen) deployment(d *appsv1.Deployment) []Finding {
	if d.Spec.Replicas != nil && *d.Spec.Replicas == 0 {
		return nil
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		where := d.Namespace + "/" + d.Name
		switch image := imageName(c.Image); {
		case strings.Contains(image, "cluster-autoscaler"):
			return []Finding{{checkAutoscalers, Warning, "Cluster Autoscaler runs as Deployment " + where,
				"both answer to the same pending pods, so that twice the nodes may be bought",
				"install Tenon with --mode=shadow first; then scale Cluster Autoscaler to 0 (docs/migrating-from-cluster-autoscaler.md)"}}
		case strings.Contains(image, "karpenter"):
			return []Finding{s.karpenter(where, d.Namespace, leaseOf(c))}
		}
	}
	return nil
}

// karpenter judges Karpenter, which conflicts with Tenon unless the two share a Lease.
func (s seen) karpenter(where, namespace, lease string) Finding {
	if lease == s.lease && namespace == s.namespace {
		return Finding{checkAutoscalers, Warning, fmt.Sprintf("Karpenter runs as Deployment %s, with the same Lease %s/%s", where, namespace, lease),
			"the two never act together: Tenon stands by until Karpenter has stopped", "go on with docs/migrating-from-karpenter.md"}
	}
	return Finding{checkAutoscalers, Failed, fmt.Sprintf("Karpenter runs as Deployment %s, with the Lease %s/%s", where, namespace, lease),
		fmt.Sprintf("Tenon would hold %s/%s: both would act on the same pools and claims", s.namespace, s.lease),
		"install Tenon in namespace " + namespace + ", or with --mode=shadow, or scale Karpenter to 0 first"}
}

// leaseOf is the name of the Lease of Karpenter, which it may be told in an environment variable.
func leaseOf(c corev1.Container) string {
	for _, e := range c.Env {
		if e.Name == "LEADER_ELECTION_NAME" && e.Value != "" {
			return e.Value
		}
	}
	return leaseKarpenter
}

func (s seen) held(l *coordinationv1.Lease) []Finding {
	holder := ""
	if l.Spec.HolderIdentity != nil {
		holder = *l.Spec.HolderIdentity
	}
	if holder == "" || l.Spec.RenewTime == nil || s.now.Sub(l.Spec.RenewTime.Time) > leaseFresh {
		return nil
	}
	if l.Name == leaseClusterCA {
		return []Finding{{checkAutoscalers, Warning, fmt.Sprintf("Cluster Autoscaler holds the Lease %s/%s as %s", l.Namespace, l.Name, holder),
			"both answer to the same pending pods, so that twice the nodes may be bought", "stop it, or install Tenon with --mode=shadow"}}
	}
	if l.Namespace == s.namespace && l.Name == s.lease {
		return []Finding{{Check: checkAutoscalers, Level: OK, Text: fmt.Sprintf("the Lease %s/%s is held by %s; a controller with this Lease stands by", l.Namespace, l.Name, holder)}}
	}
	return []Finding{{checkAutoscalers, Failed, fmt.Sprintf("the Lease %s/%s is held by %s", l.Namespace, l.Name, holder),
		"a controller of this API acts already, under another Lease than " + s.namespace + "/" + s.lease,
		"stop it, or install Tenon with --leader-election-namespace=" + l.Namespace + ", or with --mode=shadow"}}
}

// imageName is the last parts of an image's name, without registry, tag and digest: karpenter/controller.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	parts := strings.Split(image, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}
