package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/requirement"
)

// fileType is an instance type as a catalogue file has it.
type fileType struct {
	Name             string              `json:"name"`
	Architecture     string              `json:"architecture"`
	OperatingSystems []string            `json:"operatingSystems"`
	Capacity         corev1.ResourceList `json:"capacity"`
	Overhead         corev1.ResourceList `json:"overhead"`
	Labels           map[string]string   `json:"labels"`
	Offerings        []fileOffering      `json:"offerings"`
}

type fileOffering struct {
	Zone         string   `json:"zone"`
	CapacityType string   `json:"capacityType"`
	Price        *float64 `json:"price"`
	// Available is true unless the file says otherwise.
	Available           *bool  `json:"available"`
	ReservationID       string `json:"reservationID"`
	ReservationCapacity int64  `json:"reservationCapacity"`
}

// ReadCatalog reads a catalogue file: a JSON list of instance types. The words are those that the
// file adds to the vocabulary: as with a provider's own labels, every label that some type has is
// well-known, so that pods may select it although no pool mentions it. The other types do not have
// it.
//
// An error names the type by its place in the list and its name, and the field.
func ReadCatalog(data []byte) (*catalog.Catalog, requirement.Words, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, requirement.Words{}, fmt.Errorf("read catalogue: want a list of instance types: %w", err)
	}
	types := make([]fileType, len(raw))
	labels, names := map[string]bool{}, map[string]int{}
	for i, text := range raw {
		err := decodeStrictly(text, &types[i])
		if err == nil {
			err = types[i].check()
		}
		if first, twice := names[types[i].Name]; err == nil && twice {
			err = fmt.Errorf("name: type %d has it already", first)
		}
		if err != nil {
			return nil, requirement.Words{}, fmt.Errorf("read catalogue: type %d (%s): %w", i, types[i].Name, err)
		}
		names[types[i].Name] = i
		for label := range types[i].Labels {
			labels[label] = true
		}
	}
	words := requirement.Words{WellKnown: order.Keys(labels)}
	out := &catalog.Catalog{Types: make([]catalog.Type, len(types))}
	wellKnown := requirement.Core().With(words).WellKnown().Sorted()
	for i := range types {
		out.Types[i] = types[i].translate(wellKnown)
	}
	return out, words, nil
}

func decodeStrictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// ownLabels come from other fields and cannot be given as labels.
var ownLabels = []string{
	requirement.KeyInstanceType, requirement.KeyArch, requirement.KeyOS, requirement.KeyZone,
	requirement.KeyCapacityType, requirement.KeyNodePool, requirement.KeyHostname,
}

func (f *fileType) check() error {
	switch {
	case f.Name == "":
		return errors.New("name: is missing")
	case len(requirement.ValueProblems(f.Name)) > 0:
		return fmt.Errorf("name: %s", requirement.ValueProblems(f.Name)[0])
	case f.Architecture == "":
		return errors.New("architecture: is missing")
	case len(f.OperatingSystems) == 0:
		return errors.New("operatingSystems: is empty")
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		if quantity, ok := f.Capacity[name]; !ok || quantity.Sign() <= 0 {
			return fmt.Errorf("capacity.%s: must be given and positive", name)
		}
	}
	if err := errors.Join(checkPositive("capacity", f.Capacity), checkPositive("overhead", f.Overhead), f.checkLabels()); err != nil {
		return err
	}
	return f.checkOfferings()
}

func checkPositive(field string, list corev1.ResourceList) error {
	for _, name := range order.Keys(list) {
		quantity := list[name]
		if quantity.Sign() < 0 {
			return fmt.Errorf("%s.%s: is negative", field, name)
		}
	}
	return nil
}

func (f *fileType) checkLabels() error {
	for _, label := range order.Keys(f.Labels) {
		problems := append(requirement.KeyProblems(label), requirement.ValueProblems(f.Labels[label])...)
		if slices.Contains(ownLabels, requirement.Core().Key(label)) {
			problems = append(problems, "follows from the other fields and cannot be given")
		}
		if len(problems) > 0 {
			return fmt.Errorf("labels[%s]: %s", label, problems[0])
		}
	}
	return nil
}

func (f *fileType) checkOfferings() error {
	type identity struct{ zone, capacityType, reservation string }
	seen := map[identity]bool{}
	for j, o := range f.Offerings {
		id := identity{o.Zone, o.CapacityType, o.ReservationID}
		err := o.check()
		if err == nil && seen[id] {
			err = fmt.Errorf("zone: %s %s is offered twice", o.CapacityType, o.Zone)
		}
		if err != nil {
			return fmt.Errorf("offerings[%d].%w", j, err)
		}
		seen[id] = true
	}
	return nil
}

func (o *fileOffering) check() error {
	switch {
	case o.Zone == "":
		return errors.New("zone: is missing")
	case !slices.Contains([]string{catalog.OnDemand, catalog.Spot, catalog.Reserved}, o.CapacityType):
		return fmt.Errorf("capacityType: must be %s, %s or %s, not %q", catalog.OnDemand, catalog.Spot, catalog.Reserved, o.CapacityType)
	case o.Price == nil:
		return errors.New("price: is missing")
	case *o.Price < 0 || *o.Price > model.MaxPrice.Float() || math.IsNaN(*o.Price):
		return fmt.Errorf("price: must be between 0 and %d, not %v", int(model.MaxPrice.Float()), *o.Price)
	case o.CapacityType == catalog.Reserved && o.ReservationID == "":
		return errors.New("reservationID: is missing")
	case o.CapacityType != catalog.Reserved && (o.ReservationID != "" || o.ReservationCapacity != 0):
		return errors.New("reservationID: is only for reserved capacity")
	case o.ReservationCapacity < 0:
		return errors.New("reservationCapacity: is negative")
	}
	return nil
}

func (f *fileType) translate(wellKnown []string) catalog.Type {
	out := catalog.Type{Name: f.Name, Capacity: resources(f.Capacity), Overhead: resources(f.Overhead)}
	zones, capacityTypes := map[string]bool{}, map[string]bool{}
	for i := range f.Offerings {
		out.Offerings = append(out.Offerings, f.Offerings[i].translate())
		zones[f.Offerings[i].Zone], capacityTypes[f.Offerings[i].CapacityType] = true, true
	}
	values := map[string][]string{
		requirement.KeyInstanceType: {f.Name},
		requirement.KeyArch:         {f.Architecture},
		requirement.KeyOS:           f.OperatingSystems,
		requirement.KeyZone:         order.Keys(zones),
		requirement.KeyCapacityType: order.Keys(capacityTypes),
	}
	for label, value := range f.Labels {
		values[label] = []string{value}
	}
	out.Requirements = typeRequirements(values, wellKnown)
	return out
}

// typeRequirements define every well-known label. A label that the file does not set does not exist
// on the type. The name of the pool is left out, because a type does not depend on it.
func typeRequirements(values map[string][]string, wellKnown []string) requirement.Set {
	all := maps.Clone(values)
	for _, key := range wellKnown {
		if _, said := all[key]; !said && key != requirement.KeyNodePool {
			all[key] = nil
		}
	}
	var list []requirement.Requirement
	for _, key := range order.Keys(all) {
		operator := requirement.In
		if all[key] == nil {
			operator = requirement.DoesNotExist
		}
		list = append(list, requirement.New(key, operator, all[key]...))
	}
	return requirement.NewSet(list...)
}

func (o *fileOffering) translate() catalog.Offering {
	return catalog.Offering{
		Zone:                o.Zone,
		CapacityType:        o.CapacityType,
		ReservationID:       o.ReservationID,
		Price:               model.MoneyFromFloat(*o.Price),
		Available:           o.Available == nil || *o.Available,
		ReservationCapacity: o.ReservationCapacity,
	}
}
