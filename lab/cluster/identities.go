package cluster

import (
	"fmt"
	"time"

	"tenon/lab/controlplane"
	"tenon/lab/install"
	"tenon/lab/pki"
	"tenon/lab/state"
)

// identity is a user of the API server and the groups that give it rights.
type identity struct {
	file   string // of its kubeconfig
	user   string
	groups []string
}

// identities are the users of the API server, each with its own certificate.
//
// The controller manager works with administrator rights instead of one service account for each
// of its controllers: those would cost a token, a client and a rate limit each, and a lab learns
// nothing from them. What a lab is for, Tenon, is a service account of the cluster, with a token and
// the rights that its chart gives it: see package install.
var identities = []identity{
	{file: "kube-controller-manager", user: "system:kube-controller-manager", groups: []string{"system:masters"}},
	{file: "kube-scheduler", user: "system:kube-scheduler"},
	{file: "kubelets", user: "tenon-lab:kubelets", groups: []string{"tenon-lab:kubelets"}},
}

// auditPolicy is the file that says whose requests are recorded.
const auditPolicy = "audit-policy.yaml"

// administrator is the user of DIR/kubeconfig.
var administrator = identity{user: "tenon-lab-admin", groups: []string{"system:masters"}}

// writeIdentities makes all keys, certificates and kubeconfigs of a new lab.
func writeIdentities(directory state.Directory, server string, now time.Time) error {
	authority, err := pki.NewAuthority(now)
	if err != nil {
		return err
	}
	files := map[string][]byte{directory.PKI("ca.crt"): authority.Certificate()}

	serving, err := authority.Server("kube-apiserver",
		[]string{"kubernetes", "kubernetes.default", "kubernetes.default.svc"}, controlplane.ServiceAddress)
	if err != nil {
		return err
	}
	files[directory.PKI("serving.crt")], files[directory.PKI("serving.key")] = serving.Certificate, serving.Key

	tokens, err := pki.SigningKey()
	if err != nil {
		return err
	}
	files[directory.PKI("tokens.pub")], files[directory.PKI("tokens.key")] = tokens.Certificate, tokens.Key

	for _, who := range identities {
		if files[directory.UserConfig(who.file)], err = kubeconfig(authority, server, who); err != nil {
			return err
		}
	}
	if files[directory.Kubeconfig()], err = kubeconfig(authority, server, administrator); err != nil {
		return err
	}
	files[directory.PKI(auditPolicy)] = controlplane.AuditPolicy(install.AccountUser, install.ShadowUser)
	files[directory.PKI("kube-scheduler.yaml")] = controlplane.SchedulerConfig(directory)
	return writeAll(files)
}

func kubeconfig(authority *pki.Authority, server string, who identity) ([]byte, error) {
	client, err := authority.Client(who.user, who.groups...)
	if err != nil {
		return nil, fmt.Errorf("make certificate of %s: %w", who.user, err)
	}
	return authority.Kubeconfig(server, who.user, client), nil
}

func writeAll(files map[string][]byte) error {
	for path, content := range files {
		if err := state.WriteFile(path, content); err != nil {
			return err
		}
	}
	return nil
}
