export { Calls, Unexpected } from './calls.js'
export type { Host, HostStatus } from './host.js'
export { BareMetalOperator } from './operator.js'
