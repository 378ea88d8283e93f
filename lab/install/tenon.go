package install

import (
	"context"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"tenon/charts"
)

// The ServiceAccount that Tenon runs as, as its chart makes it.
const (
	account   = "tenon"
	namespace = "kube-system"
)

// AccountUser is what the API server calls Tenon; ShadowUser is a second one, in shadow mode beside the first.
const (
	AccountUser = "system:serviceaccount:" + namespace + ":" + account
	ShadowUser  = "system:serviceaccount:" + namespace + ":" + shadowAccount
)

const shadowAccount = "shadow"

// tokenLife is longer than any lab lives.
const tokenLife = 30 * 24 * time.Hour

// Tenon installs Tenon's ServiceAccount and rights from its chart, and returns a token of the account.
// Gates are open, as tests open them; the program itself runs beside the cluster, not in a pod. Dashboard is
// where it serves the dashboard, if it does.
func Tenon(ctx context.Context, config *rest.Config, dashboard string) (token string, err error) {
	return release(ctx, config, account, map[string]any{
		"featureGates": map[string]any{"nodeOverlay": true, "capacityBuffer": true, "nodeGroups": true}, "enableProvisioningRequests": true, "dashboardListen": dashboard,
	})
}

// Shadow installs the ServiceAccount and the rights of a release in shadow mode, and returns a token.
func Shadow(ctx context.Context, config *rest.Config) (token string, err error) {
	return release(ctx, config, shadowAccount, map[string]any{"mode": "shadow"})
}

// release installs the rights of a release of the chart, with settings. The release, and by that its ServiceAccount,
// is called as its account.
func release(ctx context.Context, config *rest.Config, account string, settings map[string]any) (token string, err error) {
	settings["clusterName"] = "demo"
	objects, err := charts.Tenon(charts.Release{Name: account, Namespace: namespace, Values: map[string]any{"fullnameOverride": account, "settings": settings}})
	if err != nil {
		return "", err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("make client: %w", err)
	}
	for _, object := range objects {
		if !slices.Contains([]string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}, object.GetKind()) {
			continue
		}
		if err := applyObject(ctx, client, object); err != nil {
			return "", err
		}
	}
	return tokenOf(ctx, config, account)
}

// tokenOf asks for a token, as the kubelet does for a pod.
func tokenOf(ctx context.Context, config *rest.Config, account string) (string, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("make client: %w", err)
	}
	seconds := int64(tokenLife.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("ask for a token of %s/%s: %w", namespace, account, err)
	}
	return answer.Status.Token, nil
}
