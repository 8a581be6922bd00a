import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From a dump of a ProLiant DL385 Gen10 Plus v2, iLO 5 2.72 (NVIDIA/libredfish, tests/mockups/hpe), and reports. */
export const ILO5 = dialectFrom(STANDARD, {
  description: 'HPE iLO 5',
  basis: 'dump',
  maker: 'hpe',
  manufacturer: 'HPE',
  model: 'ProLiant DL385 Gen10 Plus v2',
  paths: {
    system: '1',
    manager: '1',
    chassis: '1',
    ignoresCase: true,
    lowerCaseBios: true,
  },
  ipmi: {
    // `ipmitool mc info` and `sensor list` of ProLiants, as in the tests of several monitors.
    manufacturerId: 11,
    productId: 0x2000,
    deviceId: 0x13,
    sensors: {
      InletTemp: '01-Inlet Ambient',
      Cpu1Temp: '02-CPU 1',
      Fan1: 'Fan 1',
      Fan2: 'Fan 2',
      PowerConsumption: 'Power Supply 1',
    },
  },
  service: {
    vendor: 'HPE',
    product: 'ProLiant DL385 Gen10 Plus v2',
    oem: 'Hpe',
    redfishVersion: '1.6.0',
  },
  media: {
    slots: [
      { id: '1', name: 'VirtualMedia', drive: 'disk', types: ['Floppy', 'USBStick'], below: ['Managers'] },
      { id: '2', name: 'VirtualMedia', drive: 'cdrom', types: ['CD', 'DVD'], below: ['Managers'] },
    ],
    systemLink: 'absent',
    ejectBody: 'required',
    emptyImage: '',
  },
  boot: {
    targets: {
      None: 'None',
      Cd: 'Cd',
      Hdd: 'Hdd',
      Usb: 'Usb',
      SDCard: 'Usb',
      Utilities: 'Diags',
      Diags: 'Diags',
      BiosSetup: 'BiosSetup',
      Pxe: 'Pxe',
      UefiShell: 'Diags',
      UefiHttp: 'UefiHttp',
      UefiTarget: 'UefiTarget',
    },
    // ansible-collections/community.general#3509
    mode: 'read-only',
    // metal-operator#997
    duringPost: 'refused',
  },
  etags: {
    form: 'weak',
    match: 'strong',
  },
  power: {
    resets: ['On', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'Nmi', 'PushPowerButton', 'GracefulRestart'],
    managerResets: ['ForceRestart', 'GracefulRestart'],
    repeat: 400,
    whenOff: 400,
  },
  bios: {
    settings: 'Settings',
    pending: 'all',
    registry: 'BiosAttributeRegistryA42.v1_2_60',
  },
  sessions: {
    timeout: 30,
  },
  errors: {
    base: 'Base.1.4',
    ids: {
      PropertyNotWritable: 'iLO.2.14.PropertyNotWritableOrUnknown',
      duringPost: 'iLO.2.37.UnableToModifyDuringSystemPOST',
      ChassisPowerStateOnRequired: 'iLO.2.14.InvalidOperationForSystemState',
      repeat: 'iLO.2.14.InvalidOperationForSystemState',
      PreconditionFailed: 'iLO.2.14.ETagTypeMismatch',
    },
    code: 'iLO.0.10.ExtendedInfo',
    message: 'See @Message.ExtendedInfo for more information.',
    members: ['MessageArgs', 'MessageId'],
    success: 'message',
  },
  resources: {
    // NetworkAdapters are there once the system is up (ironic 39 redfish/firmware.py).
    refused: [
      {
        at: '/Chassis/*/NetworkAdapters',
        methods: ['GET'],
        status: 400,
        messageId: 'iLO.2.14.ResourceNotReadyRetry',
        message: 'The resource is not ready: try again once the system is up.',
        while: 'off',
      },
    ],
  },
  events: {
    // metal-operator bmc/redfish_hpe.go
    refused: ['DeliveryRetryPolicy'],
  },
  properties: {
    leftOut: [
      'ComputerSystem.BootProgress',
      'ComputerSystem.Boot.HttpBootUri',
      'ComputerSystem.SimpleStorage',
      'Storage.Volumes',
      'Manager.PowerState',
      'VirtualMedia.ImageName',
      'VirtualMedia.TransferMethod',
      'VirtualMedia.TransferProtocolType',
      'VirtualMedia.UserName',
      'VirtualMedia.Password',
      'VirtualMedia.VerifyCertificate',
      'VirtualMedia.Certificates',
      'VirtualMedia.Status',
      'ComputerSystem.ProcessorSummary.CoreCount',
      'ComputerSystem.ProcessorSummary.LogicalProcessorCount',
      'Drive.BlockSizeBytes',
      'Drive.Manufacturer',
      // metal-operator#544
      'AttributeRegistry.RegistryEntries.Attributes.ResetRequired',
    ],
    changed: {
      // NICs without driver: sushy finds no MAC address of one that is healthy.
      'EthernetInterface.Name': '',
      'EthernetInterface.PermanentMACAddress': null,
      'EthernetInterface.LinkStatus': null,
      'EthernetInterface.SpeedMbps': null,
      'EthernetInterface.FullDuplex': null,
      'EthernetInterface.InterfaceEnabled': null,
      'EthernetInterface.Status': { Health: null, State: null },
      'ComputerSystem.SKU': 'P38411-B21',
      'Port.Ethernet.LLDPEnabled': false,
      'Port.Ethernet.LLDPReceive': {
        ChassisId: '',
        ChassisIdSubtype: 'NotTransmitted',
        ManagementAddressIPv4: '',
        ManagementAddressIPv6: '',
        ManagementAddressMAC: '',
        ManagementVlanId: 4095,
        PortId: '',
        PortIdSubtype: 'NotTransmitted',
      },
      'Drive.Identifiers': [{ DurableName: '0025389A210108DA', DurableNameFormat: 'EUI' }],
      'UpdateService.HttpPushUri': '/cgi-bin/uploadFile',
    },
  },
})
