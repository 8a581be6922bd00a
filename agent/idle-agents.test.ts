import { expect, test } from 'vitest'
import { collectGarbage, hours, Scope, seededRandom, silent, VirtualClock } from '../base/runtime/index.js'
import type { Transport } from '../base/wire/index.js'
import { INVENTORY } from '../test/kit/agent-scene.js'
import { TOKEN } from '../test/kit/fake-ironic.js'
import { FakeTarget } from '../test/kit/fake-target.js'
import { IPA_PACE } from './pace.js'
import { startAgent } from './agent.js'

const AGENTS = 500
const IDLE_AGENT_TIMEOUT = 300

/** Bytes in use after garbage collection. */
function heap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Answers idle agents, and records the time of each heartbeat. */
function waitingIronic(clock: VirtualClock) {
  const heard = new Map<string, number[]>()
  const send: Transport['send'] = async ({ url }) => {
    const { pathname, searchParams } = new URL(url)
    const agent = /^\/v1\/heartbeat\/(.+)$/.exec(pathname)?.[1]
    if (agent === undefined) {
      const node = { uuid: searchParams.get('node_uuid') }
      const config = { heartbeat_timeout: IDLE_AGENT_TIMEOUT, agent_token: TOKEN }
      const known = pathname === '/' ? { default_version: { version: '1.115' } } : { node, config }
      return { status: 200, headers: {}, body: JSON.stringify(known) }
    }
    heard.set(agent, [...(heard.get(agent) ?? []), clock.now()])
    return { status: 202, headers: {} }
  }
  return { heard, send }
}

test('many idle agents miss no heartbeat in an hour, and are small', async () => {
  await using scope = new Scope()
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const ironic = waitingIronic(clock)
  const start = (name: string) =>
    startAgent({
      target: new FakeTarget(clock),
      managers: [],
      environment: {},
      clock,
      random,
      nodeUuid: name,
      pace: IPA_PACE,
      boot: { id: 'boot', parameters: { 'ipa-api-url': 'http://ironic' } },
      callbackUrl: `http://agents/${name}`,
      transport: ironic,
      logger: silent,
      saved: { read: () => null, write: async () => {} },
      hardware: async () => ({ inventory: structuredClone(INVENTORY), rootDisk: null, bootInterface: null }),
    })
  scope.use(start('warm'))
  await clock.advance(0)
  const before = heap()
  for (let count = 0; count < AGENTS; count++) scope.use(start(`agent-${count}`))
  await clock.advance(0)
  const each = (heap() - before) / AGENTS

  await clock.advance(hours(1))

  const gaps = [...ironic.heard.values()].flatMap((at) =>
    [...at.slice(1), clock.now()].map((now, before) => (now - at[before]!) / 1000),
  )
  expect(ironic.heard.size).toBe(AGENTS + 1)
  // The gaps are 0.3 to 0.6 of the timeout (ironic-python-agent 13.0.0 agent.py IronicPythonAgentHeartbeater): 20 to 40
  // in an hour, the last unfinished.
  expect(gaps.length).toBeGreaterThan(AGENTS * 20)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(IDLE_AGENT_TIMEOUT * 0.6)
  expect(each).toBeLessThan(8 * 1024)
})
