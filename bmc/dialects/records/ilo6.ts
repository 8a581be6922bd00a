import { dialectFrom } from '../dialect.js'
import { ILO5 } from './ilo5.js'

/** From a dump of a ProLiant DL380a Gen11, iLO 6 1.66 (spyroot/redfish_ctl, tests), and reports. */
export const ILO6 = dialectFrom(ILO5, {
  description: 'HPE iLO 6',
  basis: 'dump',
  model: 'ProLiant DL380a Gen11',
  service: {
    product: 'ProLiant DL380a Gen11',
    redfishVersion: '1.13.0',
  },
  errors: {
    base: 'Base.1.17',
  },
})
