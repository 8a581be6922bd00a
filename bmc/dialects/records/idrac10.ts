import { dialectFrom } from '../dialect.js'
import { IDRAC9 } from './idrac9.js'

/**
 * From reports (dell/iDRAC-Redfish-Scripting#324, ansible-collections/community.general#11297,
 * dell/terraform-provider-redfish#329, ironcore-dev/metal-operator#1015; sushy 5.14 `set_system_boot_options`).
 */
export const IDRAC10 = dialectFrom(IDRAC9, {
  description: 'Dell iDRAC 10 of the 17th generation',
  basis: 'reports',
  model: 'PowerEdge R770',
  media: {
    // Listed in this order; a machine boots from slot 1 only.
    slots: [
      { id: '2', name: 'VirtualMedia Instance 2', drive: 'disk', types: ['CD', 'DVD', 'USBStick'], below: ['Systems'] },
      {
        id: '1',
        name: 'VirtualMedia Instance 1',
        drive: 'cdrom',
        types: ['CD', 'DVD', 'USBStick'],
        below: ['Systems'],
      },
    ],
  },
  boot: {
    at: 'settings',
    settings: 'Settings',
    targetsAt: 'settings',
    mode: 'read-only',
  },
  etags: {
    form: 'quoted',
    onActions: 'refused',
  },
  power: {
    // No ForceOn; On is refused for a while after the power went off (ironic 39 redfish/power.py _set_power_state).
    settling: { seconds: 10, status: 409 },
  },
  properties: {
    leftOut: [...IDRAC9.properties.leftOut, 'Manager.VirtualMedia'],
  },
})
