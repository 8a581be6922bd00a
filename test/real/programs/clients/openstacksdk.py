"""What people do with openstacksdk's `conn.baremetal`, a fork for each scenario; one JSON line {scenario, result} or {scenario, error}."""

import json
import os
import sys
import traceback

import openstack
from openstack import exceptions, utils

# Waits look every two seconds, as machines take minutes; these take none.
utils.iterate_timeout.__defaults__ = (0.1,)

INSTALL = [{"interface": "deploy", "step": "install_coreos", "priority": 80, "args": {}}]
CONFIG_DRIVE = {"meta_data": {"name": "sdk"}, "user_data": json.dumps({"ignition": {"version": "3.4.0"}})}


def machine(number, **fields):
    return {
        "driver": "redfish",
        "driver_info": {
            "redfish_address": f"https://10.2.0.{number}",
            "redfish_system_id": "/redfish/v1/Systems/1",
            "redfish_username": "admin",
            "redfish_password": "secret",
        },
        "deploy_interface": "custom-agent",
        "inspect_interface": "agent",
        **fields,
    }


def mac(number):
    return f"52:54:00:c2:00:{number:02x}"


def raised(kind, call, *args, **kwargs):
    """The words of the exception that this must end with."""
    try:
        call(*args, **kwargs)
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")


def lifecycle(conn):
    bm = conn.baremetal
    node = bm.create_node(name="sdk-life", **machine(1))
    states = [node.provision_state]
    bm.create_port(node_uuid=node.id, address=mac(1))

    def go(verb, **more):
        states.append(bm.set_node_provision_state(node, verb, wait=True, timeout=60, **more).provision_state)

    go("manage")
    go("inspect")
    inventory = bm.get_node_inventory(node)
    go("provide")
    bm.set_node_provision_state(node, "active", deploy_steps=INSTALL, config_drive=CONFIG_DRIVE)
    [active] = bm.wait_for_nodes_provision_state([node], "active", timeout=60)
    states.append(active.provision_state)
    bm.set_node_maintenance(node, "a look inside")
    in_maintenance = bm.get_node(node).to_dict()
    bm.unset_node_maintenance(node)
    go("deleted")
    go("manage")
    go("clean", clean_steps=[{"interface": "deploy", "step": "erase_devices_metadata"}])
    bm.delete_node(node)
    return {
        "states": states,
        "macs": [nic["mac_address"] for nic in inventory["inventory"]["interfaces"]],
        "active": {key: active[key] for key in ("power_state", "last_error", "instance_info")},
        "maintenance": {key: in_maintenance[key] for key in ("is_maintenance", "maintenance_reason")},
        "gone": bm.find_node("sdk-life"),
    }


def many(conn):
    bm = conn.baremetal
    nodes = [bm.create_node(name=f"sdk-many-{n}", **machine(n)) for n in range(10, 14)]
    for number, node in enumerate(nodes, 10):
        bm.create_port(node_uuid=node.id, address=mac(number))
    for verb, state in (("manage", "manageable"), ("provide", "available")):
        for node in nodes:
            bm.set_node_provision_state(node, verb)
        ready = bm.wait_for_nodes_provision_state([node.id for node in nodes], state, timeout=60)
    listed = bm.nodes(details=True, provision_state="available", fields=None)
    paged = [node.name for node in bm.nodes(limit=1, sort_key="name") if node.name.startswith("sdk-many")]
    return {
        "ready": len(ready),
        "listed": sorted(node.name for node in listed if node.name.startswith("sdk-many")),
        "paged": paged,
    }


def allocations(conn):
    bm = conn.baremetal
    node = bm.create_node(name="sdk-allocated", resource_class="sdk.large", **machine(20, automated_clean=False))
    bm.set_node_traits(node, ["CUSTOM_SDK", "HW_CPU_X86_VMX"])
    bm.set_node_provision_state(node, "manage", wait=True, timeout=60)
    bm.set_node_provision_state(node, "provide", wait=True, timeout=60)
    first = bm.create_allocation(name="first", resource_class="sdk.large", traits=["CUSTOM_SDK"])
    first = bm.wait_for_allocation(first, timeout=60)
    taken = bm.get_node(node)
    second = bm.create_allocation(name="second", resource_class="sdk.large")
    refused = raised(exceptions.ResourceFailure, bm.wait_for_allocation, second, timeout=60)
    renamed = bm.update_allocation(first, name="renamed", extra={"for": "sdk"})
    result = {
        "state": first.state,
        "node": first.node_id == node.id,
        "taken": [taken.allocation_id == first.id, taken.instance_id == first.id],
        "refused": refused,
        "renamed": [renamed.name, renamed.extra],
        "list": sorted(allocation.name for allocation in bm.allocations(resource_class="sdk.large")),
    }
    bm.delete_allocation(second)
    bm.delete_allocation(first)
    result["freed"] = bm.get_node(node).instance_id
    return result


def failures(_):
    # It tries conflicts again for 15 seconds, as most of them are locks.
    bm = openstack.connect(baremetal_status_code_retries=0).baremetal
    node = bm.create_node(name="sdk-failing", **machine(30, automated_clean=False))
    bm.create_port(node_uuid=node.id, address=mac(30))
    bm.set_node_provision_state(node, "manage", wait=True, timeout=60)
    bm.set_node_provision_state(node, "provide", wait=True, timeout=60)
    unknown = [{"interface": "deploy", "step": "nonsense", "priority": 80, "args": {}}]
    deploy = {"wait": True, "timeout": 60, "deploy_steps": unknown}
    result = {
        "missing": raised(exceptions.NotFoundException, bm.get_node, "sdk-nowhere"),
        "taken": raised(exceptions.ConflictException, bm.create_node, name="sdk-failing", driver="fake-hardware"),
        "driver": raised(exceptions.BadRequestException, bm.create_node, name="sdk-other", driver="no-driver"),
        "verb": raised(exceptions.BadRequestException, bm.set_node_provision_state, node, "unrescue"),
        "address": raised(exceptions.ConflictException, bm.create_port, node_uuid=node.id, address=mac(30)),
        "deploy": raised(exceptions.ResourceFailure, bm.set_node_provision_state, node, "active", **deploy),
    }
    failed = bm.get_node(node)
    result["failed"] = [failed.provision_state, failed.last_error]
    some = bm.wait_for_nodes_provision_state([node], "active", timeout=10, fail=False)
    result["some"] = [len(some.success), len(some.failure), len(some.timeout)]
    bm.set_node_provision_state(node, "deleted", wait=True, timeout=60)
    return result


def cloud_layer(conn):
    """The older calls of the connection itself, which Ansible's modules use."""
    node = conn.register_machine([mac(40)], wait=True, timeout=60, name="sdk-machine", **machine(40))
    inspected = conn.inspect_machine(node.id, wait=True, timeout=60)
    nics = [nic["address"] for nic in conn.list_nics_for_machine(node.id)]
    by_mac = conn.get_machine_by_mac(mac(40))
    conn.set_machine_power_on(node.id)
    conn.baremetal.wait_for_node_power_state(node, "power on", timeout=60)
    conn.set_machine_power_reboot(node.id)
    conn.baremetal.wait_for_node_power_state(node, "power on", timeout=60)
    conn.set_machine_power_off(node.id)
    conn.baremetal.wait_for_node_power_state(node, "power off", timeout=60)
    conn.set_machine_maintenance_state(node.id, True, "by the cloud")
    conn.remove_machine_from_maintenance(node.id)
    conn.patch_machine(node.id, [{"op": "add", "path": "/extra/rack", "value": "b4"}])
    updated = conn.update_machine(node.id, description="in row b")
    result = {
        "registered": node.provision_state,
        "inspected": inspected.provision_state,
        "nics": nics,
        "by_mac": by_mac.id == node.id,
        "patched": [conn.get_machine("sdk-machine").extra, sorted(updated)],
    }
    conn.baremetal.set_node_provision_state(node, "manage", wait=True, timeout=60)
    conn.unregister_machine([mac(40)], node.id, timeout=60)
    result["gone"] = conn.get_machine("sdk-machine")
    return result


def hardware(conn):
    bm = conn.baremetal
    node = bm.create_node(name="sdk-hardware", **machine(50))
    port = bm.create_port(node_uuid=node.id, address=mac(50))
    bm.set_node_provision_state(node, "manage", wait=True, timeout=60)
    bm.set_node_boot_device(node, "cdrom", persistent=False)
    device = bm.get_node_boot_device(node)
    bm.set_node_boot_mode(node, "bios")
    bm.set_node_boot_mode(node, "uefi")
    bm.set_node_secure_boot(node, True)
    secure = bm.get_node(node).is_secure_boot
    bm.set_node_secure_boot(node, False)
    bm.attach_vmedia_to_node(node, "cdrom", "http://images.invalid/data.iso")
    bm.detach_vmedia_from_node(node)
    vif = "a0000000-0000-4000-8000-000000000001"
    bm.attach_vif_to_node(node, vif)
    vifs = bm.list_node_vifs(node)
    detached = bm.detach_vif_from_node(node, vif)
    bm.inject_nmi_to_node(node)
    return {
        "devices": bm.get_node_supported_boot_devices(node),
        "device": device,
        "secure": secure,
        "vifs": vifs,
        "detached": [detached, bm.list_node_vifs(node)],
        "firmware": sorted(part["component"] for part in bm.list_node_firmware(node)["firmware"]),
        "methods": sorted(bm.list_node_vendor_passthru(node)),
        "valid": {name: check.result for name, check in bm.validate_node(node, required=("power", "management")).items()},
        "port": bm.get_port(port).address,
        "conductors": [conductor.hostname for conductor in bm.conductors()],
    }


scenarios = [lifecycle, many, allocations, failures, cloud_layer, hardware]
children = []
for scenario in scenarios:
    child = os.fork()
    if child == 0:
        said = {"scenario": scenario.__name__}
        try:
            said["result"] = scenario(openstack.connect())
        except Exception:
            said["error"] = traceback.format_exc()
        # Short enough for a pipe to take it at once.
        os.write(1, (json.dumps(said) + "\n").encode())
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
