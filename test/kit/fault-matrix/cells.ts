import type { Fault, FaultMatch } from '../../../control/index.js'
import type { FlowName } from './flows.js'

/** A fault of the matrix, without the machine that a cell has. */
interface MatrixFault {
  readonly side: 'bmc' | 'agent' | 'image' | 'machine'
  readonly match: Omit<FaultMatch, 'machine' | 'node'>
  readonly effect: Fault['effect']
  readonly times?: number
  readonly after?: number
  /** Flows in which it can strike. */
  readonly flows: readonly FlowName[]
}

const WITH_STEPS = ['clean', 'deploy', 'service', 'teardown'] as const
/** Flows in which Ironic gives the agent commands. */
const WITH_COMMANDS = [...WITH_STEPS, 'rescue'] as const
const WITH_AGENT = ['inspect', ...WITH_COMMANDS] as const
const WITH_BOOT = [...WITH_AGENT, 'unrescue'] as const
const WITH_POWER = [...WITH_AGENT, 'power on'] as const
const WITH_BMC = ['verify', ...WITH_POWER, 'unrescue'] as const
const INSTALLS = ['deploy', 'direct'] as const
const ERASES = ['clean', 'manual clean', 'teardown'] as const

const REFUSED = { kind: 'status', status: 403 } as const
const BROKEN = { kind: 'status', status: 500 } as const
/** With the body of a Redfish error, in which Ironic looks for a reason. */
const BROKEN_MEDIA = {
  kind: 'status',
  status: 500,
  body: { error: { code: 'Base.1.8.InternalError', message: 'The media service failed.' } },
} as const

/** Images that are installed: without the path, a fault would also strike the medium that a real Ironic boots. */
const IMAGES = { to: 'images', route: '/installed' } as const

/**
 * Faults of the matrix. Each fault is added when a flow begins, to a fleet's machine with a real Ironic and to
 * a machine of ours: what it matches must mean the same in both.
 */
export const MATRIX_FAULTS = {
  'bmc silent': { side: 'bmc', match: {}, effect: { kind: 'bmc-silent' }, flows: [...WITH_BMC, 'manual clean'] },
  'power state refused': { side: 'bmc', match: { bmc: 'read power' }, effect: REFUSED, flows: WITH_BMC },
  'power switch fails': {
    side: 'bmc',
    match: { bmc: 'set power' },
    effect: BROKEN,
    flows: [...WITH_POWER, 'unrescue', 'manual clean'],
  },
  'power switch fails once': {
    side: 'bmc',
    match: { bmc: 'set power' },
    effect: BROKEN,
    times: 1,
    flows: WITH_POWER,
  },
  'power switch is a lie': {
    side: 'bmc',
    match: { bmc: 'set power' },
    effect: { kind: 'bmc-lies' },
    flows: WITH_POWER,
  },
  'power switch busy': { side: 'bmc', match: { bmc: 'set power' }, effect: { kind: 'bmc-busy' }, flows: WITH_POWER },
  'power switch reset': {
    side: 'bmc',
    match: { bmc: 'set power' },
    effect: { kind: 'connection-reset' },
    flows: WITH_POWER,
  },
  'boot device refused': { side: 'bmc', match: { bmc: 'set boot' }, effect: REFUSED, flows: WITH_BOOT },
  'media service broken': { side: 'bmc', match: { bmc: 'change media' }, effect: BROKEN_MEDIA, flows: WITH_BOOT },
  'power state garbled': {
    side: 'bmc',
    match: { bmc: 'read power' },
    effect: { kind: 'malformed-body' },
    flows: ['verify', 'deploy', 'power on'],
  },
  'power switch late': {
    side: 'bmc',
    match: { bmc: 'set power' },
    effect: { kind: 'delay', ms: 5000 },
    flows: ['clean', 'power on'],
  },
  'bmc dark after the power switch': {
    side: 'bmc',
    match: { bmc: 'set power' },
    effect: { kind: 'bmc-dark', ms: 10_000 },
    times: 1,
    flows: ['clean', 'deploy', 'power on'],
  },
  'agent silent': {
    side: 'agent',
    match: {},
    effect: { kind: 'agent-silent' },
    flows: [...WITH_AGENT, 'manual clean', 'direct'],
  },
  'agent token wrong': { side: 'agent', match: {}, effect: { kind: 'wrong-token' }, flows: WITH_COMMANDS },
  'agent address stale': { side: 'agent', match: {}, effect: { kind: 'stale-agent-url' }, flows: WITH_COMMANDS },
  'lookup not found': {
    side: 'agent',
    match: { route: 'GET /v1/lookup' },
    effect: { kind: 'status', status: 404 },
    flows: WITH_AGENT,
  },
  'heartbeat refused twice': {
    side: 'agent',
    match: { route: 'POST /v1/heartbeat' },
    effect: { kind: 'status', status: 503 },
    times: 2,
    flows: WITH_COMMANDS,
  },
  'inspection data refused': {
    side: 'agent',
    match: { route: 'POST /v1/continue_inspection' },
    effect: BROKEN,
    flows: ['inspect'],
  },
  'inspection data refused once': {
    side: 'agent',
    match: { route: 'POST /v1/continue_inspection' },
    effect: BROKEN,
    times: 1,
    flows: ['inspect'],
  },
  'commands fail': {
    side: 'agent',
    match: { route: 'POST /v1/commands' },
    effect: BROKEN,
    flows: WITH_COMMANDS,
  },
  'command garbled': {
    side: 'agent',
    match: { route: 'POST /v1/commands' },
    effect: { kind: 'malformed-body' },
    times: 1,
    flows: WITH_COMMANDS,
  },
  'second command garbled': {
    side: 'agent',
    match: { route: 'POST /v1/commands' },
    effect: { kind: 'malformed-body' },
    times: 1,
    after: 1,
    flows: [...WITH_STEPS, 'manual clean', 'direct'],
  },
  'commands reset': {
    side: 'agent',
    match: { route: 'POST /v1/commands' },
    effect: { kind: 'connection-reset' },
    flows: [...WITH_COMMANDS, 'manual clean', 'direct'],
  },
  'command status fails': {
    side: 'agent',
    match: { route: 'GET /v1/commands' },
    effect: BROKEN,
    flows: [...WITH_COMMANDS, 'direct'],
  },
  'agent restarts': {
    side: 'agent',
    match: { route: 'GET /v1/commands' },
    effect: { kind: 'agent-restart' },
    times: 1,
    flows: [...WITH_STEPS, 'direct'],
  },
  'commands hang': {
    side: 'agent',
    match: { route: 'POST /v1/commands' },
    effect: { kind: 'hang' },
    flows: ['clean', 'deploy'],
  },
  'commands late': {
    side: 'agent',
    match: { route: 'POST /v1/commands' },
    effect: { kind: 'delay', ms: 8000 },
    flows: ['clean', 'deploy'],
  },
  'commands too late': {
    side: 'agent',
    match: { route: 'POST /v1/commands' },
    effect: { kind: 'delay', ms: 30_000 },
    flows: ['clean', 'deploy'],
  },
  'command status slow': {
    side: 'agent',
    match: { route: 'GET /v1/commands' },
    effect: { kind: 'slow-body', bytesPerSecond: 500 },
    flows: ['clean', 'service'],
  },
  'command repeated': {
    side: 'agent',
    match: { route: 'POST /v1/commands' },
    effect: { kind: 'repeat' },
    after: 1,
    times: 1,
    flows: WITH_STEPS,
  },
  'heartbeats repeated': {
    side: 'agent',
    match: { route: 'POST /v1/heartbeat' },
    effect: { kind: 'repeat', times: 3 },
    flows: ['clean', 'deploy', 'rescue'],
  },
  'heartbeats late': {
    side: 'agent',
    match: { route: 'POST /v1/heartbeat' },
    effect: { kind: 'delay', ms: 10_000 },
    flows: ['clean', 'deploy'],
  },
  'image missing': {
    side: 'image',
    match: IMAGES,
    effect: { kind: 'status', status: 404 },
    flows: INSTALLS,
  },
  'image busy for a moment': {
    side: 'image',
    match: IMAGES,
    effect: { kind: 'status', status: 503 },
    times: 1,
    flows: INSTALLS,
  },
  'image busy': { side: 'image', match: IMAGES, effect: { kind: 'status', status: 503 }, flows: ['deploy'] },
  'image cut off': { side: 'image', match: IMAGES, effect: { kind: 'truncated-body' }, flows: INSTALLS },
  'image spoilt': { side: 'image', match: IMAGES, effect: { kind: 'malformed-body' }, flows: INSTALLS },
  'image server resets': { side: 'image', match: IMAGES, effect: { kind: 'connection-reset' }, flows: INSTALLS },
  'power lost as the agent starts': {
    side: 'machine',
    match: { program: 'lsblk' },
    effect: { kind: 'power-loss' },
    times: 1,
    // A deployment's time limit passes twice there: two of Ironic's workers race.
    flows: ['inspect', 'clean', 'service', 'teardown', 'rescue'],
  },
  'power lost at work': {
    side: 'machine',
    match: { disk: 'sda' },
    effect: { kind: 'power-loss' },
    times: 1,
    flows: ERASES,
  },
  'disk broken': {
    side: 'machine',
    match: { disk: 'sda' },
    effect: { kind: 'disk-error', at: 0 },
    flows: [...ERASES, ...INSTALLS],
  },
  'disk full': {
    side: 'machine',
    match: { disk: 'sda' },
    effect: { kind: 'disk-full' },
    flows: [...ERASES, ...INSTALLS],
  },
  'disk lies': { side: 'machine', match: { disk: 'sda' }, effect: { kind: 'disk-lies' }, flows: INSTALLS },
  'partitions late': {
    side: 'machine',
    match: { disk: 'sda' },
    effect: { kind: 'partitions-late', ms: 60_000 },
    flows: INSTALLS,
  },
  'program hangs': {
    side: 'machine',
    match: { program: 'lsblk' },
    effect: { kind: 'hang' },
    times: 1,
    flows: ['clean'],
  },
  'installer late': {
    side: 'machine',
    match: { program: 'coreos-installer' },
    effect: { kind: 'delay', ms: 20_000 },
    flows: ['deploy'],
  },
  'installer fails': {
    side: 'machine',
    match: { program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: 1, stderr: 'Error: reading image\n' },
    flows: ['deploy'],
  },
} as const satisfies Readonly<Record<string, MatrixFault>>

export type FaultName = keyof typeof MATRIX_FAULTS

/** A fault in a flow. */
export interface MatrixCell {
  /** `deploy, agent silent` */
  readonly title: string
  readonly flow: FlowName
  readonly fault: FaultName
}

/** All cells: each fault in each flow in which it can strike. */
export const MATRIX_CELLS: readonly MatrixCell[] = Object.entries(MATRIX_FAULTS).flatMap(([name, { flows }]) =>
  flows.map((flow) => ({ title: `${flow}, ${name}`, flow, fault: name as FaultName })),
)

/** The fault of a cell, on a machine. */
export function faultOf({ fault }: MatrixCell, machine: string): Fault {
  const { match, effect, times, after }: MatrixFault = MATRIX_FAULTS[fault]
  return { match: { ...match, machine }, effect, ...(times && { times }), ...(after && { after }) }
}
