import type { JsonObject, NodeRecord, PortRecord } from '../../base/wire/index.js'

// Each kind of record that stays in memory is made by one literal here, so that V8 describes the fields of all of them
// once. A record that spreads others gets a description of its own, which is as large as its values; reading a field of
// thousands of such records takes ten times as long.

const EMPTY_OBJECT: JsonObject = Object.freeze({})

/** Most objects of a record are empty. */
function lean(value: JsonObject): JsonObject {
  for (const _ in value) return value
  return value && EMPTY_OBJECT
}

/** A copy of the node that shares its values. */
export const leanNode = (node: NodeRecord): NodeRecord => ({
  name: node.name,
  allocation_id: node.allocation_id,
  automated_clean: node.automated_clean,
  boot_mode: node.boot_mode,
  chassis_id: node.chassis_id,
  clean_step: lean(node.clean_step),
  conductor_affinity: node.conductor_affinity,
  conductor_group: node.conductor_group,
  console_enabled: node.console_enabled,
  deploy_step: lean(node.deploy_step),
  description: node.description,
  disable_power_off: node.disable_power_off,
  driver_info: lean(node.driver_info),
  driver_internal_info: lean(node.driver_internal_info),
  extra: lean(node.extra),
  fault: node.fault,
  health: node.health,
  inspection_finished_at: node.inspection_finished_at,
  inspection_started_at: node.inspection_started_at,
  instance_info: lean(node.instance_info),
  instance_name: node.instance_name,
  instance_uuid: node.instance_uuid,
  last_error: node.last_error,
  lessee: node.lessee,
  maintenance: node.maintenance,
  maintenance_reason: node.maintenance_reason,
  network_data: lean(node.network_data),
  owner: node.owner,
  parent_node: node.parent_node,
  power_state: node.power_state,
  properties: lean(node.properties),
  protected: node.protected,
  protected_reason: node.protected_reason,
  provision_state: node.provision_state,
  provision_updated_at: node.provision_updated_at,
  raid_config: lean(node.raid_config),
  reservation: node.reservation,
  resource_class: node.resource_class,
  retired: node.retired,
  retired_reason: node.retired_reason,
  secure_boot: node.secure_boot,
  service_step: lean(node.service_step),
  shard: node.shard,
  target_power_state: node.target_power_state,
  target_provision_state: node.target_provision_state,
  target_raid_config: lean(node.target_raid_config),
  traits: node.traits,
  driver: node.driver,
  deploy_interface: node.deploy_interface,
  inspect_interface: node.inspect_interface,
  bios_interface: node.bios_interface,
  boot_interface: node.boot_interface,
  console_interface: node.console_interface,
  firmware_interface: node.firmware_interface,
  management_interface: node.management_interface,
  network_interface: node.network_interface,
  power_interface: node.power_interface,
  raid_interface: node.raid_interface,
  rescue_interface: node.rescue_interface,
  storage_interface: node.storage_interface,
  vendor_interface: node.vendor_interface,
  uuid: node.uuid,
  created_at: node.created_at,
  updated_at: node.updated_at,
  id: node.id,
})

/** A copy of the port that shares its values. */
export const leanPort = (port: PortRecord): PortRecord => ({
  extra: lean(port.extra),
  local_link_connection: lean(port.local_link_connection),
  portgroup_id: port.portgroup_id,
  pxe_enabled: port.pxe_enabled,
  internal_info: lean(port.internal_info),
  physical_network: port.physical_network,
  is_smartnic: port.is_smartnic,
  name: port.name,
  description: port.description,
  vendor: port.vendor,
  category: port.category,
  available_for_dynamic_portgroup: port.available_for_dynamic_portgroup,
  node_uuid: port.node_uuid,
  address: port.address,
  uuid: port.uuid,
  node_id: port.node_id,
  created_at: port.created_at,
  updated_at: port.updated_at,
  id: port.id,
})
