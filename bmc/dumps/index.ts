/** Dumps of BMCs: folders and zips with the resources of a Redfish service, and the machine that they describe. */
export { ERRORS } from './errors.js'
export { unusableDump } from './dump-error.js'
export {
  lastPartOf,
  linkAt,
  numberAt,
  objectAt,
  schemaAt,
  textAt,
  textsAt,
  type DumpedDocument,
} from './dump-values.js'
export { dumpedSlots, settingsObject, type DumpedSlots } from './dump-places.js'
export { dumpedDrives, dumpedNics, dumpedSerial, type DumpedDrive } from './dumped-hardware.js'
export { dumpedSystem, memberPaths, membersOf, type DumpedSystem } from './dumped-system.js'
export { openDump, presentDump, type DumpSource, type OpenDump } from './open-dump.js'
export { readDump } from './read-dump.js'
export { pathKey, RedfishDump, type DumpedResource } from './redfish-dump.js'
