import type { HttpThrough, ProxySettings } from '../../base/bytes/index.js'
import { knownInAllCopies, type Clock, type Logger } from '../../base/runtime/index.js'
import type { AdvertisedStep, InventoryInterface, JsonObject, StepInterface, StepKind } from '../../base/wire/index.js'
import type { Target } from '../../targets/index.js'
import type { ArgsSchema } from './arg-types.js'
import type { StepHardware } from '../hardware/step-hardware.js'

/** Receiver of a running step's progress. */
export interface StepProgress {
  /** A stage of the step has begun: `finding the root device`, `writing the image`. */
  stage(name: string): void
  /** Percentage of the current stage, 0 to 100, if known. */
  percent(value: number): void
  /** A line that a program of the step printed. */
  line(text: string): void
}

/** Surroundings of a step, which its runner provides. */
export interface StepSurroundings {
  readonly target: Target
  /** The node as Ironic sent it: its database record, configdrive in clear for deploy steps only. */
  readonly node: JsonObject
  readonly ports: readonly JsonObject[]
  /** Environment of the agent: `IPA_COREOS_IP_OPTIONS`, `IPA_COREOS_COPY_NETWORK` ... */
  readonly environment: Readonly<Record<string, string>>
  readonly progress: StepProgress
  readonly logger: Logger
  readonly clock: Clock
  /** Sees the requests of the agent for files. */
  readonly downloads?: HttpThrough
  /** Aborted when the agent is stopped. */
  readonly signal: AbortSignal
  /** Ironic's rules for images; absent without an Ironic that has sent them. */
  readonly images?: ImageRules
  /** True if the agent's `disable_bootc_deploy` forbids to install containers. */
  readonly refusesContainers?: boolean
  /** Fetches the node from Ironic again; resolves to null when Ironic does not answer. Absent without an Ironic. */
  readonly nodeAgain?: () => Promise<JsonObject | null>
}

/** Rules for images, from Ironic's answer to a lookup. */
export interface ImageRules {
  /** True if an MD5 checksum is accepted. */
  readonly md5: boolean
  /** Folders of the agent's host whose files a `file:` URL may name; absent where it may name any. */
  readonly fileFolders?: readonly string[]
  /** Proxies to the servers of images; absent where there are none. */
  readonly proxies?: ProxySettings
  /** Permitted formats, in Ironic's words (`raw`, `gpt`, `qcow2` ...); null permits all. */
  readonly formats: readonly string[] | null
}

/** Context of a running step. */
export interface StepContext extends StepSurroundings {
  /** Hardware of the machine, read from the target. */
  readonly hardware: StepHardware
}

/** A step with its arguments' JSON Schema. Made by {@link defineStep}. */
export interface Step {
  readonly name: string
  readonly interface: StepInterface
  readonly on: readonly StepKind[]
  /** Advertised priority by kind of work; 0 means that the step runs only on request. */
  readonly priority: Readonly<Partial<Record<StepKind, number>>>
  readonly abortable: boolean
  readonly rebootRequested: boolean
  /** Full schema of its arguments, for users; agents advertise less. */
  readonly args?: ArgsSchema
  advertise(kind: StepKind): AdvertisedStep
  /**
   * Checks the arguments, then runs. Its value becomes `deploy_result` (`clean_result`, `service_result`).
   *
   * @throws BadStepArguments before anything is changed; StepError for failures of the step itself
   */
  run(context: StepSurroundings, args: JsonObject): Promise<unknown>
}

/** Surroundings of a manager when its agent starts. */
export interface ManagerStart {
  /** Environment of the agent: `IPA_DEFAULT_HOSTNAME` ... */
  readonly environment: Readonly<Record<string, string>>
  readonly logger: Logger
}

/** A named set of steps, as IPA's hardware managers are. */
export interface HardwareManager {
  /** Class name: the key of its steps in `get_*_steps`. */
  readonly className: string
  /** Key in `hardware_manager_version`. */
  readonly name: string
  readonly version: string
  /**
   * 0 none, 1 generic, 2 mainline, 3 service provider; the highest one wins a step's name. Asked once, when the agent
   * starts; a manager that rejects keeps the agent from looking its node up.
   */
  support(target: Target, start?: ManagerStart): Promise<number>
  /** False for a NIC that the agent must not see: it is in no inventory and in no lookup. Default: true. */
  keepsInterface?(nic: InventoryInterface): boolean
  readonly steps: readonly Step[]
}

/**
 * Failure of a step, for Ironic: `details` becomes `last_error`. `type` is IPA's class name; by default the agent fills in
 * DeploymentError, CleaningError or ServicingError.
 *
 * @example
 * import { defineStep } from 'ironstage'
 * import { StepError } from 'ironstage/steps'
 *
 * export const touch = defineStep({
 *   name: 'touch',
 *   interface: 'deploy',
 *   on: ['deploy'],
 *   run: async ({ target, node, signal }) => {
 *     if (node['maintenance'] === true) throw new StepError('the node is in maintenance')
 *   },
 * })
 */
export class StepError extends Error {
  override name = 'StepError'
  readonly type: string | undefined
  readonly details: string

  constructor(details: string, options: { type?: string; cause?: unknown } = {}) {
    super(details, options.cause === undefined ? {} : { cause: options.cause })
    this.type = options.type
    this.details = details
  }
}

/**
 * A step refused its arguments, before it changed anything.
 *
 * @example
 * import { defineStep } from 'ironstage'
 * import { BadStepArguments } from 'ironstage/steps'
 *
 * export const pause = defineStep({
 *   name: 'pause',
 *   interface: 'deploy',
 *   on: ['deploy'],
 *   args: { properties: { until: { type: 'string', description: 'RFC 3339 time.' } }, required: ['until'] },
 *   run: async (_context, { until }) => {
 *     if (Number.isNaN(Date.parse(until))) throw new BadStepArguments(`${until} is not a time`)
 *   },
 * })
 */
export class BadStepArguments extends StepError {
  override name = 'BadStepArguments'
}

knownInAllCopies(StepError, 'StepError')
knownInAllCopies(BadStepArguments, 'BadStepArguments')
