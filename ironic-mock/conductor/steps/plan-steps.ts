import {
  pythonRepr,
  STEP_INTERFACES,
  formatClientValue,
  type ArgsInfo,
  type JsonObject,
  type NodeRecord,
  type StepKind,
} from '../../../base/wire/index.js'
import { outOfBandSteps } from './driver-steps.js'
import type { OutOfBandStep } from './out-of-band-step.js'
import type { CachedStep, CachedSteps } from '../core/effects.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import { isReserved } from './reserved-steps.js'

/** A planned step: of a driver, of the agent, or the user's, verbatim. */
export type PlannedStep = JsonObject

type KnownStep = (CachedStep | OutOfBandStep) & { argsinfo?: ArgsInfo | null }

/** All steps of the node: out-of-band ones and cached in-band ones. The former hide the latter of the same name. */
function knownSteps(node: Readonly<NodeRecord>, kind: StepKind, conf: ConductorConf): KnownStep[] {
  const outOfBand = outOfBandSteps(node, kind)
  const cached = (node.driver_internal_info[`agent_cached_${kind}_steps`] ?? {}) as CachedSteps
  const inBand = Object.values(cached)
    .flat()
    .filter(
      (step) => !outOfBand.some((own) => isSamePlannedStep(own, step)) && (kind !== 'clean' || offered(node, step)),
    )
  const known: KnownStep[] = [...outOfBand, ...inBand]
  return kind === 'clean' ? known.map((step) => withPriority(step, conf)) : known
}

/** True for steps of the agent that count: those of the deploy interface, and of the RAID interface `agent`. */
const offered = (node: Readonly<NodeRecord>, step: CachedStep): boolean =>
  step.interface === 'deploy' || (step.interface === 'raid' && node.raid_interface === 'agent')

/** The operator's priorities go before those of driver and agent. */
function withPriority<T extends KnownStep>(step: T, conf: ConductorConf): T {
  const named: Record<string, number | null> = {
    'deploy.erase_devices': conf.eraseDevicesPriority,
    'deploy.erase_devices_metadata': conf.eraseDevicesMetadataPriority,
    'raid.delete_configuration': conf.deleteConfigurationPriority,
    'raid.create_configuration': conf.createConfigurationPriority,
  }
  const name = `${step.interface}.${step.step}`
  const priority = conf.cleanStepPriorityOverride[name] ?? named[name] ?? null
  return priority === null ? step : { ...step, priority }
}

const isSamePlannedStep = (
  a: { interface: unknown; step: unknown },
  b: { interface: unknown; step: unknown },
): boolean => a.interface === b.interface && a.step === b.step

/** Highest priority first, then by interface (ironic conductor/steps.py _sorted_steps). */
function sortSteps<T extends JsonObject>(steps: readonly T[]): T[] {
  const rank = (step: T): number => STEP_INTERFACES.indexOf(step.interface as (typeof STEP_INTERFACES)[number])
  return [...steps].sort((a, b) => Number(b.priority) - Number(a.priority) || rank(a) - rank(b))
}

/** The steps of automated cleaning: all that have a priority. */
export function automatedCleanSteps(node: Readonly<NodeRecord>, conf: ConductorConf): PlannedStep[] {
  const steps = knownSteps(node, 'clean', conf).filter((step) => step.priority > 0)
  return sortSteps<JsonObject>(steps.map((step) => ({ ...step })))
}

/**
 * The steps of a deployment: the driver's and the agent's with a priority; a user's step takes the place of one of the
 * same name, with its own arguments, and priority 0 takes it out. So an agent that offers `install_coreos` at priority 0
 * never runs it unasked (Ironic's source).
 */
export function deploySteps(
  node: Readonly<NodeRecord>,
  user: readonly PlannedStep[],
  conf: ConductorConf,
): PlannedStep[] {
  const known = knownSteps(node, 'deploy', conf)
  const ours = known.filter((step) => step.priority > 0 && !user.some((wanted) => sameAsUser(wanted, step)))
  const runs = (wanted: PlannedStep): boolean =>
    isReserved(wanted) ? !conf.dropReservedSteps : known.some((step) => sameAsUser(wanted, step))
  const theirs = user.filter((wanted) => Number(wanted.priority) > 0 && runs(wanted))
  // Forbidden steps of templates are dropped without an error.
  const allowed = (step: PlannedStep): boolean =>
    !conf.disallowDeploySteps.includes(`${formatClientValue(step.interface)}.${formatClientValue(step.step)}`)
  return sortSteps<JsonObject>([...ours.map((step) => ({ ...step })), ...theirs].filter(allowed))
}

const sameAsUser = (user: PlannedStep, step: KnownStep): boolean =>
  user.interface === step.interface && user.step === step.step

export interface CheckedPlan {
  errors: string[]
  /** The user's steps without the reserved ones; clean steps with `abortable` and priority of their interface. */
  steps: PlannedStep[]
}

interface UserStepOptions {
  conf: ConductorConf
  /** Accepts unknown steps, which may be the agent's as long as it has not listed its own. */
  skipMissing: boolean
  /** Refuses steps that need the ramdisk. */
  disableRamdisk?: boolean
}

/** Checks the user's steps against the steps of the node. */
export function checkUserSteps(
  node: Readonly<NodeRecord>,
  kind: StepKind,
  user: readonly PlannedStep[],
  { conf, skipMissing, disableRamdisk = false }: UserStepOptions,
): CheckedPlan {
  const known = knownSteps(node, kind, conf)
  const errors: string[] = []
  const steps: PlannedStep[] = []
  const found: PlannedStep[] = []
  for (const wanted of user) {
    // Ironic's validation drops these from the list without an error, as recorded.
    if (isReserved(wanted)) {
      if (!conf.dropReservedSteps) steps.push(wanted)
      continue
    }
    const step = known.find((candidate) => sameAsUser(wanted, candidate))
    if (!step) {
      if (!skipMissing) errors.push(`node does not support this ${kind} step: ${pythonRepr(wanted)}`)
      steps.push(wanted)
      continue
    }
    found.push(wanted)
    errors.push(...argumentErrors(kind, wanted, step.argsinfo ?? {}))
    if (disableRamdisk && (step.requires_ramdisk ?? true))
      errors.push(`${kind} step ${pythonRepr(wanted)} requires booting a ramdisk`)
    if (kind === 'deploy' && step.interface === 'deploy' && step.step === 'deploy' && Number(wanted.priority) !== 0)
      errors.push(
        'deploy step deploy on interface deploy is a core step and cannot be overridden by user steps. It may be disabled by setting the priority to 0',
      )
    steps.push(kind === 'deploy' ? wanted : withStepFacts(wanted, step))
  }
  if (kind === 'deploy') errors.push(...duplicates(found))
  return { errors, steps }
}

/** A clean or service step of the user, with `abortable` and priority of its interface. */
function withStepFacts(wanted: PlannedStep, step: KnownStep): PlannedStep {
  return { ...wanted, abortable: step.abortable ?? false, priority: step.priority }
}

function argumentErrors(kind: string, wanted: PlannedStep, argsinfo: ArgsInfo): string[] {
  const passed = Object.keys((wanted.args ?? {}) as JsonObject)
  const unexpected = passed.filter((name) => !(name in argsinfo))
  // A deploy step with priority 0 is only removed and needs no arguments.
  const missing =
    kind === 'deploy' && Number(wanted.priority) === 0
      ? []
      : Object.entries(argsinfo).filter(([name, info]) => info.required && !passed.includes(name))
  const errors: string[] = []
  if (unexpected.length > 0)
    errors.push(`${kind} step ${pythonRepr(wanted)} has these unexpected arguments: ${unexpected.join(', ')}`)
  if (missing.length > 0) {
    const shown = missing.map(([name, info]) => (info.description ? `${name} (${info.description})` : name))
    errors.push(`${kind} step ${pythonRepr(wanted)} is missing these required arguments: ${shown.join(', ')}`)
  }
  return errors
}

function duplicates(steps: readonly PlannedStep[]): string[] {
  const names = steps.map((step) => `${formatClientValue(step.interface)}.${formatClientValue(step.step)}`)
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) < index))]
  if (twice.length === 0) return []
  return [
    `deploy steps from all deploy templates matching this node's instance traits cannot have the same interface and step. Duplicate deploy steps for ${twice.join(', ')}`,
  ]
}
