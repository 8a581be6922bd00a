import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From reports (check_redfish's bmc.py and redfish.py; Ironic's bugs 2031595, 2039042). */
export const CIMC = dialectFrom(STANDARD, {
  description: 'Cisco CIMC, from reports',
  basis: 'reports',
  manufacturer: 'Cisco Systems Inc',
  model: 'UCSC-C220-M6S',
  paths: {
    // Clients look for "CIMC" in the manager's id, since the root has no Oem.
    manager: 'CIMC',
  },
  service: {
    vendor: null,
    product: null,
  },
  resources: {
    // check_redfish bmc.py: a second manager without Status.
    further: [{ folder: 'Managers', id: 'BMC2', place: 'last', properties: { ManagerType: 'BMC' } }],
  },
  media: {
    slots: [
      { id: '0', name: 'CIMC-Mapped vDVD', drive: 'cdrom', types: ['DVD'], below: ['Managers'] },
      { id: '1', name: 'vKVM-Mapped vDVD', drive: null, types: ['DVD'], below: ['Managers'] },
    ],
    systemLink: 'absent',
    // Ironic's bugs 2031595 and 2039042: the slot has the action, which answers 400.
    driveless: 'listed',
  },
  properties: {
    leftOut: ['ComputerSystem.EthernetInterfaces'],
  },
})
