import { Managers } from '../../../agent/index.js'
import {
  UserError,
  defined,
  nearestWord,
  randomUuid,
  type Clock,
  type Logger,
  type Random,
} from '../../../base/runtime/index.js'
import {
  BadStepArguments,
  CommandFailed,
  printCommand,
  standardManagers,
  StepError,
  type HardwareManager,
} from '../../../steps/index.js'
import { planTarget, type PlannedWrite, type Target } from '../../../targets/index.js'
import type { MachineHardware } from '../../../machine/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { ImageCacheRequest } from '../../../lab/index.js'
import { maskValue, maskedText } from '../../../control/index.js'
import type { StateFolder } from '../../../lab/index.js'
import { errorPositionOf } from './step-files.js'
import type { RealTarget } from '../targets/real-target.js'
import { openStepMachine, type StepMachine } from './step-machine.js'

/** Events of a running step, without secrets. */
export type StepRunEvent =
  | { event: 'started'; step: string; machine: string; real: boolean; plan: boolean }
  | { event: 'stage'; stage: string }
  | { event: 'percent'; percent: number }
  | { event: 'line'; line: string }
  /** Writes that a plan does not execute. */
  | { event: 'planned'; write: 'run'; command: string; stdin_bytes: number | null }
  | { event: 'planned'; write: 'file'; path: string; bytes: number; mode: string | null }
  | { event: 'planned'; write: 'remove'; path: string }

export interface StepRunOptions {
  step: string
  args: JsonObject
  /** Default {@link standardManagers}. */
  managers?: readonly HardwareManager[]
  /** Machine of a state folder; by default a new one that exists only during the run. */
  machine?: { folder: StateFolder; id: string }
  /** Hardware of a new simulated machine. */
  hardware?: MachineHardware
  /** A real machine. */
  on?: RealTarget
  /** UUID of its node, for a step that is run again and attaches to its programs; a random one by default. */
  nodeUuid?: string
  /** Image cache, and options for downloads, for a simulated machine. */
  images?: ImageCacheRequest
  /** Reads are executed; writes are only reported. */
  plan?: boolean
  clock: Clock
  random: Random
  logger: Logger
  signal: AbortSignal
  onEvent?: (event: StepRunEvent) => void
}

export interface StepRunResult {
  /** Result of the step, with secrets masked. */
  value: unknown
  seconds: number
}

/**
 * Runs one step on a simulated or real machine as an agent does, without an Ironic.
 *
 * @throws UserError of kind usage for an unknown step or bad arguments, before the step runs; of kind failure when the
 *   step fails
 */
export async function runStep(options: StepRunOptions): Promise<StepRunResult> {
  const { step, args, managers = standardManagers, plan = false, clock, random, logger, signal } = options
  const report = options.onEvent ?? (() => {})
  knownStep(managers, step)
  const from = options.machine === undefined ? {} : { from: options.machine }
  const { images, hardware } = options
  const simulation = {
    ...from,
    ...defined({ images, hardware }),
    clock,
    random,
    logger,
  }
  await using simulated = options.on ? undefined : await openStepMachine(simulation)
  const stepTarget = options.on ? ofReal(options.on, options.nodeUuid ?? randomUuid(random)) : ofSimulated(simulated!)
  const { node, ports, machine } = stepTarget
  report({ event: 'started', step, machine, real: options.on !== undefined, plan })
  const target = plan ? planTarget(stepTarget.target, (write) => report(plannedEvent(write))) : stepTarget.target
  const since = clock.elapsed()
  try {
    const offered = await Managers.probe(managers, target)
    const value = await offered.dispatch(step, (found) =>
      found.run(
        {
          target,
          node,
          ports,
          environment: {},
          logger,
          clock,
          signal,
          progress: {
            stage: (stage) => report({ event: 'stage', stage: maskedText(stage) }),
            percent: (percent) => report({ event: 'percent', percent }),
            line: (line) => report({ event: 'line', line: maskedText(line) }),
          },
        },
        args,
      ),
    )
    return { value: maskValue(value ?? null), seconds: Math.round(clock.elapsed() - since) / 1000 }
  } catch (error) {
    signal.throwIfAborted()
    throw stepRunError(step, error, plan)
  }
}

interface StepTarget {
  machine: string
  target: Target
  node: JsonObject
  ports: readonly JsonObject[]
}

const ofSimulated = ({ machine, node, ports }: StepMachine): StepTarget => ({
  machine: machine.spec.id,
  target: machine.target,
  node,
  ports,
})

/** Node with the selected disk as its root device. Cleaning is off unless it was allowed. */
const ofReal = ({ target, disk }: RealTarget, id: string): StepTarget => ({
  machine: target.name,
  target,
  ports: [],
  node: {
    uuid: id,
    name: 'real',
    instance_info: {},
    driver_info: {},
    driver_internal_info: {},
    properties: { root_device: { name: disk.path } },
    automated_clean: target.has('cleaning'),
  },
})

/**
 * Checks that one of the managers has the step.
 *
 * @throws UserError (usage) that lists the known steps
 */
export function knownStep(managers: readonly HardwareManager[], name: string): void {
  const names = managers.flatMap(({ steps }) => steps.map((step) => step.name))
  if (names.includes(name)) return
  const near = nearestWord(name, names)
  throw new UserError('no-step', `there is no step ${name}${near === undefined ? '' : `; did you mean ${near}?`}`, {
    remedy: `there are ${[...new Set(names)].sort().join(', ')}; more come with --steps FILE`,
    kind: 'usage',
  })
}

function plannedEvent(write: PlannedWrite): StepRunEvent {
  switch (write.kind) {
    case 'run': {
      const [program, ...more] = write.argv
      const command = printCommand([program, ...more.map(maskedText)])
      return { event: 'planned', write: 'run', command, stdin_bytes: write.stdin?.length ?? null }
    }
    case 'write': {
      const mode = write.mode === null ? null : `0${write.mode.toString(8)}`
      return { event: 'planned', write: 'file', path: write.path, bytes: write.bytes.length, mode }
    }
    case 'remove':
      return { event: 'planned', write: 'remove', path: write.path }
  }
}

const PLAN_ENDS =
  'the plan ends here; if the step reads back its own writes, make it skip that when target.planned is set'

const isStandard = (step: string): boolean =>
  standardManagers.some(({ steps }) => steps.some(({ name }) => name === step))

function stepRunError(step: string, error: unknown, plan: boolean): UserError {
  if (error instanceof BadStepArguments)
    return new UserError('bad-step-arguments', error.details, {
      remedy: `see what it takes with ironstage step show ${step}${isStandard(step) ? '' : ' --steps FILE'}`,
      kind: 'usage',
    })
  if (error instanceof UserError) return error
  if (error instanceof StepError)
    return new UserError('step-failed', `the step ${step} failed`, {
      cause: new Error(maskedText(error.details)),
      ...defined({ remedy: plan ? PLAN_ENDS : undefined }),
    })
  // A failed program of the target is not a defect of the step. Another error may be one, so show its position.
  const place = error instanceof CommandFailed ? undefined : errorPositionOf(error)
  const remedy = place === undefined ? (plan ? PLAN_ENDS : undefined) : `look at ${place}`
  return new UserError('step-failed', `the step ${step} failed`, {
    cause: error,
    ...defined({ remedy }),
  })
}
