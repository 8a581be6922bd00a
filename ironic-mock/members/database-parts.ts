/** All that only a database of several processes needs: one file of the bundle, which is loaded for such a database. */
export { openDatabase } from '../store/postgres/open-database.js'
export { readDatabaseAddress } from '../store/postgres/read-address.js'
export { MachinesMember } from './machines-member.js'
export { Members } from './members.js'
export { FaultRows } from './fault-rows.js'
