package accounts

import (
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"tenon/lab/aws/boot"
	"tenon/lab/kubelet"
)

// consoleJoins is what the console says of nodes that join.
const consoleJoins = "The node joins: "

// boot reads the user data of an instance that now runs, as its image would, and makes its node join. If
// the node cannot join, the reason goes to the console.
func (r *Region) boot(i *Instance) {
	m, err := r.machine(i)
	never, factor := r.world.faults.Boots(r.faultPool(i.pool), i.ID, r.Now())
	switch {
	case err != nil:
		i.Console = "The node does not join: " + err.Error()
		r.world.log.Info("an instance will never join", "instance", i.ID, "err", err)
		return
	case never:
		i.Console = "The boot does not finish: a fault of the emulator"
		return
	}
	m.BootDelay = time.Duration(float64(r.world.config.Pace.Boot) * factor)
	i.Console = fmt.Sprintf(consoleJoins+"%s joins %s after %s", m.Name, r.Cluster().Name, m.BootDelay)
	r.world.tell(func(machines Machines) error { return machines.Launch(m) })
}

// machine returns the simulated machine of an instance, or the reason why it would not reach the cluster.
func (r *Region) machine(i *Instance) (kubelet.Instance, error) {
	if err := r.reaches(i); err != nil {
		return kubelet.Instance{}, err
	}
	c, err := boot.Read(i.Image.Family, i.Spec.UserData)
	if err != nil {
		return kubelet.Instance{}, err
	}
	if err := r.belongs(c); err != nil {
		return kubelet.Instance{}, err
	}
	r.joinNodeGroup(i, &c)
	name := i.DNSName(r.Name)
	m := kubelet.Instance{
		Name: name, ProviderID: i.ProviderID(), InstanceType: i.Type.Name, Architecture: i.Type.Architecture, OS: "linux",
		Region: r.Name, Zone: i.Subnet.Zone.Name, ZoneID: i.Subnet.Zone.ID,
		Labels: c.Labels, Taints: c.Taints, Kubelet: c.Kubelet, Image: i.Image.Name,
		Capacity:  r.capacityOf(i, c),
		Addresses: []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: i.Address().String()}, {Type: v1.NodeHostName, Address: name}, {Type: v1.NodeInternalDNS, Address: name}},
	}
	if i.Image.Family.Windows() {
		m.OS = "windows"
		m.Labels[v1.LabelWindowsBuild] = windowsBuilds[i.Image.Family]
	}
	return m, nil
}

var windowsBuilds = map[boot.Family]string{
	boot.Windows2019: "10.0.17763", boot.Windows2022: "10.0.20348", boot.Windows2025: "10.0.26100",
}

// reaches checks whether the instance can talk to the cluster, and may.
func (r *Region) reaches(i *Instance) error {
	switch {
	case i.Subnet.Isolated || i.Subnet.Network != r.networks[0]:
		return fmt.Errorf("subnet %s has no route to the cluster", i.Subnet.ID)
	case i.Profile == nil:
		return errors.New("without an instance profile the node has no credentials")
	case i.Profile.Role == "":
		return fmt.Errorf("instance profile %s has no role", i.Profile.Name)
	}
	if !r.admitted(i.Profile.Role) {
		return fmt.Errorf("role %s has no access entry in the cluster", i.Profile.Role)
	}
	return nil
}

func (r *Region) belongs(c boot.Config) error {
	ours := r.Cluster()
	switch {
	case c.Cluster != ours.Name:
		return fmt.Errorf("user data names the cluster %q, not %q", c.Cluster, ours.Name)
	case c.Endpoint != ours.Endpoint:
		return fmt.Errorf("user data names the API server %s, which is not that of the cluster, %s", c.Endpoint, ours.Endpoint)
	case c.Authority != ours.Authority:
		return errors.New("the certificate in the user data is not that of the cluster's authority")
	case c.ServiceRange != "" && c.ServiceRange != ours.ServiceRange:
		return fmt.Errorf("user data has the service range %s, not %s", c.ServiceRange, ours.ServiceRange)
	}
	return nil
}

// capacityOf returns what the machine's kubelet finds. Firmware and kernel take some of the memory that
// EC2 reports before the kubelet looks: here between 2.5 and 6.5 %, depending on the type.
func (r *Region) capacityOf(i *Instance, c boot.Config) v1.ResourceList {
	t := i.Type
	memory := t.MemoryMiB.Or(0) << 20
	if t.Architecture == "arm64" {
		memory -= 64 << 20
	}
	memory -= int64(float64(memory)*r.world.config.Seed.Between(0.025, 0.065, "firmware", t.Name)) &^ 0xfff
	pods := t.PodLimit.Or(110)
	if i.Image.Family.Windows() {
		pods = 110
	}
	list := v1.ResourceList{
		v1.ResourceCPU:              *resource.NewQuantity(t.VCPUs.Or(0), resource.DecimalSI),
		v1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		v1.ResourcePods:             *resource.NewQuantity(pods, resource.DecimalSI),
		v1.ResourceEphemeralStorage: *resource.NewQuantity(storageOf(i, c), resource.BinarySI),
	}
	if c.HugePages > 0 {
		list["hugepages-2Mi"] = *resource.NewQuantity(min(c.HugePages<<21, memory), resource.BinarySI)
	}
	for name, count := range devicesOf(i) {
		if count > 0 {
			list[name] = *resource.NewQuantity(count, resource.DecimalSI)
		}
	}
	return list
}

// storageOf returns the size of the pods' disk: the joined local disks, or else a volume.
func storageOf(i *Instance, c boot.Config) int64 {
	if local := i.Type.LocalNVMeGB.Or(0); c.LocalRAID && local > 0 {
		return local * 1e9
	}
	for _, v := range i.Volumes {
		if v.Device == podDevice(i.Image.Family) {
			return int64(v.SizeGiB) << 30
		}
	}
	return 20 << 30
}

// devicesOf returns the extended resources that the device plugins announce.
func devicesOf(i *Instance) map[v1.ResourceName]int64 {
	t := i.Type
	list := map[v1.ResourceName]int64{
		"aws.amazon.com/neuron":     t.NeuronDevices.Or(0),
		"aws.amazon.com/neuroncore": t.NeuronCores.Or(0),
		"vpc.amazonaws.com/pod-eni": t.BranchInterfaces.Or(0),
	}
	if name, ok := gpuNames[t.GPUManufacturer]; ok {
		list[name] = t.GPUs.Or(0)
	}
	for _, n := range i.Interfaces {
		if n.Spec.InterfaceType == "efa" || n.Spec.InterfaceType == "efa-only" {
			list["vpc.amazonaws.com/efa"]++
		}
	}
	return list
}

var gpuNames = map[string]v1.ResourceName{"nvidia": "nvidia.com/gpu", "NVIDIA": "nvidia.com/gpu",
	"amd": "amd.com/gpu", "AMD": "amd.com/gpu", "habana": "habana.ai/gaudi", "Habana": "habana.ai/gaudi"}
