import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From reports of bmcweb, and what the dump of a GB200 has of it. */
export const OPENBMC = dialectFrom(STANDARD, {
  description: 'OpenBMC (bmcweb)',
  basis: 'dump',
  paths: {
    system: 'system',
    manager: 'bmc',
    chassis: 'chassis',
  },
  service: {
    vendor: null,
    product: null,
    oem: null,
    redfishVersion: '1.17.0',
  },
  media: {
    slots: [
      { id: 'Slot_0', name: 'Virtual Removable Media', drive: 'cdrom', types: ['CD', 'USBStick'], below: ['Managers'] },
      { id: 'Slot_1', name: 'Virtual Removable Media', drive: 'disk', types: ['CD', 'USBStick'], below: ['Managers'] },
    ],
    systemLink: 'absent',
    insertBy: 'action',
    emptyImage: 'absent',
  },
  boot: {
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Hdd: 'Hdd',
      Cd: 'Cd',
      Diags: 'Diags',
      BiosSetup: 'BiosSetup',
      Usb: 'Usb',
    },
    showsEnabledValues: true,
  },
  power: {
    resets: ['ForceOff', 'PowerCycle', 'Nmi', 'GracefulShutdown', 'On', 'ForceOn', 'GracefulRestart', 'ForceRestart'],
    resetsBy: 'ActionInfo',
  },
  bios: {
    registry: null,
  },
  errors: {
    base: 'Base.1.18.1',
  },
  properties: {
    leftOut: [
      'ComputerSystem.Boot.HttpBootUri',
      'ComputerSystem.Boot.UefiTargetBootSourceOverride',
      'ComputerSystem.SimpleStorage',
      'Storage.Volumes',
      'Port.Ethernet.LLDPEnabled',
      'Port.Ethernet.LLDPReceive',
    ],
  },
})
