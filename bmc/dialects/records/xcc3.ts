import { dialectFrom } from '../dialect.js'
import { XCC } from './xcc.js'

/** Hardly any report is public: what XCC has is taken for what XCC3 has. */
export const XCC3 = dialectFrom(XCC, {
  description: 'Lenovo XClarity Controller 3, as XCC: nothing else is known',
  basis: 'reports',
  model: 'ThinkSystem SR650 V4',
})
