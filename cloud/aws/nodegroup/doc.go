// Package nodegroup finds Auto Scaling groups, which Cluster Autoscaler and Tenon call node groups, and
// describes them: their sizes, their instances, and what a further instance would have according to their
// launch templates, their tags and the settings of EKS managed node groups. Flags, tags and options have the
// names of Cluster Autoscaler.
//
// It must not change a group.
package nodegroup
