import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From a dump of a DGX H100, AMI 23.11 (NVIDIA/libredfish, tests/mockups/nvidia_viking), and reports. */
export const AMI = dialectFrom(STANDARD, {
  description: 'AMI MegaRAC, as ASRock Rack and Gigabyte have it',
  basis: 'dump',
  maker: 'ami',
  manufacturer: 'ASRockRack',
  model: 'E3C246D4I-NL',
  paths: {
    system: 'Self',
    manager: 'Self',
    chassis: 'Self',
  },
  service: {
    vendor: 'AMI',
    product: 'AMI Redfish Server',
    oem: 'Ami',
    redfishVersion: '1.11.0',
  },
  media: {
    slots: [{ id: 'CD1', name: 'CD/DVD media instance', drive: 'cdrom', types: ['CD', 'DVD'], below: ['Managers'] }],
    systemLink: 'absent',
    insertBy: 'action',
    // sushy sends "none" where the error names them (bug 2071945).
    required: ['UserName', 'Password'],
  },
  boot: {
    at: 'settings',
    settings: 'SD',
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Floppy: 'Floppy',
      Cd: 'Cd',
      Usb: 'Usb',
      Hdd: 'Hdd',
      BiosSetup: 'BiosSetup',
      UefiTarget: 'UefiTarget',
      UefiHttp: 'UefiHttp',
    },
    targetsAt: 'settings',
    mode: 'null',
    // ironic 39 redfish/utils.py VENDORS_REQUIRING_FULL_BOOT_REQUEST
    together: ['BootSourceOverrideTarget', 'BootSourceOverrideEnabled', 'BootSourceOverrideMode'],
  },
  etags: {
    // stmcginnis/gofish#171
    without: 'refused',
  },
  power: {
    resets: ['ForceOff', 'ForceRestart', 'GracefulShutdown', 'On'],
    resetsBy: 'ActionInfo',
  },
  bios: {
    settings: 'SD',
    pending: 'all',
    registry: 'BiosAttributeRegistry113.1.1.3',
  },
  sessions: {
    timeout: 30,
  },
  errors: {
    base: 'Base.1.12',
    ids: {
      PreconditionRequired: 'Ami.1.0.PreconditionHeaderMissing',
      PropertyNotWritable: 'Ami.1.0.OperationSupportedInFutureStateURI',
    },
  },
  properties: {
    leftOut: ['ComputerSystem.BootProgress', 'Port.Ethernet.LLDPEnabled', 'Port.Ethernet.LLDPReceive'],
    macs: 'upper',
  },
})
