// Package nodegroup finds Auto Scaling groups, which Cluster Autoscaler and Tenon call node groups, and says what they
// are like: their sizes and instances, and what a further instance would have, by their launch templates, their tags
// and the settings of managed node groups of EKS. Flags, tags and options have the names of Cluster Autoscaler.
//
// It must not change a group.
package nodegroup
