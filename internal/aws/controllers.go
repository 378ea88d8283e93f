package aws

import (
	"tenon/internal/aws/controller/capacityreservation"
	"tenon/internal/aws/controller/instanceprofile/garbagecollection"
	"tenon/internal/aws/controller/interruption"
	"tenon/internal/aws/controller/nodeclaim/tagging"
	"tenon/internal/aws/controller/nodeclass"
	"tenon/internal/aws/controller/providers"
	"tenon/internal/aws/controller/providers/instancetype/capacity"
	"tenon/internal/aws/controller/zonalshift"
	"tenon/internal/controller/cloudprovider/metrics"
	"tenon/internal/controller/nodegroup"
	"tenon/internal/reconcile"
)

// readers keep the catalogue current, and change nothing.
func (b *backend) readers(kit reconcile.Kit) []reconcile.Controller {
	b.kit.Store(&kit)
	list := providers.New(kit, b.provider.Inventory)
	if b.watch != nil {
		list = append(list, zonalshift.New(kit, b.watch))
	}
	return list
}

// controllers are AWS's own.
func (b *backend) controllers(kit reconcile.Kit) []reconcile.Controller {
	b.kit.Store(&kit)
	p := b.provider
	list := nodeclass.New(kit, surveyor{p.Inventory, b}, b.authority)
	list = append(list, providers.New(kit, p.Inventory)...)
	list = append(list, capacity.New(kit, p.Inventory, b.Namespace)...)
	list = append(list, metrics.New(kit), tagging.New(kit, p), providers.NewTidying(p), interruption.NewStatus(kit, p, b.metrics))
	if p.Events != nil {
		list = append(list, interruption.New(kit, p.Events, p, b.metrics))
	}
	if p.ReservedCapacity {
		list = append(list, capacityreservation.New(kit, p.Inventory)...)
	}
	if b.groups != nil {
		list = append(list, nodegroup.New(kit, b.groups))
	}
	if !p.IsolatedVPC {
		list = append(list, garbagecollection.New(kit, p.Profiles))
	}
	if b.watch != nil {
		list = append(list, zonalshift.New(kit, b.watch))
	}
	return list
}
