import { dialectFrom } from '../dialect.js'
import { SUPERMICRO_X12 } from './supermicro-x12.js'

/** From reports, as of X12. */
export const SUPERMICRO_X11 = dialectFrom(SUPERMICRO_X12, {
  description: 'Supermicro X11',
  basis: 'reports',
  model: 'X11DPi-N',
  service: {
    redfishVersion: '1.8.0',
  },
  ipmi: {
    // `ipmitool mc info` of an X11DPi-N.
    productId: 0x0962,
  },
  errors: {
    base: 'Base.1.4',
  },
})
