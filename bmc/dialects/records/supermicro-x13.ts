import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From a dump of a SYS-821GE-TNHR, BMC 11.01 (NVIDIA/libredfish, tests/mockups/supermicro), and reports. */
export const SUPERMICRO_X13 = dialectFrom(STANDARD, {
  description: 'Supermicro X13',
  basis: 'dump',
  maker: 'supermicro',
  manufacturer: 'Supermicro',
  model: 'SYS-821GE-TNHR',
  paths: {
    system: '1',
    manager: '1',
    chassis: '1',
  },
  service: {
    // Clients find the vendor by the key of Oem.
    vendor: null,
    product: null,
    oem: 'Supermicro',
    redfishVersion: '1.11.0',
  },
  resources: {
    further: [
      {
        folder: 'Chassis',
        id: 'UBB_1',
        place: 'last',
        properties: { Name: 'GPU Baseboard', ChassisType: 'Zone', Manufacturer: 'NVIDIA', Model: 'HGX_H100' },
      },
    ],
  },
  media: {
    slots: [
      {
        id: 'VirtualMedia1',
        name: 'Virtual Removable Media',
        drive: 'cdrom',
        types: ['CD', 'DVD', 'Floppy', 'USBStick'],
        below: ['Managers'],
      },
      {
        id: 'VirtualMedia2',
        name: 'Virtual Removable Media',
        drive: 'disk',
        types: ['CD', 'DVD', 'Floppy', 'USBStick'],
        below: ['Managers'],
      },
      {
        id: 'VirtualMedia3',
        name: 'Virtual Removable Media',
        drive: 'floppy',
        types: ['CD', 'DVD', 'Floppy', 'USBStick'],
        below: ['Managers'],
      },
    ],
    systemLink: 'manager',
    insertBy: 'action',
    // community.general#6969: a second image is refused.
    whenFull: 'refused',
    actionsFollowState: true,
  },
  boot: {
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Floppy: 'Floppy',
      Cd: 'Cd',
      Usb: 'Usb',
      Hdd: 'Hdd',
      BiosSetup: 'BiosSetup',
      UsbCd: 'Cd',
      UefiBootNext: 'UefiTarget',
      UefiHttp: 'UefiHttp',
    },
    // ironic 39 redfish/management.py _set_boot_device sends it each time.
    enabledDefault: 'Once',
    // DMTF/Redfishtool#106
    modeDefault: 'Legacy',
  },
  power: {
    resets: ['On', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'Nmi', 'ForceOn', 'PowerCycle'],
    resetsBy: 'ActionInfo',
    managerResets: ['GracefulRestart'],
  },
  bios: {
    settings: 'SD',
    applyTime: 'refused',
    pending: 'omitted',
  },
  ipmi: {
    // `ipmitool mc info` and `sdr` of Supermicros, as in the tests of several monitors.
    manufacturerId: 10876,
    sensors: {
      InletTemp: 'System Temp',
      Cpu1Temp: 'CPU Temp',
      Fan1: 'FAN1',
      Fan2: 'FAN2',
    },
  },
  sessions: {
    timeout: 300,
  },
  errors: {
    base: 'Base.v1_10_3',
  },
  properties: {
    leftOut: [
      'ComputerSystem.Boot.HttpBootUri',
      'ComputerSystem.Boot.UefiTargetBootSourceOverride',
      'ComputerSystem.ProcessorSummary.CoreCount',
      'ComputerSystem.ProcessorSummary.LogicalProcessorCount',
      'Storage.Volumes',
      'Port.Ethernet.LLDPEnabled',
      'Port.Ethernet.LLDPReceive',
      'Drive.MediaType',
      'Drive.Protocol',
      'Drive.Identifiers',
      'Drive.BlockSizeBytes',
    ],
    changed: {
      'ComputerSystem.SKU': '0x1D1415D9',
      'ComputerSystem.AssetTag': null,
      'EthernetInterface.PermanentMACAddress': null,
      'EthernetInterface.InterfaceEnabled': null,
      'UpdateService.MultipartHttpPushUri': '/redfish/v1/UpdateService/upload',
    },
  },
})
