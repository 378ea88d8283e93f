package instancetype

import (
	"tenon/core/model"
)

// overhead is the part of the capacity that pods cannot use: the kubelet's and the system's reserves, and
// what must stay free so that the kubelet does not evict pods.
func (b *builder) overhead(s size) model.Resources {
	kubelet := &b.Class.Kubelet
	kube := replace(b.kubeReserved(s), kubelet.KubeReserved)
	system := replace(model.Resources{}, kubelet.SystemReserved)
	return kube.Add(system).Add(evictionThreshold(s, kubelet.EvictionHard))
}

// kubeReserved is what the images reserve for the kubelet by default. The memory depends on a number of pods:
// on most images the number that the interfaces allow, even if maxPods or reserved interfaces allow fewer.
func (b *builder) kubeReserved(s size) model.Resources {
	pods := s.capacity.Pods
	if b.traits.reservesByInterfaces {
		pods = s.interfacePods
	}
	return model.Resources{
		CPU:     reservedCPU(s.capacity.CPU),
		Memory:  (11*pods + 255) * mebi,
		Storage: gibi,
	}
}

// reservedCPU is 6 % of the first core, 1 % of the second, 0.5 % of the next two and
// 0.25 % of all others, each cut to whole milli-cores.
func reservedCPU(milli int64) int64 {
	ranges := []struct{ from, to, perTenThousand int64 }{
		{0, 1000, 600}, {1000, 2000, 100}, {2000, 4000, 50}, {4000, milli, 25},
	}
	reserved := int64(0)
	for _, r := range ranges {
		reserved += max(min(milli, r.to)-r.from, 0) * r.perTenThousand / 10_000
	}
	return reserved
}

// replace overwrites defaults with the user's amounts, including zeros.
func replace(base model.Resources, amounts []model.Amount) model.Resources {
	for _, a := range amounts {
		switch a.Name {
		case model.CPU:
			base.CPU = a.Value
		case model.Memory:
			base.Memory = a.Value
		case model.EphemeralStorage:
			base.Storage = a.Value
		default: // process IDs: nodes do not count them as a resource
		}
	}
	return base
}

func evictionThreshold(s size, thresholds []Threshold) model.Resources {
	free := model.Resources{
		Memory:  100 * mebi,
		Storage: percentOf(s.capacity.Storage, 10_00),
	}
	for _, t := range thresholds {
		switch t.Signal {
		case MemoryAvailable:
			free.Memory = t.of(s.estimatedMemory)
		case NodeFSAvailable:
			free.Storage = t.of(s.capacity.Storage)
		default: // inodes, image storage, process IDs: not resources of a node
		}
	}
	return free
}

// percentOf returns a part of an amount, in hundredths of a percent, rounded up.
func percentOf(amount, hundredths int64) int64 {
	return (amount*hundredths + 9_999) / 10_000
}
