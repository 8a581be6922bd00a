import { dialectFrom } from '../dialect.js'
import { IDRAC9 } from './idrac9.js'

/** From reports (dell/iDRAC-Redfish-Scripting#24, #90, ansible-collections/community.general#5091). */
export const IDRAC8 = dialectFrom(IDRAC9, {
  description: 'Dell iDRAC 8 of the 13th generation, firmware 2',
  basis: 'reports',
  model: 'PowerEdge R630',
  service: {
    vendor: null,
    redfishVersion: '1.0.2',
  },
  media: {
    slots: [
      { id: 'CD', name: 'Virtual CD', drive: 'cdrom', types: ['CD', 'DVD'], below: ['Managers'] },
      { id: 'RemovableDisk', name: 'Virtual Removable Disk', drive: 'disk', types: ['USBStick'], below: ['Managers'] },
    ],
    systemLink: 'absent',
  },
  boot: {
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Floppy: 'Floppy',
      // The physical drive, which is empty: virtual media are booted by FirstBootDevice VCD-DVD.
      Cd: 'Hdd',
      Hdd: 'Hdd',
      BiosSetup: 'BiosSetup',
      Utilities: 'Diags',
      UefiTarget: 'UefiTarget',
      SDCard: 'Usb',
    },
    // ansible-collections/community.general#5091
    withoutEnabled: ['UefiTarget'],
  },
  resources: {
    further: [],
  },
  tasks: {
    // 5.00 is the first firmware that keeps them longer (ironic's release notes on firmware updates of iDRAC).
    retention: 60,
  },
  sessions: {
    limit: 6,
  },
  ipmi: {
    // ipmitool/ipmitool#29: older Dells have no suite 17.
    cipherSuites: [3],
  },
  errors: {
    base: 'Base.1.0',
    ids: {
      SessionLimitExceeded: 'IDRAC.1.6.RAC0218',
    },
    code: 'Base.1.0.GeneralError',
  },
})
