import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From a dump of a PowerEdge R750, iDRAC 6.00.30 (NVIDIA/libredfish, tests/mockups/dell), and reports. */
export const IDRAC9 = dialectFrom(STANDARD, {
  description: 'Dell iDRAC 9, firmware 6 and 7',
  basis: 'dump',
  maker: 'dell',
  manufacturer: 'Dell Inc.',
  model: 'PowerEdge R750',
  paths: {
    system: 'System.Embedded.1',
    manager: 'iDRAC.Embedded.1',
    chassis: 'System.Embedded.1',
  },
  service: {
    vendor: 'Dell',
    product: 'Integrated Dell Remote Access Controller',
    oem: 'Dell',
    redfishVersion: '1.13.1',
  },
  resources: {
    further: [
      {
        folder: 'Chassis',
        id: 'Enclosure.Internal.0-1',
        place: 'last',
        properties: {
          ChassisType: 'StorageEnclosure',
          Description: 'PCIe SSD Backplane 1',
          Links: { ContainedBy: { '@odata.id': '/redfish/v1/Chassis/System.Embedded.1' }, Contains: [] },
        },
      },
    ],
  },
  media: {
    // Two sets of slots: firmware 6 has those of the system, and still those of the manager.
    slots: [
      {
        id: '1',
        name: 'VirtualMedia Instance 1',
        drive: 'cdrom',
        types: ['CD', 'DVD', 'USBStick'],
        below: ['Systems'],
      },
      { id: '2', name: 'VirtualMedia Instance 2', drive: 'disk', types: ['CD', 'DVD', 'USBStick'], below: ['Systems'] },
      { id: 'CD', name: 'Virtual CD', drive: 'cdrom', types: ['CD', 'DVD'], below: ['Managers'] },
      { id: 'RemovableDisk', name: 'Virtual Removable Disk', drive: 'disk', types: ['USBStick'], below: ['Managers'] },
    ],
    insertBy: 'action',
    // stmcginnis/gofish and sushy send `{}`: without a body iDRACs answer 400 (sushy 5.14 virtual_media.py eject_media).
    ejectBody: 'required',
    // An image where one is in makes a 500 (badfish takes it for "already mounted").
    whenFull: 'refused',
    fullStatus: 500,
  },
  boot: {
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Floppy: 'Floppy',
      Cd: 'Cd',
      Hdd: 'Hdd',
      BiosSetup: 'BiosSetup',
      Utilities: 'Diags',
      UefiTarget: 'UefiTarget',
      SDCard: 'Usb',
      UefiHttp: 'UefiHttp',
    },
  },
  etags: {
    form: 'none',
  },
  power: {
    resets: [
      'On',
      'ForceOff',
      'ForceRestart',
      'GracefulRestart',
      'GracefulShutdown',
      'PushPowerButton',
      'Nmi',
      'PowerCycle',
    ],
    managerResets: ['GracefulRestart'],
    // ironic 39 redfish/power.py takes 409 for success where the state is the wanted one.
    repeat: 409,
  },
  bios: {
    applyTime: 'required',
    resetBody: 'required',
    registry: 'BiosAttributeRegistry.v1_0_3',
  },
  tasks: {
    // ironic's release note fix-firmware-update-new-task-state
    first: 'New',
  },
  sessions: {
    timeout: 1800,
    limit: 8,
  },
  errors: {
    base: 'Base.1.12',
    ids: {
      // bb-Ricardo/check_redfish#89, stmcginnis/gofish#75
      SessionLimitExceeded: 'IDRAC.2.8.RAC0218',
    },
    code: 'Base.1.12.GeneralError',
    message: 'A general error has occurred. See ExtendedInfo for more information',
  },
  properties: {
    leftOut: [
      'ComputerSystem.BootProgress',
      'ComputerSystem.Boot.HttpBootUri',
      'Drive.IndicatorLED',
      // Its OEM resource DellSwitchConnections has the switches (ironic 39 drac/inspect.py).
      'Port.Ethernet.LLDPEnabled',
      'Port.Ethernet.LLDPReceive',
    ],
    changed: {
      // dsx-ai-factory/libredfish#75, NVIDIA/infra-controller#4831
      'BootOption.RelatedItem': null,
      'Drive.Identifiers': [{ DurableName: null, DurableNameFormat: null }],
      // It has no year, month or day (NVIDIA/nv-redfish bmc_quirks.rs).
      'ComputerSystem.LastResetTime': '0000-00-00T00:00:00+00:00',
      'UpdateService.HttpPushUri': '/redfish/v1/UpdateService/FirmwareInventory',
    },
    macs: 'upper',
  },
  ipmi: {
    // `ipmitool mc info`, `fru` and `sdr` of PowerEdges, as in the tests of several monitors.
    manufacturerId: 674,
    productId: 0x0100,
    fru: {
      chassisPart: null,
      boardProduct: null,
      boardPart: '0WMWCRA01',
      boardSerial: 'own',
      productPart: null,
    },
    sensors: {
      InletTemp: 'Inlet Temp',
      Cpu1Temp: 'Temp',
      Fan1: 'Fan1A',
      Fan2: 'Fan2A',
      Psu1Voltage: 'Voltage 1',
      PowerConsumption: 'Pwr Consumption',
    },
    users: 16,
  },
})
