package ingest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
)

func taints(list []corev1.Taint) []model.Taint {
	var out []model.Taint
	for _, t := range list {
		out = append(out, model.Taint{Key: t.Key, Value: t.Value, Effect: model.Effect(t.Effect)})
	}
	return out
}

func tolerations(list []corev1.Toleration) []model.Toleration {
	var out []model.Toleration
	for _, t := range list {
		out = append(out, model.Toleration{Key: t.Key, Operator: string(t.Operator), Value: t.Value, Effect: model.Effect(t.Effect)})
	}
	return out
}

// lasting leaves out the taints that a starting node will lose: ephemeral taints, and the startup
// taints of its claim, which are compared by key and effect.
func lasting(list, startup []corev1.Taint) []model.Taint {
	staying := slices.DeleteFunc(slices.Clone(list), func(t corev1.Taint) bool {
		return karpenterv1.IsEphemeral(t) || hasTaint(startup, t)
	})
	return taints(staying)
}

func hasTaint(list []corev1.Taint, t corev1.Taint) bool {
	return slices.ContainsFunc(list, func(o corev1.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
}

// hostPorts are the ports of the node that the pod occupies. Sidecars hold their ports for the
// pod's whole life, as containers do; other init containers have ended when the pod runs. The
// reference looks at containers only.
func hostPorts(spec *corev1.PodSpec) []model.HostPort {
	var out []model.HostPort
	add := func(ports []corev1.ContainerPort) {
		for _, p := range ports {
			if spec.HostNetwork && p.HostPort == 0 {
				p.HostPort = p.ContainerPort // as the API server defaults it
			}
			if p.HostPort != 0 {
				out = append(out, hostPort(p))
			}
		}
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			add(spec.InitContainers[i].Ports)
		}
	}
	for i := range spec.Containers {
		add(spec.Containers[i].Ports)
	}
	return out
}

func hostPort(p corev1.ContainerPort) model.HostPort {
	protocol := string(p.Protocol)
	if protocol == "" {
		protocol = string(corev1.ProtocolTCP)
	}
	return model.HostPort{IP: p.HostIP, Port: p.HostPort, Protocol: protocol}
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
