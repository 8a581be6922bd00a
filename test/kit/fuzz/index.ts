import fc from 'fast-check'
import type { Store, StoreView } from '../../../ironic-mock/index.js'
import type { Dispatch, WireResponse } from '../../../base/wire/index.js'
import { fuzzedRequest, resolved, type FuzzedRequest } from './calls.js'
import { brokenInvariants, wrongAnswer } from './invariants.js'

export { brokenInvariants, fuzzedRequest, resolved, wrongAnswer, type FuzzedRequest }

export interface Fuzzed {
  readonly api: Dispatch
  readonly store: Store & StoreView
  /** Looks at the whole database after every so many calls. */
  readonly lookEvery?: number
}

const FAKE = { deploy_interface: 'fake', inspect_interface: 'fake' }

export const FUZZ_BASE = 'http://ironic.test:6385'

/**
 * A function that makes one call and throws a sentence when its answer, or now and then the database, is not as it must
 * be. For a long run:
 *
 * ```ts
 * const call = fuzzer({ api, store, lookEvery: 1000 })
 * for (let batch = 0; batch < 1000; batch++)
 *   for (const request of fc.sample(fuzzedRequest(), { numRuns: 1000, seed: batch })) await call(request)
 * ```
 */
export function fuzzer({ api, store, lookEvery = 50 }: Fuzzed): (request: FuzzedRequest) => Promise<WireResponse> {
  let calls = 0
  return async (request) => {
    const sent = resolved(request, store)
    const response = await api({ ...sent, base: FUZZ_BASE })
    // Upstream answers OPTIONS with nothing at all.
    const wrong = sent.method === 'OPTIONS' ? [] : wrongAnswer(response)
    if (++calls % lookEvery === 0) wrong.push(...brokenInvariants(store))
    if (wrong.length > 0)
      throw new Error(
        `${sent.method} ${sent.target} ${JSON.stringify(sent.headers)} ${sent.body ?? ''}: ${wrong.join('; ')}`,
      )
    return response
  }
}

/** Objects that exist before the first call: nodes, and one record of most other kinds. */
const BEGINNING: readonly (readonly [path: string, body: object])[] = [
  ...['one', 'two', 'three'].map(
    (name) =>
      [
        '/v1/nodes',
        { driver: 'fake-hardware', name, resource_class: 'baremetal', ...FAKE, automated_clean: false },
      ] as const,
  ),
  ['/v1/chassis', {}],
  ['/v1/portgroups', { node_uuid: '$node', name: 'bond' }],
  ['/v1/ports', { node_uuid: '$node', address: '52:54:00:00:00:01', name: 'port' }],
  ['/v1/volume/connectors', { node_uuid: '$node', type: 'iqn', connector_id: 'c' }],
  ['/v1/volume/targets', { node_uuid: '$node', volume_type: 'iscsi', boot_index: 0, volume_id: 'v' }],
  ['/v1/deploy_templates', { name: 'CUSTOM_A', steps: [{ interface: 'deploy', step: 'a', args: {}, priority: 1 }] }],
  ['/v1/runbooks', { name: 'CUSTOM_A', steps: [{ interface: 'deploy', step: 'a', args: {}, order: 1 }] }],
  ['/v1/inspection_rules', { actions: [{ op: 'fail', args: { msg: 'x' } }] }],
]

/** So many calls from a seed; resolves with how many were answered with which status. */
export async function fuzz(
  parts: Fuzzed,
  { calls, seed }: { calls: number; seed: number },
): Promise<Map<number, number>> {
  const call = fuzzer(parts)
  const statuses = new Map<number, number>()
  const headers = { 'x-openstack-ironic-api-version': '1.115' }
  for (const [target, body] of BEGINNING) await call({ method: 'POST', target, headers, body: JSON.stringify(body) })
  for (let done = 0, batch = 0; done < calls; batch++) {
    const requests = fc.sample(fuzzedRequest(), { numRuns: Math.min(500, calls - done), seed: seed + batch })
    for (const request of requests) {
      const { status } = await call(request)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    done += requests.length
  }
  return statuses
}
