import { once } from 'node:events'
import type { DatabaseAddress } from '../../../ironic-mock/store/postgres/database-address.js'
import { openMemberStore } from '../../kit/members/member-cluster.js'
import { clock } from '../measure.js'

/** The process beside the one that writes: it hears of changes, and asks for them as each request does. */

/** Its measurements. */
export interface FollowedReading {
  /** Description of a node, and when it was there, in milliseconds of the clock of this host. */
  readonly seen: readonly (readonly [string, number])[]
  /** Milliseconds that each question took. */
  readonly asked: readonly number[]
}

/** Milliseconds between two questions, which are not in step with the changes. */
const PACE = 7

async function read(address: DatabaseAddress): Promise<FollowedReading> {
  await using reader = await openMemberStore(address, 'reader', clock)
  const seen: [string, number][] = []
  using _watching = reader.others!.watchFollowed((nodes) => {
    const now = hostTime()
    for (const uuid of nodes) seen.push([reader.records.nodes.get(uuid)?.record.description ?? '', now])
  })
  let isStopped = false
  process.once('message', () => (isStopped = true))
  process.send!('ready')
  const asked: number[] = []
  while (!isStopped) {
    const since = performance.now()
    await reader.others!.catchUp()
    asked.push(performance.now() - since)
    await clock.sleep(PACE)
  }
  return { seen, asked }
}

/** Milliseconds of a clock that all processes of a host share. */
export const hostTime = (): number => Number(process.hrtime.bigint()) / 1e6

if (process.send) {
  const [address] = (await once(process, 'message')) as [DatabaseAddress]
  process.send(await read(address))
  process.disconnect()
}
