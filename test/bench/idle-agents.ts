import { AgentListener, IPA_PACE, startAgent, type Agent } from '../../agent/index.js'
import { collectGarbage, Scope, seededRandom, silent, systemClock, randomUuid } from '../../base/runtime/index.js'
import { standardManagers } from '../../steps/index.js'
import { HttpTransport } from '../../base/wire/index.js'
import { machineInRamdisk } from './machine-in-ramdisk.js'
import { median, timed, type Measured } from './measure.js'
import { AGENT_HEARTBEAT_TIMEOUT, MAX_HEARTBEAT_DELAY, WaitingIronic } from './waiting-ironic.js'

const AGENTS = 5000
/** Lab time passes so many times as fast as on the wall. */
const SPEED = 20
/** How long they are listened to, in heartbeats of each. */
const INTERVALS = 4
const INTERVAL = AGENT_HEARTBEAT_TIMEOUT * 1000 * 0.45
const KIB = 1024

const wall = systemClock()
const random = seededRandom(1)

/**
 * Measures idle agents, each with its node, behind one TLS listener and on a fast clock: how soon they register,
 * whether
 * Ironic receives all heartbeats in time, and what they use. All share one machine, whose memory is not theirs.
 */
export async function idleAgents(): Promise<Measured[]> {
  await using ironic = await WaitingIronic.start({
    heartbeatTimeout: AGENT_HEARTBEAT_TIMEOUT,
    missedAfter: MAX_HEARTBEAT_DELAY / SPEED,
  })
  await using scope = new Scope()
  const clock = systemClock(SPEED)
  const { target } = await machineInRamdisk(scope)
  const listener = scope.use(await AgentListener.open({ port: 0, clock }))
  const transport = scope.use(new HttpTransport({ clock, connections: 64 }))
  const start = (): Agent => {
    const nodeUuid = randomUuid(random)
    const agent = startAgent({
      target,
      managers: standardManagers,
      environment: {},
      transport,
      clock,
      random,
      nodeUuid,
      logger: silent,
      boot: { id: nodeUuid, parameters: { 'ipa-api-url': ironic.url } },
      callbackUrl: listener.urlOf(nodeUuid),
      tls: listener.tls({ random }),
      saved: { read: () => null, write: async () => {} },
      pace: IPA_PACE,
    })
    scope.use(listener.mount(nodeUuid, agent.dispatch))
    return scope.use(agent)
  }
  let expected = 0
  const heard = async (count: number): Promise<void> => {
    expected += count
    for (let started = 0; started < count; started++) start()
    while ((await ironic.heard()).agents < expected);
  }
  const first = await timed(() => heard(1))
  const another = await median(7, () => timed(() => heard(1)))

  const empty = heap()
  const all = await timed(() => heard(AGENTS))
  // From here on they are idle, and no longer all at the same moment.
  await clock.sleep(MAX_HEARTBEAT_DELAY)
  await ironic.heard()
  const usedBefore = process.cpuUsage()
  const since = wall.elapsed()
  await clock.sleep(INTERVAL * INTERVALS)
  const { user, system } = process.cpuUsage(usedBefore)
  const { missed } = await ironic.heard()
  const share = (user + system) / 1000 / (wall.elapsed() - since)
  const each = (heap() - empty) / AGENTS / KIB
  const one = { peer: null, reach: null, runs: 1 }
  return [
    { what: 'first agent of a process, start to first heartbeat', ...one, ours: first, unit: 'ms' },
    { what: 'agent start to first heartbeat', ...one, ours: another, reach: 50, unit: 'ms', runs: 7 },
    { what: '5,000 agents started at once', ...one, ours: all, unit: 'ms' },
    { what: 'heartbeats that these missed, 20 x as fast', ...one, ours: missed, reach: 0, unit: '' },
    { what: 'one core, taken by these', ...one, ours: share * 100, reach: 100, unit: '%' },
    { what: 'heap of one of these while idle', ...one, ours: each, reach: 20, unit: 'KiB' },
  ]
}

/** Bytes in use, without what is garbage. */
function heap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
