// Package advice says why pods have no place, and what would help: pool by pool how many
// offerings are left after each rule, and the smallest single change of a pod or a pool with which
// the pod has a place, found by trying it out.
//
//	propose every change of one thing ──▶ the smallest first ──▶ simulate until one places the pod
//
// It changes no draft and no claim.
package advice
