package controlplane

import (
	"runtime/debug"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/compatibility"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// release is a version that knows its number. Kubernetes' own build writes the number into its
// binaries; built as a module, the API server would call itself v0.0.0-master, and a program that chooses
// machine images by the cluster's version would choose none.
type release struct {
	compatibility.EffectiveVersion
	number string
}

// Info returns what /version reports.
func (r release) Info() *version.Info {
	info := r.EffectiveVersion.Info()
	info.GitVersion, info.GitCommit, info.GitTreeState = r.number, "", "clean"
	return info
}

// kubernetesVersion is the version of the Kubernetes module that this program was built from.
func kubernetesVersion() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range build.Deps {
		if module.Path == "k8s.io/kubernetes" {
			return module.Version
		}
	}
	return ""
}

// nameRelease makes all parts of an API server report their version.
func nameRelease(config *apiserver.Config) {
	number := kubernetesVersion()
	if number == "" {
		return // a binary without build information: the server says its own version
	}
	generic := config.KubeAPIs.ControlPlane.Generic
	named := release{generic.EffectiveVersion, number}
	generic.EffectiveVersion = named
	config.ApiExtensions.GenericConfig.EffectiveVersion = named
	config.Aggregator.GenericConfig.EffectiveVersion = named
}
