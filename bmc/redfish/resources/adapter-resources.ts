import { isIP } from 'node:net'
import { defined } from '../../../base/runtime/index.js'
import { announcedNeighbour, type Machine, type NicSpec } from '../../../machine/index.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import type { CollectionName } from '../protocol/schema-versions.js'
import { ofMachine, type MachineCall, type RedfishResource } from '../protocol/resource.js'

const pathTo = ({ spec }: Machine, ...more: string[]): string[] => ['Chassis', spec.id, 'NetworkAdapters', ...more]

/** An adapter of one port a NIC, by the names of the NICs. */
const nicOf = ({ machine, params }: MachineCall): NicSpec | undefined =>
  machine.spec.nics.find(({ name }) => name === params['adapter'])

function adapterOf(call: MachineCall): RedfishDocument | undefined {
  const nic = nicOf(call)
  if (!nic) return undefined
  const { machine } = call
  const serial = `NIC-${machine.spec.serial}-${machine.spec.nics.indexOf(nic) + 1}`
  const firmware = machine.firmware.versions().find(({ component }) => component === `nic:${serial}`)
  const path = pathTo(machine, nic.name)
  return {
    ...resourceHead('NetworkAdapter', path, `Network adapter of ${nic.name}`),
    Manufacturer: firmware?.vendor ?? machine.spec.manufacturer,
    Model: firmware?.model ?? null,
    SerialNumber: serial,
    Controllers: [{ FirmwarePackageVersion: firmware?.version ?? null }],
    NetworkDeviceFunctions: referenceTo(...path, 'NetworkDeviceFunctions'),
    Ports: referenceTo(...path, 'Ports'),
    Status: enabledStatus(),
  }
}

function functionOf(call: MachineCall): RedfishDocument | undefined {
  const nic = nicOf(call)
  if (!nic || call.params['function'] !== '1') return undefined
  const adapter = pathTo(call.machine, nic.name)
  return {
    ...resourceHead('NetworkDeviceFunction', [...adapter, 'NetworkDeviceFunctions', '1'], nic.name),
    NetDevFuncType: 'Ethernet',
    Ethernet: { MACAddress: nic.mac, PermanentMACAddress: nic.mac },
    BootMode: nic.pxe ? 'PXE' : 'Disabled',
    Links: { PhysicalNetworkPortAssignment: referenceTo(...adapter, 'Ports', '1') },
    Status: enabledStatus(),
  }
}

/** The switch port that a NIC hears of by LLDP (Port 1.9, Ethernet), as Ironic's Redfish inspection reads it. */
function lldpOf(nic: NicSpec, index: number): RedfishDocument {
  const neighbour = nic.carrier ? announcedNeighbour(nic, index) : null
  if (!neighbour) return { LLDPEnabled: true }
  const { chassis, port, name, system, managementAddresses, untaggedVlan } = neighbour
  return {
    LLDPEnabled: true,
    LLDPReceive: defined({
      ChassisId: chassis,
      ChassisIdSubtype: 'MacAddr',
      PortId: port,
      PortIdSubtype: MAC_PORT.test(port) ? 'MacAddr' : system.portSubtype(port) === 5 ? 'IfName' : 'LocalAssign',
      SystemName: name,
      SystemDescription: system.description ?? undefined,
      ManagementAddressIPv4: managementAddresses.find((address) => isIP(address) === 4),
      ManagementAddressIPv6: managementAddresses.find((address) => isIP(address) === 6),
      ManagementVlanId: untaggedVlan ?? undefined,
    }),
  }
}

const MAC_PORT = /^[\da-f]{2}(:[\da-f]{2}){5}$/i

function portOf(call: MachineCall): RedfishDocument | undefined {
  const nic = nicOf(call)
  if (!nic || call.params['port'] !== '1') return undefined
  return {
    ...resourceHead('Port', [...pathTo(call.machine, nic.name), 'Ports', '1'], `Port of ${nic.name}`),
    PortId: '1',
    LinkStatus: nic.carrier ? 'LinkUp' : 'LinkDown',
    CurrentSpeedGbps: nic.carrier ? 10 : 0,
    Ethernet: { AssociatedMACAddresses: [nic.mac], ...lldpOf(nic, call.machine.spec.nics.indexOf(nic)) },
    Status: enabledStatus(),
  }
}

const ADAPTERS_ROOT = '/Chassis/{machine}/NetworkAdapters'

const nicResource = (type: CollectionName, name: string) => (call: MachineCall) => {
  const nic = nicOf(call)
  if (!nic) return undefined
  const path = pathTo(call.machine, nic.name, name)
  return makeCollection(type, path, name, [referenceTo(...path, '1')])
}

/** Adapters of the NICs, with their firmware. */
export const NETWORK_ADAPTER_RESOURCES: readonly RedfishResource[] = [
  ofMachine(ADAPTERS_ROOT, {
    reads: 'read hardware',
    get: ({ machine }) => {
      const members = machine.spec.nics.map(({ name }) => referenceTo(...pathTo(machine, name)))
      return makeCollection('NetworkAdapterCollection', pathTo(machine), 'Network Adapters', members)
    },
  }),
  ofMachine(`${ADAPTERS_ROOT}/{adapter}`, { reads: 'read hardware', get: adapterOf }),
  ofMachine(`${ADAPTERS_ROOT}/{adapter}/NetworkDeviceFunctions`, {
    reads: 'read hardware',
    get: nicResource('NetworkDeviceFunctionCollection', 'NetworkDeviceFunctions'),
  }),
  ofMachine(`${ADAPTERS_ROOT}/{adapter}/NetworkDeviceFunctions/{function}`, {
    reads: 'read hardware',
    get: functionOf,
  }),
  ofMachine(`${ADAPTERS_ROOT}/{adapter}/Ports`, {
    reads: 'read hardware',
    get: nicResource('PortCollection', 'Ports'),
  }),
  ofMachine(`${ADAPTERS_ROOT}/{adapter}/Ports/{port}`, { reads: 'read hardware', get: portOf }),
]
