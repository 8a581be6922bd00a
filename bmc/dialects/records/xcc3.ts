import { dialectFrom } from '../dialect.js'
import { XCC } from './xcc.js'

/** From one report (ansible-collections/community.general#11270): If-Match of a PATCH is answered by 412. */
export const XCC3 = dialectFrom(XCC, {
  description: 'Lenovo XClarity Controller 3, as XCC: little else is known',
  basis: 'reports',
  model: 'ThinkSystem SR650 V4',
  etags: {
    match: 'never',
  },
})
