// A process that is a member of a database and works on nothing: node member.mjs PORT SCHEMA HOST. It says when it has
// begun, and then each change of the number of its nodes of those in NODES (uuids with commas between them).
import { silent, systemClock } from '../../../dist/base/runtime/index.js'
import { Members } from '../../../dist/ironic-mock/members/members.js'
import { openDatabase } from '../../../dist/ironic-mock/store/postgres/open-database.js'

const [port, schema, host] = process.argv.slice(2)
const nodes = process.env.NODES.split(',').map((uuid) => ({ uuid, driver: 'fake-hardware', conductor_group: '' }))
const clock = systemClock()
const config = { host: '127.0.0.1', port: Number(port), user: 'postgres', database: 'postgres' }
const store = await openDatabase({
  address: { connections: [{ config, shown: 'postgres', hasAlternative: false }], schema, shown: 'postgres' },
  clock,
  logger: silent,
  host,
})
const members = new Members({
  others: store.others,
  self: { host, role: 'conductor', group: '', drivers: ['fake-hardware'], url: null, version: 'test' },
  clock,
  logger: silent,
})
await members.begin()
let owned = -1
setInterval(() => {
  const now = nodes.filter((node) => members.owns(node)).length
  if (now !== owned) console.log(`${now} nodes`)
  owned = now
}, 5)
