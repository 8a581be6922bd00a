import { defined, minutes, seconds, uniform, type Random } from '../../runtime/index.js'
import type { Fault, FaultEffect, FaultMatch } from '../faults/fault.js'

/** One of some values. */
export const pick = <T,>(random: Random, from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!

type Drawn = Pick<Fault, 'match' | 'effect' | 'times'>
type Match = Omit<FaultMatch, 'node'>

const PHASES = ['inspect', 'clean', 'deploy', 'install'] as const
const OF_CLIENTS = [
  'PUT /v1/nodes/:id/states/provision',
  'GET /v1/nodes/:id',
  'PUT /v1/nodes/:id/states/power',
] as const
const OF_AGENTS = ['GET /v1/lookup', 'POST /v1/heartbeat', 'POST /v1/continue_inspection'] as const
const TO_AGENTS = ['POST /v1/commands', 'GET /v1/commands'] as const
const ROUTES = [...OF_CLIENTS, ...OF_AGENTS, ...TO_AGENTS]
const BMC_ORDERS = ['set power', 'set boot'] as const
const BMC_CALLS = ['read power', ...BMC_ORDERS] as const

const BUSY = 'Error: checking for exclusive access to /dev/sda\n\nCaused by:\n    EBUSY: Device or resource busy\n'
const BROKEN = 'Error: reading image\n\nCaused by:\n    connection closed before message completed\n'

const route = (random: Random, among: readonly string[] = ROUTES): Match => ({ route: pick(random, among) })
const phase = (random: Random): Match => ({ phase: pick(random, PHASES) })
const bmc = (random: Random): Match => ({ bmc: pick(random, BMC_CALLS) })
const disk = (random: Random): Match => ({ disk: pick(random, ['sda', 'sda', 'sdb']), phase: pick(random, PHASES) })
const few = (random: Random): number => 1 + Math.floor(random.next() * 3)

/** Kinds of faults, each as likely as every other. */
const KINDS: readonly ((random: Random) => Drawn)[] = [
  (random) => ({ match: phase(random), effect: { kind: 'agent-silent' } }),
  (random) => ({ match: phase(random), effect: { kind: 'agent-restart' }, times: 1 }),
  (random) => ({ match: { step: 'install_coreos' }, effect: { kind: 'agent-restart' }, times: few(random) }),
  (random) => ({ match: phase(random), effect: { kind: 'power-loss' }, times: few(random) }),
  () => ({ match: {}, effect: { kind: 'bmc-silent' } }),
  (random) => ({ match: bmc(random), effect: { kind: 'bmc-dark', ms: some(random, minutes(2)) }, times: few(random) }),
  (random) => ({ match: { bmc: pick(random, BMC_ORDERS) }, effect: { kind: 'bmc-lies' }, times: few(random) }),
  (random) => ({ match: bmc(random), effect: { kind: 'delay', ms: some(random, minutes(1)) }, times: few(random) }),
  (random) => ({ match: bmc(random), effect: { kind: 'hang' }, times: 1 }),
  (random) => ({
    match: { program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: pick(random, [1, 1, 1, 0]), stderr: pick(random, [BUSY, BUSY, BROKEN]) },
    times: few(random),
  }),
  (random) => ({
    match: { program: pick(random, ['wipefs', 'lsblk', 'udevadm', 'efibootmgr', 'sgdisk']) },
    effect: { kind: 'exit-code', code: 1, stderr: 'it failed\n' },
    times: few(random),
  }),
  (random) => ({ match: disk(random), effect: { kind: 'disk-error', at: pick(random, [0, 1024, 20 * 2 ** 20]) } }),
  (random) => ({ match: disk(random), effect: { kind: 'disk-full' }, times: few(random) }),
  (random) => ({ match: disk(random), effect: { kind: 'disk-lies' }, times: few(random) }),
  (random) => ({
    match: disk(random),
    effect: { kind: 'partitions-late', ms: some(random, minutes(1)) },
    times: few(random),
  }),
  (random) => ({
    match: route(random),
    effect: { kind: 'status', status: pick(random, [409, 500, 502, 503]) },
    times: few(random),
  }),
  (random) => ({
    match: route(random),
    effect: { kind: 'connection-reset', when: pick(random, ['before', 'after'] as const) },
    times: few(random),
  }),
  (random) => ({ match: route(random), effect: { kind: 'hang' }, times: 1 }),
  (random) => ({ match: route(random), effect: damaged(random), times: few(random) }),
  (random) => ({ match: route(random, [...OF_AGENTS, TO_AGENTS[0]]), effect: { kind: 'repeat' }, times: few(random) }),
  (random) => ({ match: route(random), effect: { kind: 'delay', ms: some(random, minutes(1)) }, times: few(random) }),
  (random) => ({ match: route(random, OF_AGENTS), effect: { kind: 'wrong-token' }, times: few(random) }),
  (random) => ({ match: { route: OF_AGENTS[1] }, effect: { kind: 'stale-agent-url' }, times: few(random) }),
  () => ({ match: { route: OF_CLIENTS[1] }, effect: { kind: 'empty-last-error' } }),
]

const damaged = (random: Random): FaultEffect =>
  pick<FaultEffect>(random, [
    { kind: 'truncated-body' },
    { kind: 'malformed-body' },
    { kind: 'slow-body', bytesPerSecond: 1000 },
  ])

const some = (random: Random, most: number): number => Math.round(uniform(random, seconds(1), most))

/** A fault of one node, for a part of a run. */
export function randomFault(random: Random, node: string, duration: number): Fault {
  const { match, ...rest } = pick(random, KINDS)(random)
  const from = Math.round(uniform(random, 0, duration))
  const to = Math.min(duration, from + some(random, minutes(4)))
  const after = Math.floor(random.next() * 3)
  return {
    match: { node, ...match },
    ...rest,
    ...defined({ after: after > 0 ? after : undefined }),
    between: [from, Math.max(to, from + 1)],
  }
}
