// Package aws emulates AWS on a laptop: a server that the real SDK, the AWS CLI and other clients talk to
// through AWS_ENDPOINT_URL, with the services that a node autoscaler calls. README.md says what is
// modelled and what is not.
//
//	HTTP ─▶ wire (which service, which operation) ─▶ fault (does it go wrong?) ─▶ a service's package ─▶ accounts
//	                                                                                                      │
//	POST /lab/faults, ... ─▶ control                                             simulated kubelets ◀─────┘
//
// Everything is deterministic, given a seed and an injected clock. The package must not import
// k8s.io/kubernetes.
package aws
