package v1

import (
	"fmt"
	"strings"
)

// The families of machine images. The family decides how nodes are set up so that they join the cluster.
const (
	FamilyAL2          = "AL2"
	FamilyAL2023       = "AL2023"
	FamilyBottlerocket = "Bottlerocket"
	FamilyCustom       = "Custom"
	FamilyWindows2019  = "Windows2019"
	FamilyWindows2022  = "Windows2022"
	FamilyWindows2025  = "Windows2025"
)

// VersionLatest is the version of an alias that follows new releases.
const VersionLatest = "latest"

// Alias names a family of published images, and their version.
type Alias struct {
	Family  string
	Version string
}

// ParseAlias reads family@version, for example al2023@latest.
func ParseAlias(text string) (Alias, error) {
	name, version, found := strings.Cut(text, "@")
	if !found || version == "" || strings.Contains(version, "@") {
		return Alias{}, fmt.Errorf("alias %q: want family@version", text)
	}
	family, known := familyOf(name)
	if !known {
		return Alias{}, fmt.Errorf("alias %q: unknown family %q", text, name)
	}
	return Alias{Family: family, Version: version}, nil
}

func familyOf(alias string) (family string, known bool) {
	for _, family := range []string{
		FamilyAL2, FamilyAL2023, FamilyBottlerocket, FamilyWindows2019, FamilyWindows2022, FamilyWindows2025,
	} {
		if strings.ToLower(family) == alias {
			return family, true
		}
	}
	return "", false
}

// Alias returns the alias of the class, and whether it has one. A class has one at most.
func (s *EC2NodeClassSpec) Alias() (alias Alias, found bool, err error) {
	for _, term := range s.AMISelectorTerms {
		if term.Alias != "" {
			alias, err = ParseAlias(term.Alias)
			return alias, true, err
		}
	}
	return Alias{}, false, nil
}

// Family returns the class's family of images: the family that it names, else that of its alias, else Custom.
func (s *EC2NodeClassSpec) Family() (string, error) {
	if s.AMIFamily != nil {
		return *s.AMIFamily, nil
	}
	alias, found, err := s.Alias()
	switch {
	case err != nil:
		return "", err
	case found:
		return alias.Family, nil
	default:
		return FamilyCustom, nil
	}
}
