package main

import (
	"context"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/allocations"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/conductors"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
)

// Lists, ports, allocations, conductors and drivers.
func records(ctx context.Context, client *gophercloud.ServiceClient) {
	node := machine(ctx, client, "records", "10.3.0.4", "52:54:00:c3:00:04")
	patch(ctx, client, node.UUID, map[string]any{"/resource_class": "gopher", "/automated_clean": false})

	var names []string
	for _, node := range got(nodes.ExtractNodes(got(nodes.List(client, nodes.ListOpts{
		ResourceClass: "gopher", Fields: []string{"uuid", "name", "provision_state", "boot_interface"},
	}).AllPages(ctx)))) {
		names = append(names, node.Name)
	}
	detailed := got(nodes.ExtractNodes(got(nodes.ListDetail(client, nodes.ListOpts{ResourceClass: "gopher"}).AllPages(ctx))))
	emit(fields{"names": names, "class": detailed[0].ResourceClass, "driver": detailed[0].Driver})

	found := got(ports.ExtractPorts(got(ports.List(client, ports.ListOpts{Address: "52:54:00:c3:00:04"}).AllPages(ctx))))
	port := got(ports.Update(ctx, client, found[0].UUID, ports.UpdateOpts{
		ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/pxe_enabled", Value: false},
	}).Extract())
	emit(fields{"owner": port.NodeUUID == node.UUID, "pxe": port.PXEEnabled, "ports": len(found)})

	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetManage})
	until(ctx, client, node.UUID, nodes.Manageable)
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetProvide})
	until(ctx, client, node.UUID, nodes.Available)
	allocation := got(allocations.Create(ctx, client, allocations.CreateOpts{Name: "gopher", ResourceClass: "gopher"}).Extract())
	for allocation.State == "allocating" {
		time.Sleep(20 * time.Millisecond)
		allocation = got(allocations.Get(ctx, client, allocation.UUID).Extract())
	}
	all := got(allocations.ExtractAllocations(got(allocations.List(client, allocations.ListOpts{ResourceClass: "gopher"}).AllPages(ctx))))
	emit(fields{"state": allocation.State, "node": allocation.NodeUUID == node.UUID, "allocations": len(all)})
	must(allocations.Delete(ctx, client, allocation.UUID).ExtractErr())

	list := got(conductors.ExtractConductors(got(conductors.List(client, conductors.ListOpts{Detail: true}).AllPages(ctx))))
	conductor := got(conductors.Get(ctx, client, list[0].Hostname).Extract())
	emit(fields{"conductor": conductor.Hostname, "alive": conductor.Alive, "drivers": len(conductor.Drivers)})

	driver := got(drivers.GetDriverDetails(ctx, client, "redfish").Extract())
	properties := got(drivers.GetDriverProperties(ctx, client, "redfish").Extract())
	disks := got(drivers.GetDriverDiskProperties(ctx, client, "redfish").Extract())
	emit(fields{
		"driver": driver.Name, "boot": driver.DefaultBootInterface,
		"address": (*properties)["redfish_address"] != nil, "level": (*disks)["raid_level"] != nil,
	})
	must(ports.Delete(ctx, client, port.UUID).ExtractErr())
	emit(refusal(ports.Get(ctx, client, port.UUID).Err))
}

// What a BMC does: power, boot device, media, BIOS, firmware, subscriptions.
func hardware(ctx context.Context, client *gophercloud.ServiceClient) {
	node := machine(ctx, client, "hardware", "10.3.0.5", "52:54:00:c3:00:05")
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetManage})
	until(ctx, client, node.UUID, nodes.Manageable)

	for _, power := range []nodes.PowerStateOpts{
		{Target: nodes.PowerOn}, {Target: nodes.SoftRebooting}, {Target: nodes.Rebooting}, {Target: nodes.SoftPowerOff, Timeout: 180},
	} {
		must(nodes.ChangePowerState(ctx, client, node.UUID, power).ExtractErr())
		for node = got(nodes.Get(ctx, client, node.UUID).Extract()); node.TargetPowerState != ""; {
			time.Sleep(20 * time.Millisecond)
			node = got(nodes.Get(ctx, client, node.UUID).Extract())
		}
		emit(fields{"asked": power.Target, "power": node.PowerState, "error": node.LastError})
		// A BMC refuses it of a machine without power.
		if power.Target == nodes.Rebooting {
			must(nodes.InjectNMI(ctx, client, node.UUID).ExtractErr())
		}
	}

	must(nodes.SetBootDevice(ctx, client, node.UUID, nodes.BootDeviceOpts{BootDevice: "cdrom", Persistent: true}).ExtractErr())
	device := got(nodes.GetBootDevice(ctx, client, node.UUID).Extract())
	supported := got(nodes.GetSupportedBootDevices(ctx, client, node.UUID).Extract())
	emit(fields{"device": device.BootDevice, "persistent": device.Persistent, "supported": supported})

	must(nodes.AttachVirtualMedia(ctx, client, node.UUID, nodes.AttachVirtualMediaOpts{
		DeviceType: nodes.VirtualMediaCD, ImageURL: "http://images.invalid/data.iso",
	}).ExtractErr())
	until(ctx, client, node.UUID, nodes.Manageable)
	if client.Microversion != "1.89" {
		var media []any
		must(nodes.GetVirtualMedia(ctx, client, node.UUID).ExtractInto(&media))
		emit(fields{"media": media})
	}
	must(nodes.DetachVirtualMedia(ctx, client, node.UUID, nodes.DetachVirtualMediaOpts{
		DeviceTypes: []nodes.VirtualMediaDeviceType{nodes.VirtualMediaCD},
	}).ExtractErr())

	settings := got(nodes.ListBIOSSettings(ctx, client, node.UUID, nodes.ListBIOSSettingsOpts{Detail: true}).Extract())
	firmware := got(nodes.ListFirmware(ctx, client, node.UUID).Extract())
	var components []string
	for _, part := range firmware {
		components = append(components, part.Component)
	}
	emit(fields{"setting": settings[0], "components": components})

	methods := got(nodes.GetVendorPassthruMethods(ctx, client, node.UUID).Extract())
	subscription := got(nodes.CreateSubscription(ctx, client, node.UUID,
		nodes.CallVendorPassthruOpts{Method: "create_subscription"},
		nodes.CreateSubscriptionOpts{Destination: "https://events.invalid/", Context: "mine"}).Extract())
	read := got(nodes.GetSubscription(ctx, client, node.UUID,
		nodes.CallVendorPassthruOpts{Method: "get_subscription"}, nodes.GetSubscriptionOpts{Id: subscription.Id}).Extract())
	all := got(nodes.GetAllSubscriptions(ctx, client, node.UUID,
		nodes.CallVendorPassthruOpts{Method: "get_all_subscriptions"}).Extract())
	must(nodes.DeleteSubscription(ctx, client, node.UUID,
		nodes.CallVendorPassthruOpts{Method: "delete_subscription"}, nodes.DeleteSubscriptionOpts{Id: subscription.Id}).ExtractErr())
	emit(fields{
		"methods": methods.CreateSubscription.HTTPMethods, "destination": read.Destination, "members": all.MembersCount,
	})

	vif := "a0000000-0000-4000-8000-000000000003"
	must(nodes.AttachVirtualInterface(ctx, client, node.UUID, nodes.VirtualInterfaceOpts{ID: vif}).ExtractErr())
	must(nodes.DetachVirtualInterface(ctx, client, node.UUID, vif).ExtractErr())
	emit(fields{"vifs": len(got(nodes.ListVirtualInterfaces(ctx, client, node.UUID).Extract()))})
}
