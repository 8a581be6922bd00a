import type { TypedSchema } from '../operations/control-operation.js'
import { countSchema, DURATION, textSchema } from '../operations/schema-forms.js'
import type { ExchangeParties } from './exchange-parties.js'
import type { FaultMatch } from './fault.js'

/** How a {@link Fault} strikes. */
export type FaultEffect =
  /** Nothing gets through between the agent and Ironic, in either direction. */
  | { kind: 'agent-silent' }
  /** The agent is started again, on the same boot; what it began goes on where a restarted agent can follow it. */
  | { kind: 'agent-restart' }
  /** The machine loses its power. */
  | { kind: 'power-loss' }
  /** The BMC does not answer. */
  | { kind: 'bmc-silent' }
  /** The call is carried out; after it, the BMC does not answer for `ms` of lab time, as while it starts again. */
  | { kind: 'bmc-dark'; ms: number }
  /**
   * The BMC has too much to do: it answers 503, over Redfish with `Retry-After` in seconds, 30 by default, over IPMI with
   * the completion code C0h. On `sign in`
   * it has as many sessions as it takes.
   */
  | { kind: 'bmc-busy'; retryAfter?: number }
  /** The BMC reports success without carrying out the call. */
  | { kind: 'bmc-lies' }
  /** The program does not run; it ends with this exit code after printing `stderr`. */
  | { kind: 'exit-code'; code: number; stderr?: string }
  /** The disk's medium is broken at byte `at`: what touches it fails with EIO. */
  | { kind: 'disk-error'; at: number }
  /** Writing fails with ENOSPC. */
  | { kind: 'disk-full' }
  /** The disk reports a write as done without doing it. */
  | { kind: 'disk-lies' }
  /**
   * The kernel and udev show the partitions of a table that was written only after `ms` of lab time: until then programs find
   * none, though the bytes are there. A boot finds those that are on the disk.
   */
  | { kind: 'partitions-late'; ms: number }
  /** The exchange is not carried out; this is the answer. */
  | { kind: 'status'; status: number; body?: unknown; headers?: Readonly<Record<string, string>> }
  /** The connection is reset: before the request is carried out, or after it with the answer lost. Default `before`. */
  | { kind: 'connection-reset'; when?: 'before' | 'after' }
  /** No answer comes, until the fault is lifted. */
  | { kind: 'hang' }
  /** The connection is closed in the middle of the answer's body. */
  | { kind: 'truncated-body' }
  /** The answer's body is no whole document; of a file, it has wrong bytes and its right length. */
  | { kind: 'malformed-body' }
  /** The answer's body comes at this pace. */
  | { kind: 'slow-body'; bytesPerSecond: number }
  /** The request is carried out this often, as by a client that tries again too soon. Default 2. */
  | { kind: 'repeat'; times?: number }
  /** The agent shows a token that is not its own. */
  | { kind: 'wrong-token' }
  /** The agent names an address at which it does not listen. */
  | { kind: 'stale-agent-url' }
  /** Ironic's answers about nodes have an empty `last_error`. */
  | { kind: 'empty-last-error' }
  /** The container of the agent cannot be pulled. Default `not-found`; any other text is the registry's own sentence. */
  | { kind: 'pull-error'; reason?: 'not-found' | 'unauthorized' | 'timeout' | (string & {}) }
  /**
   * The SSH connection to a system is cut `ms` after a command on it began; the command goes on. Only the machines of
   * `ironstage run --rehearse` have such links.
   */
  | { kind: 'link-cut'; ms: number }
  /** Matching exchanges, calls of BMCs, commands, pulls and disk accesses take this much longer. */
  | { kind: 'delay'; ms: number }

export type FaultKind = FaultEffect['kind']

/** An effect of some kinds. */
export type EffectOf<Kind extends FaultKind> = Extract<FaultEffect, { kind: Kind }>

/** Why a fault could never strike. */
interface FaultProblem {
  readonly message: string
  readonly remedy: string
}

/** Kinds of probe points at which faults can strike: `lab/points.ts` has each with its members. */
export type FaultPoint =
  | 'agent-command'
  | 'bmc'
  | 'command'
  | 'disk-read'
  | 'disk-write'
  | 'exchange'
  | 'image-pull'
  | 'partitions'
  | 'pull'
  | 'ssh'

/** Facts of an effect for the lab, its API and the dashboard; `effects/` has what it does. */
interface EffectFacts {
  /** Kinds of probe points at which it acts. */
  readonly points: readonly FaultPoint[]
  /** Exchanges in which it acts; default: any. */
  readonly exchanges?: ExchangeParties
  /** Calls of BMCs on which it acts are answered by HTTP. */
  readonly needsHttp?: true
  /**
   * It acts only on agents that answer to an Ironic, on answers of an Ironic of the same process, or on links that only
   * rehearsals of runs over hosts have.
   */
  readonly only?: 'agents' | 'answers of Ironic' | 'links'
  /** It is done to a machine, by the process that has the machine, also where another makes the call. */
  readonly onMachine?: true
  /** Schemas of its members in documents, where `for` stands for `ms`. */
  readonly members?: Readonly<Record<string, TypedSchema>>
  readonly required?: readonly string[]
  /** A reason why it could never strike where this matches. */
  readonly problem?: (match: FaultMatch) => FaultProblem | undefined
  /** Why `chaos` never draws it. */
  readonly notInChaos?: string
}

/** Members of an effect that takes a length of time. */
const LENGTH = { members: { for: DURATION }, required: ['for'] } as const

/** Headers of an answer by name. */
const HEADERS: TypedSchema = {
  type: 'object',
  propertyNames: { pattern: "^[\\w!#$%&'*+.^`|~-]+$" },
  additionalProperties: { type: 'string', pattern: '^[\\x20-\\x7e]*$' },
}

/** An effect that is not in this table, and a row of it that is no effect, do not compile. */
const EFFECT_FACTS = {
  'agent-silent': { points: ['exchange'], exchanges: 'with agents', only: 'agents' },
  'agent-restart': { points: ['exchange', 'command', 'agent-command'], only: 'agents', onMachine: true },
  'power-loss': { points: ['exchange', 'command', 'agent-command', 'disk-write', 'bmc'], onMachine: true },
  'bmc-silent': { points: ['bmc'] },
  'bmc-dark': { points: ['bmc'], ...LENGTH },
  'bmc-lies': {
    points: ['bmc'],
    problem: ({ bmc }) =>
      bmc !== undefined && /^(read |subscribe$)/.test(bmc)
        ? {
            message: `a BMC cannot lie about ${bmc}, which changes nothing`,
            remedy: 'match a call that changes something: set power',
          }
        : undefined,
  },
  'bmc-busy': {
    points: ['bmc'],
    members: { retryAfter: countSchema('seconds of Retry-After', 1) },
    notInChaos: 'to draw it would change the runs of all known seeds',
  },
  'exit-code': {
    points: ['command'],
    members: { code: { type: 'integer', minimum: 0, maximum: 255 }, stderr: { type: 'string' } },
    required: ['code'],
  },
  'disk-error': {
    points: ['disk-read', 'disk-write'],
    members: { at: countSchema('byte at which the medium is broken') },
    required: ['at'],
  },
  'disk-full': { points: ['disk-write'] },
  'disk-lies': { points: ['disk-write'] },
  'partitions-late': { points: ['partitions'], ...LENGTH },
  // Calls of BMCs are exchanges where they are answered by HTTP.
  status: {
    points: ['exchange', 'bmc'],
    needsHttp: true,
    members: { status: { type: 'integer', minimum: 200, maximum: 599 }, body: {}, headers: HEADERS },
    required: ['status'],
  },
  'connection-reset': {
    points: ['exchange', 'bmc'],
    needsHttp: true,
    members: { when: { enum: ['before', 'after'] } },
  },
  hang: { points: ['exchange', 'bmc', 'command'] },
  'truncated-body': { points: ['exchange', 'bmc'], needsHttp: true },
  'malformed-body': { points: ['exchange', 'bmc'], needsHttp: true },
  'slow-body': {
    points: ['exchange', 'bmc'],
    needsHttp: true,
    members: { bytesPerSecond: countSchema('pace of the body', 1) },
    required: ['bytesPerSecond'],
  },
  repeat: { points: ['exchange'], members: { times: { type: 'integer', minimum: 2, maximum: 100 } } },
  'wrong-token': { points: ['exchange'], exchanges: 'from agents', only: 'agents' },
  'stale-agent-url': { points: ['exchange'], exchanges: 'from agents', only: 'agents' },
  'empty-last-error': { points: ['exchange'], exchanges: 'to ironic', only: 'answers of Ironic' },
  'pull-error': {
    points: ['pull'],
    members: { reason: textSchema('not-found, unauthorized, timeout, or the sentence of a registry') },
    notInChaos: 'its machines pull no container',
  },
  'link-cut': { points: ['ssh'], only: 'links', ...LENGTH, notInChaos: 'its machines have no links' },
  delay: {
    points: ['exchange', 'bmc', 'command', 'agent-command', 'disk-read', 'disk-write', 'pull', 'image-pull'],
    ...LENGTH,
    problem: (match) =>
      Object.keys(match).length === 0
        ? { message: 'a delay that matches everything would delay itself', remedy: 'match something' }
        : undefined,
  },
} as const satisfies Readonly<Record<FaultKind, EffectFacts>>

/** Kinds of probe points at which effects of a kind act. */
export type EffectPoint<Kind extends FaultKind> = (typeof EFFECT_FACTS)[Kind]['points'][number]

export const FAULT_KINDS = Object.keys(EFFECT_FACTS) as readonly FaultKind[]

export const effectFacts = (kind: FaultKind): EffectFacts => EFFECT_FACTS[kind]
