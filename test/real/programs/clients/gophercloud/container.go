package main

import (
	"context"
	"os"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// A host with an image of a registry, IMAGE of the environment, from its registration to its tear-down.
func container(ctx context.Context, client *gophercloud.ServiceClient) {
	node := machine(ctx, client, "container", "10.3.0.9", "52:54:00:c3:00:09")
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetManage})
	until(ctx, client, node.UUID, nodes.Manageable)
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetProvide})
	until(ctx, client, node.UUID, nodes.Available, nodes.CleanFail)
	patch(ctx, client, node.UUID, map[string]any{
		"/instance_uuid":              "d0000000-0000-4000-8000-000000000009",
		"/instance_info/image_source": os.Getenv("IMAGE"),
	})
	valid := got(nodes.Validate(ctx, client, node.UUID).Extract())
	emit(fields{"deploy": valid.Deploy})
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{
		Target: nodes.TargetActive, ConfigDrive: configDrive("container"),
	})
	active := until(ctx, client, node.UUID, nodes.Active, nodes.DeployFail)
	emit(told(active))
	emit(fields{"interface": active.DeployInterface})
	provision(ctx, client, node.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetDeleted})
	emit(told(until(ctx, client, node.UUID, nodes.Available, nodes.CleanFail, nodes.Error)))
}
