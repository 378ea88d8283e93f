// Package model holds the small values that every decision is made of: resource
// vectors, money, taints and tolerations, label selectors and host ports.
//
// Everything here is a plain value with integer arithmetic: no clock, no I/O, no
// Kubernetes client types. internal/ingest translates API objects into these.
package model
