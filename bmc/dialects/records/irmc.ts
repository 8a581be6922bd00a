import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From fujitsu/terraform-provider-irmc-redfish (resource_boot_source_override.go, resource_virtual_media). */
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
  },
})
