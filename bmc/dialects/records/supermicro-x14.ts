import { dialectFrom } from '../dialect.js'
import { SUPERMICRO_X13 } from './supermicro-x13.js'

/** Hardly any report is public: what X13 has is taken for what X14 has. */
export const SUPERMICRO_X14 = dialectFrom(SUPERMICRO_X13, {
  description: 'Supermicro X14, as X13: nothing else is known',
  basis: 'reports',
  model: 'SYS-221H-TN24R',
})
