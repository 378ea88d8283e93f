// Package judge asks the real kube-scheduler's filter plugins about every placement of a
// plan.
//
// It builds the cluster that a plan leads to from API objects: existing nodes, a node for
// each claim, the pods that stay, those that the plan places, and the daemons' pods. Then
// it takes each placed pod away and asks the filters whether the scheduler would put it
// back where the plan has it. And it lets the pods arrive one by one, in any order that
// works: a plan whose pods all wait for each other would never come about.
//
// A refusal is always a bug of the program that made the plan.
package judge
