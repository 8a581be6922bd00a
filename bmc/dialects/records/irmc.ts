import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/**
 * From fujitsu/terraform-provider-irmc-redfish (resource_boot_source_override.go, resource_virtual_media), and a script of
 * Fujitsu's that changes BootConfig; what an iRMC S4 answered of ETags and targets.
 */
export const IRMC = dialectFrom(STANDARD, {
  description: 'Fujitsu iRMC S5, from reports',
  basis: 'reports',
  manufacturer: 'FUJITSU',
  model: 'PRIMERGY RX2540 M5',
  paths: {
    system: '0',
    manager: 'iRMC',
    chassis: '0',
  },
  service: {
    vendor: null,
    product: null,
    oem: 'ts_fujitsu',
  },
  media: {
    required: ['TransferProtocolType'],
    protocols: ['CIFS', 'HTTPS', 'NFS'],
  },
  boot: {
    config: 'ts_fujitsu',
    targets: {
      None: 'None',
      Pxe: 'Pxe',
      Floppy: 'Floppy',
      Cd: 'Cd',
      Hdd: 'Hdd',
      BiosSetup: 'BiosSetup',
    },
  },
  etags: {
    form: 'bare',
    match: 'bare',
  },
})
