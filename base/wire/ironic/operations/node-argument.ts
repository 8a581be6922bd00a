import { arg } from '../ironic-operation.js'

/**
 * The node of `states`, `management`, `maintenance` and `vendor_passthru` is an argument of their controllers, so their
 * calls also take it as the last segment of the path or in the query (pecan rest.py; tempest's console calls do).
 */
export const OF_A_NODE = { query: { node_ident: arg.ident }, required: ['node_ident'] } as const
