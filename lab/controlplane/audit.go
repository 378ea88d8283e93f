package controlplane

import "strings"

// AuditFlags make the API server write down what a user asks for. The policy is the text of a file
// whose path is given.
func AuditFlags(policy, log string) []string {
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log}
}

// AuditPolicy notes who asked for what, and whether it was allowed, of some users.
func AuditPolicy(users ...string) []byte {
	return []byte(`apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + strings.Join(users, `", "`) + `"]
- level: None
`)
}
