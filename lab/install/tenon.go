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

// AccountUser is what the API server calls Tenon.
const AccountUser = "system:serviceaccount:" + namespace + ":" + account

// tokenLife is longer than any lab lives.
const tokenLife = 30 * 24 * time.Hour

// Tenon installs Tenon's ServiceAccount and rights from its chart, and returns a token of the account.
// Gates are open, as tests open them; the program itself runs beside the cluster, not in a pod.
func Tenon(ctx context.Context, config *rest.Config) (token string, err error) {
	objects, err := charts.Tenon(charts.Release{Name: account, Namespace: namespace, Values: map[string]any{
		"settings": map[string]any{"clusterName": "demo", "featureGates": map[string]any{"nodeOverlay": true, "capacityBuffer": true}},
	}})
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
	return tokenOf(ctx, config)
}

// tokenOf asks for a token, as the kubelet does for a pod.
func tokenOf(ctx context.Context, config *rest.Config) (string, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("make client: %w", err)
	}
	seconds := int64(tokenLife.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("ask for a token of %s: %w", AccountUser, err)
	}
	return answer.Status.Token, nil
}
