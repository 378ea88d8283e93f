package preflight

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// The versions of Kubernetes that are supported. (As Karpenter's.)
const (
	oldest = "1.26"
	newest = "1.36"
)

const checkVersion = "kubernetes-version"

// judgeVersion says whether a version is supported. Patches do not count, and neither do suffixes as -eks-1a2b3c.
func judgeVersion(text string) Finding {
	found, err := version.ParseGeneric(text)
	if err != nil {
		return Finding{checkVersion, Warning, fmt.Sprintf("the API server says that it is %q, which is no version", text),
			"whether it is supported is not known", "ask the operator of the API server"}
	}
	minor := version.MajorMinor(found.Major(), found.Minor())
	switch {
	case minor.LessThan(version.MustParseGeneric(oldest)):
		return Finding{checkVersion, Failed, fmt.Sprintf("Kubernetes %s is older than %s", text, oldest),
			"rules of the definitions need a newer API server, which then refuses them", "upgrade the control plane to " + oldest + " or newer"}
	case version.MustParseGeneric(newest).LessThan(minor):
		return Finding{checkVersion, Warning, fmt.Sprintf("Kubernetes %s is newer than %s", text, newest),
			"this build has not been tried with it", "see whether there is a newer release; the controller works on meanwhile"}
	}
	return Finding{Check: checkVersion, Level: OK, Text: "Kubernetes " + text}
}
