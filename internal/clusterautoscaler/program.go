// Package clusterautoscaler reads the settings of a Cluster Autoscaler, from its Deployment and the ConfigMap of
// its priorities, and says what Tenon does with each.
//
// It must not read from a cluster or a cloud: its callers pass the objects.
package clusterautoscaler

import (
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Name is the name of the program, of its image, and of its Lease unless its flags say otherwise.
const Name = "cluster-autoscaler"

// Namespace is the namespace of its Lease and its ConfigMaps unless its flags say otherwise.
const Namespace = "kube-system"

// Flag is a flag of a command line. A flag without a value is "true", as Cluster Autoscaler parses
// it.
type Flag struct{ Name, Value string }

// Command is the command line of a container that runs Cluster Autoscaler.
type Command struct{ Flags []Flag }

// CommandOf finds Cluster Autoscaler among the containers of a Deployment, by its image or its command.
func CommandOf(d *appsv1.Deployment) (Command, bool) {
	for _, c := range d.Spec.Template.Spec.Containers {
		if runs(c) {
			return Command{Flags: flags(words(c))}, true
		}
	}
	return Command{}, false
}

// Stopped reports whether a Deployment has no replica.
func Stopped(d *appsv1.Deployment) bool { return d.Spec.Replicas != nil && *d.Spec.Replicas == 0 }

// Values are the values of a flag, in order.
func (c Command) Values(name string) []string {
	var values []string
	for _, f := range c.Flags {
		if f.Name == name {
			values = append(values, f.Value)
		}
	}
	return values
}

func runs(c corev1.Container) bool {
	image, _, _ := strings.Cut(path.Base(c.Image), "@")
	image, _, _ = strings.Cut(image, ":")
	if strings.HasPrefix(image, Name) {
		return true
	}
	for _, text := range c.Command {
		for word := range strings.FieldsSeq(text) {
			if path.Base(word) == Name {
				return true
			}
		}
	}
	return false
}

// words are the words of a command line. A shell command is one text, in which values may be quoted.
func words(c corev1.Container) []string {
	var list []string
	for _, text := range append(append([]string{}, c.Command...), c.Args...) {
		for word := range strings.FieldsSeq(text) {
			list = append(list, strings.Trim(word, `"'`))
		}
	}
	program := slices.IndexFunc(list, func(word string) bool { return path.Base(word) == Name })
	return list[program+1:] // the shell's own flags come before
}

// flags reads --name=value, --name value, and --name, each with one dash or two.
func flags(words []string) []Flag {
	var list []Flag
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") {
			continue
		}
		name, value, has := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		if !has {
			value = "true"
			if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
				i++
				value = words[i]
			}
		}
		if name != "" {
			list = append(list, Flag{name, strings.Trim(value, `"'`)})
		}
	}
	return list
}
