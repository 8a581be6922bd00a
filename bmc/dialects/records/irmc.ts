import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From fujitsu/terraform-provider-irmc-redfish. Its OEM boot configuration is missing. */
export const IRMC = dialectFrom(STANDARD, {
  description: 'Fujitsu iRMC S5, from reports, without its OEM boot configuration',
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
  },
})
