import { create, times } from '../fake-nodes.js'
import { listed } from '../lists.js'
import { clock, type Measured } from '../measure.js'
import type { Row } from '../rows.js'
import { endOf, type DatabaseBench } from './contenders.js'

const NODES = 1000
const ASKED = 1000
/** Milliseconds after which a process knows that it is alone. */
const UNTIL_ALONE = 2500

/**
 * Reads of a process that is alone on PostgreSQL, and of one of two, which first asks what the other has committed, both
 * against one with a store of its own.
 */
export async function listsOnDatabase(bench: DatabaseBench): Promise<Measured[]> {
  const embedded = await bench.embedded()
  const contenders = {
    embedded,
    alone: await bench.shared(bench.newSchema(), ['all']),
    beside: await bench.shared(bench.newSchema(), ['all', 'api']),
  }
  const node = { embedded: '', alone: '', beside: '' }
  for (const name of ['embedded', 'alone', 'beside'] as const) {
    const [client] = contenders[name].clients
    await times(NODES - 1, 16, () => create(client!))
    node[name] = await create(client!)
  }
  await clock.sleep(UNTIL_ALONE)
  const rows: Measured[] = []
  for (const [what, path] of [
    ['1,000 nodes', () => '/v1/nodes'],
    ['one node', (uuid: string) => `/v1/nodes/${uuid}`],
  ] as const) {
    const seen = (name: keyof typeof node) => listed(contenders[name].clients.at(-1)!, path(node[name]), ASKED)
    const own = await seen('alone')
    const beside = await seen('beside')
    const other = await seen('embedded')
    rows.push(
      row(`${what} on PostgreSQL, p50`, own.p50, other.p50),
      row(`${what} on PostgreSQL, p99`, own.p99, other.p99),
      row(`${what} on PostgreSQL, one of two processes, p50`, beside.p50, other.p50),
      row(`${what} on PostgreSQL, one of two processes, p99`, beside.p99, other.p99),
    )
  }
  await Promise.all(Object.values(contenders).map(endOf))
  return rows
}

const row = (what: Row, ours: number, embedded: number): Measured => ({
  what,
  ours,
  peer: { name: 'embedded', value: embedded },
  reach: 1.5 * embedded,
  unit: 'ms',
  runs: ASKED,
})
