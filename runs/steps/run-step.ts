import { Managers } from '../../agent/index.js'
import { UserError, uuid, type Clock, type Logger, type Random } from '../../runtime/index.js'
import {
  BadStepArguments,
  CommandFailed,
  shown,
  standardManagers,
  StepError,
  type HardwareManager,
} from '../../steps/index.js'
import { planTarget, type PlannedWrite, type Target } from '../../targets/index.js'
import type { MachineHardware } from '../../machine/index.js'
import type { JsonObject } from '../../wire/index.js'
import type { ImageCacheRequest } from '../../lab/index.js'
import { masked, maskedText } from '../../lab/index.js'
import type { StateFolder } from '../../lab/index.js'
import { placeOf } from './step-files.js'
import type { RealTarget } from '../targets/real-target.js'
import { openStepMachine, type StepMachine } from './step-machine.js'

/** What happens while a step runs; nothing in it is secret. */
export type StepRunEvent =
  | { event: 'started'; step: string; machine: string; real: boolean; plan: boolean }
  | { event: 'stage'; stage: string }
  | { event: 'percent'; percent: number }
  | { event: 'line'; line: string }
  /** What a plan does not do. */
  | { event: 'planned'; write: 'run'; command: string; stdin_bytes: number | null }
  | { event: 'planned'; write: 'file'; path: string; bytes: number; mode: string | null }
  | { event: 'planned'; write: 'remove'; path: string }

export interface StepRunOptions {
  step: string
  args: JsonObject
  /** {@link standardManagers} unless told otherwise. */
  managers?: readonly HardwareManager[]
  /** One of a state folder; a new one, gone with the run, without. */
  machine?: { folder: StateFolder; id: string }
  /** What a new simulated machine is made of. */
  hardware?: MachineHardware
  /** A machine that is not simulated. */
  on?: RealTarget
  /** Where images from URLs are kept, and how they are fetched for a simulated machine. */
  images?: ImageCacheRequest
  /** Really read, but only tell writes. */
  plan?: boolean
  clock: Clock
  random: Random
  logger: Logger
  signal: AbortSignal
  onEvent?: (event: StepRunEvent) => void
}

export interface StepRunResult {
  /** What the step gave, secrets masked. */
  value: unknown
  seconds: number
}

/**
 * Runs one step on a simulated machine, or a real one, as an agent would, with no Ironic.
 *
 * @throws UserError of kind usage for a step that nobody offers and for bad arguments, before anything is touched; of
 *   kind failure when the step fails
 */
export async function runStep(options: StepRunOptions): Promise<StepRunResult> {
  const { step, args, managers = standardManagers, plan = false, clock, random, logger, signal } = options
  const tell = options.onEvent ?? (() => {})
  knownStep(managers, step)
  const from = options.machine === undefined ? {} : { from: options.machine }
  const { images, hardware } = options
  const simulation = {
    ...from,
    ...(images ? { images } : {}),
    ...(hardware ? { hardware } : {}),
    ...{ clock, random, logger },
  }
  await using simulated = options.on ? undefined : await openStepMachine(simulation)
  const surroundings = options.on ? ofReal(options.on, uuid(random)) : ofSimulated(simulated!)
  const { node, ports, machine } = surroundings
  tell({ event: 'started', step, machine, real: options.on !== undefined, plan })
  const target = plan ? planTarget(surroundings.target, (write) => tell(told(write))) : surroundings.target
  const since = clock.elapsed()
  try {
    const offered = await Managers.probe(managers, target)
    const value = await offered.dispatch(step, (found) =>
      found.run(
        {
          ...{ target, node, ports, environment: {}, logger, clock, signal },
          progress: {
            stage: (stage) => tell({ event: 'stage', stage: maskedText(stage) }),
            percent: (percent) => tell({ event: 'percent', percent }),
            line: (line) => tell({ event: 'line', line: maskedText(line) }),
          },
        },
        args,
      ),
    )
    return { value: masked(value ?? null), seconds: Math.round(clock.elapsed() - since) / 1000 }
  } catch (error) {
    signal.throwIfAborted()
    throw failed(step, error, plan)
  }
}

interface StepPlace {
  machine: string
  target: Target
  node: JsonObject
  ports: readonly JsonObject[]
}

const ofSimulated = ({ machine, node, ports }: StepMachine): StepPlace => ({
  ...{ machine: machine.spec.id, target: machine.target, node, ports },
})

/** A node of the disk that was named, which cleaning leaves alone unless that was allowed. */
const ofReal = ({ target, disk }: RealTarget, id: string): StepPlace => ({
  ...{ machine: target.name, target, ports: [] },
  node: {
    ...{ uuid: id, name: 'real', instance_info: {}, driver_info: {}, driver_internal_info: {} },
    properties: { root_device: { name: disk.path } },
    automated_clean: target.has('cleaning'),
  },
})

/**
 * A step of these managers, by name, as an agent would choose it.
 *
 * @throws UserError (usage) that names the ones there are
 */
export function knownStep(managers: readonly HardwareManager[], name: string): void {
  const names = managers.flatMap(({ steps }) => steps.map((step) => step.name))
  if (names.includes(name)) return
  throw new UserError('no-step', `there is no step ${name}`, {
    remedy: `there are ${[...new Set(names)].sort().join(', ')}; more come with --steps FILE`,
    kind: 'usage',
  })
}

function told(write: PlannedWrite): StepRunEvent {
  switch (write.kind) {
    case 'run': {
      const [program, ...more] = write.argv
      const command = shown([program, ...more.map(maskedText)])
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
  'the plan ends here; where the step looks for what it would have written, let it look only unless target.planned'

function failed(step: string, error: unknown, plan: boolean): UserError {
  if (error instanceof BadStepArguments)
    return new UserError('bad-step-arguments', error.details, {
      remedy: `see what it takes with ironstage step show ${step}`,
      kind: 'usage',
    })
  if (error instanceof UserError) return error
  if (error instanceof StepError)
    return new UserError('step-failed', `the step ${step} failed`, {
      cause: new Error(maskedText(error.details)),
      ...(plan ? { remedy: PLAN_ENDS } : {}),
    })
  // What a program of the target said is no defect of the step's; anything else may be, and then its place helps.
  const place = error instanceof CommandFailed ? undefined : placeOf(error)
  const remedy = place === undefined ? (plan ? PLAN_ENDS : undefined) : `look at ${place}`
  return new UserError('step-failed', `the step ${step} failed`, {
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
  })
}
