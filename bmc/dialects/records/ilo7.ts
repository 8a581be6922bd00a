import { dialectFrom } from '../dialect.js'
import { ILO6 } from './ilo6.js'

/** Hardly any report is public: what iLO 6 has is taken for what iLO 7 has. */
export const ILO7 = dialectFrom(ILO6, {
  description: 'HPE iLO 7, as iLO 6: nothing else is known',
  basis: 'reports',
  model: 'ProLiant DL380 Gen12',
  service: {
    product: 'ProLiant DL380 Gen12',
  },
})
