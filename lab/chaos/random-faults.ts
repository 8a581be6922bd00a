import { defined, minutes, seconds, randomUniform, type Random } from '../../base/runtime/index.js'
import type { Fault, FaultMatch, FaultEffect } from '../../control/index.js'

/** One of some values. */
export const pickRandom = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!

type DrawnFault = Pick<Fault, 'match' | 'effect' | 'times'>
type Match = Omit<FaultMatch, 'node'>

const FAULT_PHASES = ['inspect', 'clean', 'deploy', 'install'] as const
const OF_CLIENTS = [
  'PUT /v1/nodes/:id/states/provision',
  'GET /v1/nodes/:id',
  'PUT /v1/nodes/:id/states/power',
] as const
const OF_AGENTS = ['GET /v1/lookup', 'POST /v1/heartbeat', 'POST /v1/continue_inspection'] as const
const TO_AGENTS = ['POST /v1/commands', 'GET /v1/commands'] as const
const ROUTES = [...OF_CLIENTS, ...OF_AGENTS, ...TO_AGENTS]
const BMC_ORDERS = ['set power', 'set boot'] as const
const RANDOM_BMC_CALLS = ['read power', ...BMC_ORDERS] as const

const DISK_BUSY_OUTPUT =
  'Error: checking for exclusive access to /dev/sda\n\nCaused by:\n    EBUSY: Device or resource busy\n'
const BROKEN = 'Error: reading image\n\nCaused by:\n    connection closed before message completed\n'

const matchRandomRoute = (random: Random, among: readonly string[] = ROUTES): Match => ({
  route: pickRandom(random, among),
})
const phase = (random: Random): Match => ({ phase: pickRandom(random, FAULT_PHASES) })
const bmc = (random: Random): Match => ({ bmc: pickRandom(random, RANDOM_BMC_CALLS) })
const matchRandomDisk = (random: Random): Match => ({
  disk: pickRandom(random, ['sda', 'sda', 'sdb']),
  phase: pickRandom(random, FAULT_PHASES),
})
const few = (random: Random): number => 1 + Math.floor(random.next() * 3)

/** Kinds of faults, each as likely as every other. */
const FAULT_MAKERS: readonly ((random: Random) => DrawnFault)[] = [
  (random) => ({ match: phase(random), effect: { kind: 'agent-silent' } }),
  (random) => ({ match: phase(random), effect: { kind: 'agent-restart' }, times: 1 }),
  (random) => ({ match: { step: 'install_coreos' }, effect: { kind: 'agent-restart' }, times: few(random) }),
  (random) => ({ match: phase(random), effect: { kind: 'power-loss' }, times: few(random) }),
  () => ({ match: {}, effect: { kind: 'bmc-silent' } }),
  (random) => ({
    match: bmc(random),
    effect: { kind: 'bmc-dark', ms: randomTime(random, minutes(2)) },
    times: few(random),
  }),
  (random) => ({ match: { bmc: pickRandom(random, BMC_ORDERS) }, effect: { kind: 'bmc-lies' }, times: few(random) }),
  (random) => ({
    match: bmc(random),
    effect: { kind: 'delay', ms: randomTime(random, minutes(1)) },
    times: few(random),
  }),
  (random) => ({ match: bmc(random), effect: { kind: 'hang' }, times: 1 }),
  (random) => ({
    match: { program: 'coreos-installer' },
    effect: {
      kind: 'exit-code',
      code: pickRandom(random, [1, 1, 1, 0]),
      stderr: pickRandom(random, [DISK_BUSY_OUTPUT, DISK_BUSY_OUTPUT, BROKEN]),
    },
    times: few(random),
  }),
  (random) => ({
    match: { program: pickRandom(random, ['wipefs', 'lsblk', 'udevadm', 'efibootmgr', 'sgdisk']) },
    effect: { kind: 'exit-code', code: 1, stderr: 'it failed\n' },
    times: few(random),
  }),
  (random) => ({
    match: matchRandomDisk(random),
    effect: { kind: 'disk-error', at: pickRandom(random, [0, 1024, 20 * 2 ** 20]) },
  }),
  (random) => ({ match: matchRandomDisk(random), effect: { kind: 'disk-full' }, times: few(random) }),
  (random) => ({ match: matchRandomDisk(random), effect: { kind: 'disk-lies' }, times: few(random) }),
  (random) => ({
    match: matchRandomDisk(random),
    effect: { kind: 'partitions-late', ms: randomTime(random, minutes(1)) },
    times: few(random),
  }),
  (random) => ({
    match: matchRandomRoute(random),
    effect: { kind: 'status', status: pickRandom(random, [409, 500, 502, 503]) },
    times: few(random),
  }),
  (random) => ({
    match: matchRandomRoute(random),
    effect: { kind: 'connection-reset', when: pickRandom(random, ['before', 'after'] as const) },
    times: few(random),
  }),
  (random) => ({ match: matchRandomRoute(random), effect: { kind: 'hang' }, times: 1 }),
  (random) => ({ match: matchRandomRoute(random), effect: drawFileDamage(random), times: few(random) }),
  (random) => ({
    match: matchRandomRoute(random, [...OF_AGENTS, TO_AGENTS[0]]),
    effect: { kind: 'repeat' },
    times: few(random),
  }),
  (random) => ({
    match: matchRandomRoute(random),
    effect: { kind: 'delay', ms: randomTime(random, minutes(1)) },
    times: few(random),
  }),
  (random) => ({ match: matchRandomRoute(random, OF_AGENTS), effect: { kind: 'wrong-token' }, times: few(random) }),
  (random) => ({ match: { route: OF_AGENTS[1] }, effect: { kind: 'stale-agent-url' }, times: few(random) }),
  () => ({ match: { route: OF_CLIENTS[1] }, effect: { kind: 'empty-last-error' } }),
]

const drawFileDamage = (random: Random): FaultEffect =>
  pickRandom<FaultEffect>(random, [
    { kind: 'truncated-body' },
    { kind: 'malformed-body' },
    { kind: 'slow-body', bytesPerSecond: 1000 },
  ])

const randomTime = (random: Random, most: number): number => Math.round(randomUniform(random, seconds(1), most))

/** A fault of one node, for a part of a run. */
export function randomFault(random: Random, node: string, duration: number): Fault {
  const { match, ...rest } = pickRandom(random, FAULT_MAKERS)(random)
  const from = Math.round(randomUniform(random, 0, duration))
  const to = Math.min(duration, from + randomTime(random, minutes(4)))
  const after = Math.floor(random.next() * 3)
  return {
    match: { node, ...match },
    ...rest,
    ...defined({ after: after > 0 ? after : undefined }),
    between: [from, Math.max(to, from + 1)],
  }
}
