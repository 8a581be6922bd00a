import { dialectFrom } from '../dialect.js'
import { SUPERMICRO_X13 } from './supermicro-x13.js'

/** From reports (ansible-collections/community.general#4839, #6969, #7470; sushy `_supermicro_models_cd_vmedia`). */
export const SUPERMICRO_X12 = dialectFrom(SUPERMICRO_X13, {
  description: 'Supermicro X12 and H12',
  basis: 'reports',
  model: 'X12STW-TF',
  resources: {
    further: [],
  },
  media: {
    slots: [{ id: 'CD1', name: 'Virtual Removable Media', drive: 'cdrom', types: ['CD', 'DVD'], below: ['Managers'] }],
    refused: ['Inserted', 'WriteProtected'],
    actionsFollowState: false,
    keepsImageName: true,
  },
  boot: {
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Floppy: 'Floppy',
      // The disk is booted: virtual media are UsbCd.
      Cd: 'Hdd',
      Usb: 'Usb',
      Hdd: 'Hdd',
      BiosSetup: 'BiosSetup',
      UsbCd: 'Cd',
      UefiBootNext: 'UefiTarget',
      UefiHttp: 'UefiHttp',
    },
  },
})
