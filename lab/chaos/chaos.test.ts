import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { DiskPoint } from '../../machine/index.js'
import { minutes, seededRandom } from '../../base/runtime/index.js'
import type { ExchangePoint } from '../../base/wire/index.js'
import { readFaults } from '../../control/faults/fault-document.js'
import { createStagedLab, type StagedLab } from '../create-lab.js'
import { checkFault } from '../../control/faults/check-fault.js'
import { chaos } from './chaos.js'
import { chaosTest, faultsYaml } from './chaos-text.js'
import { Watch } from './invariants.js'
import { randomFault } from './random-faults.js'

test.each([1, 2])('seed %i: what must hold holds, and the seed decides about everything', async (seed) => {
  const options = { seed, nodes: 2, duration: minutes(3) }
  const report = await chaos(options)
  expect(report.violations).toEqual([])
  expect(report.strikes).toBeGreaterThan(0)
  expect(report.active).toBeGreaterThanOrEqual(2)
  expect(await chaos(options)).toEqual(report)
})

test('no random fault is one that a lab refuses', () => {
  const random = seededRandom(1)
  const kinds = new Set<string>()
  for (let n = 0; n < 2000; n++) {
    const fault = randomFault(random, 'node-0', minutes(10))
    expect(() => checkFault(fault), JSON.stringify(fault)).not.toThrow()
    kinds.add(fault.effect.kind)
  }
  expect(kinds.size).toBeGreaterThan(15)
})

test('the part of a node does not depend on the others', async () => {
  const { plan } = await chaos({ seed: 4, nodes: ['node-1'], duration: minutes(2) })
  const { plan: both } = await chaos({ seed: 4, nodes: 2, duration: minutes(2) })
  expect(both.faults.filter(({ match }) => match.node === 'node-1')).toEqual(plan.faults)
  expect(both.actions.filter(({ node }) => node === 'node-1')).toEqual(plan.actions)
})

test('faults of its own strike instead of random ones', async () => {
  const fault = { match: { node: 'node-0', phase: 'install' }, effect: { kind: 'power-loss' }, times: 1 } as const
  const { strikes, deployments, active, violations } = await chaos({
    nodes: 1,
    duration: minutes(2),
    faults: [fault],
    actions: [{ node: 'node-0', at: 0, wish: 'deployed' }],
  })
  expect({ strikes, violations }).toEqual({ strikes: 1, violations: [] })
  expect(deployments).toBeGreaterThan(active)
})

test.each([
  [{ nodes: 0 }, /needs a node/],
  [{ nodes: ['worker'] }, /worker is not a name/],
  [{ faults: [{ match: { node: 'node-9' }, effect: { kind: 'agent-silent' } }] }, /there is no node node-9/],
] as const)('the options %j are refused', async (options, message) => {
  await expect(chaos(options)).rejects.toThrow(message)
})

describe('a violation is seen:', () => {
  const watched = async (act: (lab: StagedLab, watch: Watch, uuid: string) => Promise<void>) => {
    await using lab = await createStagedLab()
    using watch = new Watch(lab)
    const node = await lab.enroll({ fields: { name: 'node-0' } })
    await act(lab, watch, node.uuid)
    return watch.violations.map(({ invariant, node, seen }) => `${invariant}: ${node}: ${seen}`)
  }

  test('a node that stays locked', async () => {
    const seen = await watched(async (lab, watch, uuid) => {
      using _ = lab.faults.add({ match: { node: uuid, bmc: 'set power' }, effect: { kind: 'hang' } })
      await lab.client.power(uuid, 'power on')
      await lab.wait(lab.clock.sleep(1000))
      watch.atEnd([], 1)
    })
    expect(seen).toContain('reserved for ever: node-0: it is enroll, and locked')
  })

  test('a machine whose node is gone', async () => {
    const seen = await watched(async (lab, watch, uuid) => {
      await lab.client.deleteNode(uuid)
      watch.atEnd([], 0)
    })
    expect(seen).toContain('machine without a node: null: machine-1 has none')
  })

  test('a disk that is written outside of an installation', async () => {
    const seen = await watched(async (lab) => {
      const [machine] = lab.machines.list()
      const where = { machine: machine!.spec.id, disk: 'sdb', offset: 0, length: 512 }
      const point: DiskPoint = { kind: 'disk-write', ...where }
      await lab.probe.around(point, () => Promise.resolve())
    })
    expect(seen).toEqual(['unexpected disk write: node-0: sdb of machine-1 was written'])
  })

  test('an error of Ironic without a fault', async () => {
    const seen = await watched(async (lab) => {
      const asked = { method: 'GET', target: '/v1/x' }
      const point: ExchangePoint = {
        kind: 'exchange',
        side: 'server',
        from: 'agent',
        to: 'ironic',
        url: 'http://x/v1/x',
        ...asked,
        request: { ...asked, headers: {}, base: 'http://x' },
        changes: [],
      }
      await lab.probe.around(point, () => Promise.resolve({ status: 500, headers: {} }))
    })
    expect(seen).toEqual(['unexpected server error: null: GET /v1/x answered 500'])
  })

  test('a config that was not requested', async () => {
    const seen = await watched(async (lab, watch) => {
      const report = { failure: null, files: ['/etc/other'] } as never
      watch.asks('node-0', '/etc/chaos-node-0-1')
      lab.events.emit({ kind: 'first-boot', machine: 'machine-1', report })
    })
    expect(seen).toEqual([
      'deployed without its config: node-0: machine-1 started a system without any config of its node',
    ])
  })

  test('a request that is not in the journal', async () => {
    const seen = await watched((_, watch) => {
      watch.sent()
      watch.sent()
      watch.atEnd([{ node: 'node-0', why: 'it is lost' }], 0)
      return Promise.resolve()
    })
    expect(seen).toEqual([
      'never settled: node-0: it is lost',
      expect.stringMatching(/^gap in the journal: null: there were 2 requests, and the journal has \d/),
    ])
  })
})

test('a failure is printed as faults for ironstage up, and as a test', async () => {
  const { plan } = await chaos({ nodes: 1, duration: minutes(1) })
  const violation = { invariant: 'never settled', node: 'node-0', seen: 'it is lost', at: 0 } as const
  const faults = [
    { match: { node: 'node-0' }, effect: { kind: 'bmc-dark', ms: 90_000 }, between: [500, 61_000] },
  ] as const
  const shortest = { ...plan, faults, actions: [] }
  expect(faultsYaml(shortest, violation)).toBe(`# never settled: node-0: it is lost
# of seed 1, node-0, 1m of lab time
faults:
  - match:
      node: node-0
    effect:
      kind: bmc-dark
      for: 1m30s
    between:
      - 500ms
      - 1m1s
`)
  expect(readFaults(parse(faultsYaml(shortest, violation)), 'faults.yaml')).toEqual(faults)
  expect(chaosTest(shortest, violation)).toContain('test("node-0: never settled", async () => {')
  expect(chaosTest(shortest, violation)).toContain('"ms": 90000')
})
