import { dialectFrom } from '../dialect.js'
import { SUPERMICRO_X11 } from './supermicro-x11.js'

/**
 * From a dump of an X10SDV-TLN4F, BMC 4.00 (spyroot/redfish_ctl, tests/supermicro_x10_fixtures), and reports: badfish main.py
 * mount_virtual_media and its tests' answers of VM1, bmclib's fixture of a system's Boot, metal-operator#982 and #985.
 */
export const SUPERMICRO_X10 = dialectFrom(SUPERMICRO_X11, {
  description: 'Supermicro X10, with virtual media by CfgCD',
  basis: 'dump',
  model: 'X10SDV-TLN4F',
  service: {
    oem: null,
    redfishVersion: '1.0.1',
  },
  resources: {
    absent: ['/UpdateService', '/Systems/*/Bios', '/Systems/*/SecureBoot'],
  },
  media: {
    slots: [{ id: 'CD1', name: 'Virtual Removable Media', drive: 'cdrom', types: ['CD', 'DVD'], below: ['Managers'] }],
    systemLink: 'absent',
    insertBy: 'config',
    folder: 'VM1',
    whenFull: 'replaced',
  },
  boot: {
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Hdd: 'Hdd',
      Diags: 'Diags',
      'CD/DVD': 'Hdd',
      BiosSetup: 'BiosSetup',
      FloppyRemovableMedia: 'Floppy',
      UsbKey: 'Usb',
      UsbHdd: 'Usb',
      UsbFloppy: 'Floppy',
      UsbCd: 'Cd',
      UefiUsbKey: 'Usb',
      UefiCd: 'Hdd',
      UefiHdd: 'Hdd',
      UefiUsbHdd: 'Usb',
      UefiUsbCd: 'Cd',
    },
    mode: 'absent',
    modeDefault: 'kept',
  },
  power: {
    resets: ['On', 'ForceOff', 'GracefulRestart', 'ForceRestart', 'Nmi', 'ForceOn'],
    resetsBy: 'inline',
  },
  bios: {
    registry: null,
  },
  errors: {
    base: 'Base.1.0.0',
    success: 'message',
  },
  properties: {
    leftOut: [
      'ComputerSystem.Boot.HttpBootUri',
      'ComputerSystem.Boot.UefiTargetBootSourceOverride',
      'ComputerSystem.BootProgress',
      'Port.Ethernet.LLDPEnabled',
      'Port.Ethernet.LLDPReceive',
      'Storage.Volumes',
    ],
    changed: {},
  },
})
