import { makeCollection, resourceHead, referenceTo, type RedfishDocument } from '../protocol/redfish-document.js'
import { ofMachine, type MachineCall, type RedfishResource } from '../protocol/resource.js'

function interfaceOf({ machine: { spec }, params }: MachineCall): RedfishDocument | undefined {
  // In sushy-tools' emulator the MAC address is the id.
  const nic = spec.nics.find(({ name, mac }) => [name, mac].includes(params['nic']!))
  return (
    nic && {
      ...resourceHead('EthernetInterface', ['Systems', spec.id, 'EthernetInterfaces', nic.name], nic.name),
      MACAddress: nic.mac,
      PermanentMACAddress: nic.mac,
      LinkStatus: nic.carrier ? 'LinkUp' : 'LinkDown',
      SpeedMbps: nic.carrier ? 10_000 : null,
      FullDuplex: true,
      InterfaceEnabled: true,
      IPv4Addresses:
        nic.ipv4 === null
          ? []
          : [{ Address: nic.ipv4, SubnetMask: '255.255.0.0', AddressOrigin: 'Static', Gateway: null }],
      Status: { State: 'Enabled', Health: 'OK' },
    }
  )
}

/** The NICs of a system. */
export const ETHERNET_RESOURCES: readonly RedfishResource[] = [
  ofMachine('/Systems/{machine}/EthernetInterfaces', {
    reads: 'read hardware',
    get: ({ machine: { spec } }) =>
      makeCollection(
        'EthernetInterfaceCollection',
        ['Systems', spec.id, 'EthernetInterfaces'],
        'Ethernet Interfaces',
        spec.nics.map(({ name }) => referenceTo('Systems', spec.id, 'EthernetInterfaces', name)),
      ),
  }),
  ofMachine('/Systems/{machine}/EthernetInterfaces/{nic}', { reads: 'read hardware', get: interfaceOf }),
]
