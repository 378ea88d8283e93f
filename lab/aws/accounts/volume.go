package accounts

import (
	"slices"

	"tenon/lab/aws/wire"
)

// Volumes returns the volumes of visible instances, and those that outlived theirs.
func (r *Region) Volumes() []*Volume {
	all := slices.Clone(r.outlived)
	for _, i := range r.Instances() {
		if i.alive() {
			all = append(all, i.Volumes...)
		}
	}
	return all
}

// Volume finds a volume.
func (r *Region) Volume(id string) (*Volume, error) {
	for _, v := range r.Volumes() {
		if v.ID == id {
			return v, nil
		}
	}
	return nil, wire.Errorf("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
}

// DeleteVolume removes a volume that no instance has.
func (r *Region) DeleteVolume(id string) error {
	v, err := r.Volume(id)
	switch {
	case err != nil:
		return err
	case v.Instance != nil:
		return wire.Errorf("VolumeInUse", "Volume %s is currently attached to %s", id, v.Instance.ID)
	}
	r.outlived = slices.DeleteFunc(r.outlived, func(other *Volume) bool { return other == v })
	return nil
}

// Attachment is an interface and the instance that has it.
type Attachment struct {
	*Interface
	Instance *Instance
}

// Interfaces returns the interfaces of visible instances.
func (r *Region) Interfaces() []Attachment {
	var all []Attachment
	for _, i := range r.Instances() {
		for _, n := range i.Interfaces {
			if i.alive() {
				all = append(all, Attachment{n, i})
			}
		}
	}
	return all
}

// Interface finds an interface.
func (r *Region) Interface(id string) (Attachment, error) {
	for _, n := range r.Interfaces() {
		if n.ID == id {
			return n, nil
		}
	}
	return Attachment{}, wire.Errorf("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '%s' does not exist", id)
}

// SpotInstances returns the instances of spot requests, for as long as they are remembered.
func (r *Region) SpotInstances() []*Instance {
	return slices.DeleteFunc(r.Instances(), func(i *Instance) bool { return i.SpotRequest == "" })
}

// SpotRequest finds the instance of a spot request.
func (r *Region) SpotRequest(id string) (*Instance, error) {
	for _, i := range r.SpotInstances() {
		if i.SpotRequest == id {
			return i, nil
		}
	}
	return nil, wire.Errorf("InvalidSpotInstanceRequestID.NotFound", "The spot instance request ID '%s' does not exist", id)
}
