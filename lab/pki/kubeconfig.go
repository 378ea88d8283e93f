package pki

import (
	"encoding/base64"
	"encoding/json"
)

// Kubeconfig returns a complete kubeconfig, in one file, for a user of the API server at the given URL. It
// is written as JSON, which is YAML, so that quoting needs no library.
func (a *Authority) Kubeconfig(server, user string, client Pair) []byte {
	return kubeconfig(server, a.pem, user, map[string]any{
		"client-certificate-data": base64.StdEncoding.EncodeToString(client.Certificate),
		"client-key-data":         base64.StdEncoding.EncodeToString(client.Key),
	})
}

// TokenKubeconfig returns the kubeconfig of a user with a token, for a server with a certificate of the
// given authority.
func TokenKubeconfig(server string, authority []byte, user, token string) []byte {
	return kubeconfig(server, authority, user, map[string]any{"token": token})
}

func kubeconfig(server string, authority []byte, user string, credentials map[string]any) []byte {
	const name = "tenon-lab"
	document := map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": map[string]any{
			"server":                     server,
			"certificate-authority-data": base64.StdEncoding.EncodeToString(authority),
		}}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{
			"cluster": name,
			"user":    user,
		}}},
		"users": []any{map[string]any{"name": user, "user": credentials}},
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		panic("a document of strings cannot be written as JSON: " + err.Error())
	}
	return append(text, '\n')
}
