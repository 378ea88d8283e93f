package instancetype

import awsv1 "tenon/api/aws/v1"

// traits are the differences between families of machine images.
type traits struct {
	// build is the Windows build; empty for Linux.
	build string
	// device is the device with the pods' storage, and bytes its default size.
	device string
	bytes  int64
	// podsPerCore is false if the node does not know the setting.
	podsPerCore bool
	// reservesByInterfaces means that the node reserves memory for as many pods as its interfaces have
	// addresses for, not for the number of pods that it accepts.
	reservesByInterfaces bool
}

func (t traits) windows() bool { return t.build != "" }

const (
	mebi = int64(1) << 20
	gibi = int64(1) << 30
)

func traitsOf(family string) traits {
	switch family {
	case awsv1.FamilyBottlerocket:
		return traits{device: "/dev/xvdb", bytes: 20 * gibi}
	case awsv1.FamilyWindows2019:
		return windows("10.0.17763")
	case awsv1.FamilyWindows2022:
		return windows("10.0.20348")
	case awsv1.FamilyWindows2025:
		return windows("10.0.26100")
	case awsv1.FamilyCustom:
		return traits{bytes: 20 * gibi, podsPerCore: true, reservesByInterfaces: true}
	default: // AL2, AL2023, and unknown names
		return traits{device: "/dev/xvda", bytes: 20 * gibi, podsPerCore: true, reservesByInterfaces: true}
	}
}

func windows(build string) traits {
	return traits{build: build, device: "/dev/sda1", bytes: 50 * gibi, podsPerCore: true}
}
