/** Machines, their BMCs and agents in one process, for an Ironic elsewhere. */
export { IRONIC_RETRY_INTERVAL, enrollHosts, type FleetEnrollOptions } from './enroll-fleet.js'
export { ERRORS } from './errors.js'
export type { Fleet, FleetOptions, JoinedFleet } from './fleet-options.js'
export { hostsText, writeHosts } from './hosts-out.js'
export type { FleetHost } from './fleet-hosts.js'
export { openFleet } from './open-fleet.js'
export { type ListedSystem, readSystems } from './systems-file.js'
export { MIXED_RACK } from './fleet-profiles.js'
