package feasible

import (
	"slices"

	"tenon/core/model"
	"tenon/core/snapshot"
)

// Others is the dimension of all those resources that pods ask for, that no node and no machine has, and that
// are too many for a dimension each. It comes last, and only where there are such resources.
const Others = "other resources"

const (
	// fewResources get a dimension each, present or absent.
	fewResources = 16
	// manyAbsent bounds how many resources that nothing has get a dimension of their own. Every machine has a number
	// for each dimension, and the names in pods are their authors' choice.
	manyAbsent = 64
)

// dimensions lists cpu, memory, pods and what else some asker requests, and returns the resources that share
// the dimension Others.
func dimensions(s *snapshot.Snapshot, askers []snapshot.TemplateIndex) (dims []string, others map[string]bool) {
	dims = []string{model.CPU, model.Memory, model.Pods}
	seen := map[string]bool{}
	storage := false
	var asked []string
	for _, t := range askers {
		r := &s.Templates[t].Requests
		storage = storage || r.Storage != 0
		for _, a := range r.Extended {
			if !seen[a.Name] {
				seen[a.Name] = true
				asked = append(asked, a.Name)
			}
		}
	}
	if len(asked) > fewResources {
		asked, others = withoutAbsent(s, asked)
	}
	dims = append(dims, asked...)
	if storage {
		dims = append(dims, model.EphemeralStorage)
	}
	slices.Sort(dims[3:])
	if len(others) > 0 {
		dims = append(dims, Others)
	}
	return dims, others
}

// withoutAbsent keeps the resources that something has, and the first manyAbsent others.
func withoutAbsent(s *snapshot.Snapshot, asked []string) (kept []string, others map[string]bool) {
	present := map[string]bool{}
	note := func(r *model.Resources) {
		for _, a := range r.Extended {
			present[a.Name] = true
		}
	}
	for i := range s.Nodes {
		note(&s.Nodes[i].Allocatable)
	}
	for c := range s.Catalogs {
		for t := range s.Catalogs[c].Types {
			kind := &s.Catalogs[c].Types[t]
			note(&kind.Capacity)
			for o := range kind.Offerings {
				if own := kind.Offerings[o].Capacity; own != nil {
					note(own)
				}
			}
		}
	}
	others = map[string]bool{}
	absent := 0
	for _, name := range asked {
		if !present[name] {
			if absent++; absent > manyAbsent {
				others[name] = true
				continue
			}
		}
		kept = append(kept, name)
	}
	return kept, others
}
