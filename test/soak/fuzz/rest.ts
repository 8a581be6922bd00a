import { UNSTABLE_STATES } from '../../../ironic-mock/index.js'
import { brokenInvariants } from '../../kit/fuzz/index.js'
import type { System } from './system.js'

const MINUTE = 60_000
/** Longer than every time limit, and than what follows from one that has passed. */
const MAX_REST_TIME = 150 * MINUTE

/**
 * Lets the system run without faults and with every node in service, until all operations have ended.
 *
 * @returns operations that have not ended
 */
export async function comeToRest(system: System): Promise<string[]> {
  const { records } = system.view()
  system.calm()
  const headers = { 'x-openstack-ironic-api-version': '1.115' }
  for (const { record } of records.nodes.values())
    if (record.maintenance)
      await system.wait(system.send({ method: 'DELETE', target: `/v1/nodes/${record.uuid}/maintenance`, headers }))
  await system.pass(MAX_REST_TIME)
  const restless = [...records.nodes.values()].flatMap(({ record }) => {
    const { uuid, provision_state: state, reservation, target_power_state: power } = record
    const queued = records.effects.get(uuid)?.map(({ kind }) => kind) ?? []
    const rests =
      reservation === null && power === null && queued.length === 0 && !(UNSTABLE_STATES as string[]).includes(state)
    if (rests) return []
    return [`node ${uuid} is still ${state}, reserved by ${reservation}, power to be ${power}, queue ${queued}`]
  })
  const pending = [...records.resources('allocation').byUuid.values()].filter(({ state }) => state === 'allocating')
  return [
    ...restless,
    ...pending.map(({ uuid }) => `allocation ${uuid} is still allocating`),
    ...brokenInvariants(system.view()),
  ]
}
