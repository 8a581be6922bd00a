import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From a dump of a ThinkSystem SR670 V2, XCC 2.83 (NVIDIA/libredfish, tests/mockups/lenovo), and reports. */
export const XCC = dialectFrom(STANDARD, {
  description: 'Lenovo XClarity Controller',
  basis: 'dump',
  maker: 'lenovo',
  manufacturer: 'Lenovo',
  model: 'ThinkSystem SR670 V2',
  paths: {
    system: '1',
    manager: '1',
    chassis: '1',
  },
  service: {
    vendor: 'Lenovo',
    product: null,
    oem: null,
    redfishVersion: '1.15.0',
  },
  resources: {
    further: [{ folder: 'Chassis', id: '3', place: 'last', properties: { ChassisType: 'Module' } }],
  },
  media: {
    // The other ones refuse images (ansible's redfish_command skips RDOC and Remote).
    slots: [
      ...externalSlot('EXT1', 'cdrom'),
      ...externalSlot('EXT2', 'disk'),
      ...externalSlot('EXT3', 'floppy'),
      ...externalSlot('EXT4', null),
      ...externalSlot('RDOC1', null),
      ...externalSlot('RDOC2', null),
      ...externalSlot('Remote1', null),
      ...externalSlot('Remote2', null),
      ...externalSlot('Remote3', null),
      ...externalSlot('Remote4', null),
    ],
    insertBy: 'patch',
  },
  boot: {
    settings: 'Pending',
    settingsHold: 'order',
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Cd: 'Cd',
      Usb: 'Usb',
      Hdd: 'Hdd',
      BiosSetup: 'BiosSetup',
      Diags: 'Diags',
      UefiTarget: 'UefiTarget',
    },
    enabled: ['Once', 'Disabled'],
    showsEnabledValues: true,
  },
  power: {
    resets: ['On', 'Nmi', 'GracefulShutdown', 'GracefulRestart', 'ForceOn', 'ForceOff', 'ForceRestart'],
    resetsBy: 'both',
  },
  bios: {
    settings: 'Pending',
    pending: 'all',
    registry: 'BiosAttributeRegistry.1.0.0',
  },
  ipmi: {
    manufacturerId: 19046,
  },
  sessions: {
    timeout: 300,
  },
  errors: {
    base: 'Base.1.12',
  },
  properties: {
    leftOut: [
      'ComputerSystem.BootProgress',
      'ComputerSystem.Boot.HttpBootUri',
      'ComputerSystem.SimpleStorage',
      'ComputerSystem.ProcessorSummary.CoreCount',
      'Drive.IndicatorLED',
      'Port.Ethernet.LLDPEnabled',
      'Port.Ethernet.LLDPReceive',
      // Clients of newer services look for them only here.
      'Storage.Controllers',
    ],
    changed: {
      'ComputerSystem.SKU': '7Z23CTO1WW',
      'Drive.BlockSizeBytes': null,
      'Drive.Identifiers': [{ DurableName: null, DurableNameFormat: 'UUID' }],
      'UpdateService.HttpPushUri': '/fwupdate',
      'UpdateService.MultipartHttpPushUri': '/mfwupdate',
    },
    macs: 'upper',
  },
})

function externalSlot(id: string, drive: 'cdrom' | 'disk' | 'floppy' | null) {
  const types = ['CD', 'DVD', 'Floppy', 'USBStick']
  return [{ id, name: 'VirtualMedia', drive, types, below: ['Systems', 'Managers'] as const }]
}
