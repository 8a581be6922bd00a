import type { Machine, NicSpec } from '../../machine/index.js'
import { collection, head, link, status, type Document } from '../protocol/document.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

const pathTo = ({ spec }: Machine, ...more: string[]): string[] => ['Chassis', spec.id, 'NetworkAdapters', ...more]

/** An adapter of one port a NIC, by the names of the NICs. */
const nicOf = ({ machine, params }: MachineCall): NicSpec | undefined =>
  machine.spec.nics.find(({ name }) => name === params['adapter'])

function adapterOf(call: MachineCall): Document | undefined {
  const nic = nicOf(call)
  if (!nic) return undefined
  const { machine } = call
  const serial = `NIC-${machine.spec.serial}-${machine.spec.nics.indexOf(nic) + 1}`
  const firmware = machine.firmware.versions().find(({ component }) => component === `nic:${serial}`)
  const path = pathTo(machine, nic.name)
  return {
    ...head('NetworkAdapter', path, `Network adapter of ${nic.name}`),
    Manufacturer: firmware?.vendor ?? machine.spec.manufacturer,
    Model: firmware?.model ?? null,
    SerialNumber: serial,
    Controllers: [{ FirmwarePackageVersion: firmware?.version ?? null }],
    NetworkDeviceFunctions: link(...path, 'NetworkDeviceFunctions'),
    Ports: link(...path, 'Ports'),
    Status: status(),
  }
}

function functionOf(call: MachineCall): Document | undefined {
  const nic = nicOf(call)
  if (!nic || call.params['function'] !== '1') return undefined
  const adapter = pathTo(call.machine, nic.name)
  return {
    ...head('NetworkDeviceFunction', [...adapter, 'NetworkDeviceFunctions', '1'], nic.name),
    NetDevFuncType: 'Ethernet',
    Ethernet: { MACAddress: nic.mac, PermanentMACAddress: nic.mac },
    BootMode: nic.pxe ? 'PXE' : 'Disabled',
    Links: { PhysicalNetworkPortAssignment: link(...adapter, 'Ports', '1') },
    Status: status(),
  }
}

function portOf(call: MachineCall): Document | undefined {
  const nic = nicOf(call)
  if (!nic || call.params['port'] !== '1') return undefined
  return {
    ...head('Port', [...pathTo(call.machine, nic.name), 'Ports', '1'], `Port of ${nic.name}`),
    PortId: '1',
    LinkStatus: nic.carrier ? 'LinkUp' : 'LinkDown',
    CurrentSpeedGbps: nic.carrier ? 10 : 0,
    Ethernet: { AssociatedMACAddresses: [nic.mac] },
    Status: status(),
  }
}

const ROOT = '/Chassis/{machine}/NetworkAdapters'

const single = (type: string, name: string) => (call: MachineCall) => {
  const nic = nicOf(call)
  if (!nic) return undefined
  const path = pathTo(call.machine, nic.name, name)
  return collection(type, path, name, [link(...path, '1')])
}

/** Adapters of the NICs, with their firmware. */
export const NETWORK_ADAPTER_RESOURCES: readonly Resource[] = [
  ofMachine(ROOT, {
    reads: 'read hardware',
    get: ({ machine }) => {
      const members = machine.spec.nics.map(({ name }) => link(...pathTo(machine, name)))
      return collection('NetworkAdapterCollection', pathTo(machine), 'Network Adapters', members)
    },
  }),
  ofMachine(`${ROOT}/{adapter}`, { reads: 'read hardware', get: adapterOf }),
  ofMachine(`${ROOT}/{adapter}/NetworkDeviceFunctions`, {
    reads: 'read hardware',
    get: single('NetworkDeviceFunctionCollection', 'NetworkDeviceFunctions'),
  }),
  ofMachine(`${ROOT}/{adapter}/NetworkDeviceFunctions/{function}`, { reads: 'read hardware', get: functionOf }),
  ofMachine(`${ROOT}/{adapter}/Ports`, { reads: 'read hardware', get: single('PortCollection', 'Ports') }),
  ofMachine(`${ROOT}/{adapter}/Ports/{port}`, { reads: 'read hardware', get: portOf }),
]
