package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
)

var yes, no = true, false

// place is where a machine is that Ironic does not make for the address of its BMC.
type place struct {
	DriverInfo map[string]any `json:"driver_info"`
	MAC        string         `json:"mac"`
}

// MACHINES has the places of machines by the names of scenarios, as JSON.
var elsewhere = fromEnvironment[map[string]place]("MACHINES")

func fromEnvironment[T any](name string) (value T) {
	if text := os.Getenv(name); text != "" {
		must(json.Unmarshal([]byte(text), &value))
	}
	return value
}

// machine registers a host behind a BMC of its own.
func machine(ctx context.Context, client *gophercloud.ServiceClient, name string, address string, mac string) *nodes.Node {
	driverInfo := map[string]any{
		"redfish_address":   "https://" + address,
		"redfish_system_id": "/redfish/v1/Systems/1",
		"redfish_username":  "admin",
		"redfish_password":  "secret",
	}
	if there, known := elsewhere[name]; known {
		driverInfo, mac = there.DriverInfo, there.MAC
	}
	node := got(nodes.Create(ctx, client, nodes.CreateOpts{
		Name:              "metal3~" + name,
		Driver:            "redfish",
		DriverInfo:        driverInfo,
		BootInterface:     "redfish-virtual-media",
		InspectInterface:  "agent",
		FirmwareInterface: "redfish",
		RAIDInterface:     "redfish",
		DisablePowerOff:   disablePowerOff(client),
		Properties:        map[string]any{"capabilities": "boot_mode:uefi", "cpu_arch": "x86_64"},
	}).Extract())
	got(ports.Create(ctx, client, ports.CreateOpts{NodeUUID: node.UUID, Address: mac, PXEEnabled: &yes}).Extract())
	return node
}

// disablePowerOff is refused below 1.95.
func disablePowerOff(client *gophercloud.ServiceClient) *bool {
	if client.Microversion == "1.89" || client.Microversion == "1.93" {
		return nil
	}
	return &no
}

func provision(ctx context.Context, client *gophercloud.ServiceClient, uuid string, opts nodes.ProvisionStateOpts) {
	must(nodes.ChangeProvisionState(ctx, client, uuid, opts).ExtractErr())
}

func patch(ctx context.Context, client *gophercloud.ServiceClient, uuid string, values map[string]any) *nodes.Node {
	var opts nodes.UpdateOpts
	for path, value := range values {
		opts = append(opts, nodes.UpdateOperation{Op: nodes.AddOp, Path: path, Value: value})
	}
	return got(nodes.Update(ctx, client, uuid, opts).Extract())
}

// INSTALL has the arguments of the installation, as JSON.
var install = []nodes.DeployStep{
	{Interface: "deploy", Step: "install_coreos", Args: installArgs(), Priority: 80},
}

func installArgs() map[string]any {
	if args := fromEnvironment[map[string]any]("INSTALL"); args != nil {
		return args
	}
	return map[string]any{}
}

func configDrive(name string) nodes.ConfigDrive {
	return nodes.ConfigDrive{
		MetaData: map[string]any{"name": name, "uuid": "d0000000-0000-4000-8000-000000000001"},
		UserData: `{"ignition":{"version":"3.4.0"}}`,
	}
}

func told(node *nodes.Node) fields {
	return fields{"state": node.ProvisionState, "power": node.PowerState, "error": node.LastError}
}

// A host from its registration to its deletion, by a custom deployment.
func lifecycle(ctx context.Context, client *gophercloud.ServiceClient) {
	node := machine(ctx, client, "life", "10.3.0.1", "52:54:00:c3:00:01")
	emit(told(node))
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetManage})
	emit(told(until(ctx, client, node.UUID, nodes.Manageable)))

	_, err := nodes.GetInventory(ctx, client, node.UUID).Extract()
	emit(refusal(err))
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetInspect})
	until(ctx, client, node.UUID, nodes.InspectWait, nodes.Manageable)
	emit(told(until(ctx, client, node.UUID, nodes.Manageable)))
	inventory := got(nodes.GetInventory(ctx, client, node.UUID).Extract())
	plugins := got(inventory.PluginData.AsStandardData())
	emit(fields{
		"vendor":     inventory.Inventory.SystemVendor.Manufacturer,
		"cpus":       inventory.Inventory.CPU.Count,
		"memory":     inventory.Inventory.Memory.PhysicalMb,
		"frequency":  inventory.Inventory.CPU.Frequency,
		"disks":      len(inventory.Inventory.Disks),
		"mac":        inventory.Inventory.Interfaces[0].MACAddress,
		"interfaces": len(plugins.AllInterfaces),
	})

	size := 10
	must(nodes.SetRAIDConfig(ctx, client, node.UUID, nodes.RAIDConfigOpts{
		LogicalDisks: []nodes.LogicalDisk{{SizeGB: &size, RAIDLevel: nodes.RAID1, VolumeName: "root", IsRootVolume: &yes}},
	}).ExtractErr())
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: []nodes.CleanStep{
		{Interface: "raid", Step: "delete_configuration"},
	}})
	emit(told(until(ctx, client, node.UUID, nodes.Manageable, nodes.CleanFail)))

	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetProvide})
	emit(told(until(ctx, client, node.UUID, nodes.Available, nodes.CleanFail)))
	patch(ctx, client, node.UUID, map[string]any{
		"/instance_uuid":             "d0000000-0000-4000-8000-000000000001",
		"/instance_info/root_device": map[string]any{"name": "s== /dev/sda"},
		"/deploy_interface":          "custom-agent",
	})
	valid := got(nodes.Validate(ctx, client, node.UUID).Extract())
	emit(fields{"boot": valid.Boot, "deploy": valid.Deploy})
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{
		Target: nodes.TargetActive, ConfigDrive: configDrive("life"), DeploySteps: install,
	})
	emit(told(until(ctx, client, node.UUID, nodes.Active, nodes.DeployFail)))
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetDeleted})
	emit(told(until(ctx, client, node.UUID, nodes.Available, nodes.CleanFail, nodes.Error)))

	must(nodes.SetMaintenance(ctx, client, node.UUID, nodes.MaintenanceOpts{Reason: "forcing deletion"}).ExtractErr())
	must(nodes.Delete(ctx, client, node.UUID).ExtractErr())
	emit(refusal(nodes.Get(ctx, client, node.UUID).Err))
}

// What is done to a host that runs: adopted, serviced, rebuilt.
func instance(ctx context.Context, client *gophercloud.ServiceClient) {
	node := machine(ctx, client, "instance", "10.3.0.2", "52:54:00:c3:00:02")
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetManage})
	until(ctx, client, node.UUID, nodes.Manageable)
	patch(ctx, client, node.UUID, map[string]any{
		"/deploy_interface": "custom-agent", "/instance_info/boot_iso": "http://images.invalid/live.iso",
	})
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetAdopt})
	emit(told(until(ctx, client, node.UUID, nodes.Active, nodes.AdoptFail)))
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetService, ServiceSteps: []nodes.ServiceStep{
		{Interface: "bios", Step: "apply_configuration", Args: map[string]any{"settings": []any{}}},
	}})
	emit(told(until(ctx, client, node.UUID, nodes.Active, "service failed")))
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{
		Target: nodes.TargetRebuild, ConfigDrive: configDrive("instance"), DeploySteps: install,
	})
	emit(told(until(ctx, client, node.UUID, nodes.Active, nodes.DeployFail)))
}

// What Ironic refuses, and failures that leave a node in another state than was asked for.
func refused(ctx context.Context, client *gophercloud.ServiceClient) {
	emit(refusal(nodes.Get(ctx, client, "nowhere").Err))
	emit(refusal(nodes.Create(ctx, client, nodes.CreateOpts{Driver: "no-driver"}).Err))
	node := machine(ctx, client, "refused", "10.3.0.3", "52:54:00:c3:00:03")
	emit(refusal(nodes.Create(ctx, client, nodes.CreateOpts{Driver: "redfish", Name: "metal3~refused"}).Err))
	emit(refusal(ports.Create(ctx, client, ports.CreateOpts{NodeUUID: node.UUID, Address: "52:54:00:c3:00:03"}).Err))
	emit(refusal(nodes.ChangeProvisionState(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetProvide}).Err))
	emit(refusal(nodes.Update(ctx, client, node.UUID, nodes.UpdateOpts{
		nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/no_such_field", Value: 1},
	}).Err))

	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetManage})
	until(ctx, client, node.UUID, nodes.Manageable)
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetProvide})
	until(ctx, client, node.UUID, nodes.Available)
	patch(ctx, client, node.UUID, map[string]any{"/deploy_interface": "custom-agent"})
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetActive, DeploySteps: []nodes.DeployStep{
		{Interface: "deploy", Step: "nonsense", Args: map[string]any{}, Priority: 80},
	}})
	failed := until(ctx, client, node.UUID, nodes.Active, nodes.DeployFail)
	emit(told(failed))
	// All that gophercloud makes of a node can be read: nothing has a type that it does not expect.
	emit(fields{"node": json.RawMessage(got(json.Marshal(failed)))})
}
