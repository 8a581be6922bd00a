import { STEP_INTERFACES, pythonRepr, type ArgsInfo, type JsonObject, type NodeRecord } from '../../wire/index.js'
import { outOfBandSteps, type OutOfBandStep } from './driver-steps.js'
import type { CachedStep, CachedSteps } from './effects.js'
import type { Policy } from './policy.js'

/** A step as it is planned: a driver's or the agent's own, or the user's, verbatim. */
export type PlannedStep = JsonObject

type KnownStep = (CachedStep | OutOfBandStep) & { argsinfo?: ArgsInfo | null }

/** Names that Ironic keeps for itself. Its validation drops them from the list without a word, as recorded. */
const RESERVED = ['power_on', 'power_off', 'reboot', 'hold', 'wait']

/** Everything the node can do: out of band, and in band as cached. The former hides the latter of the same name. */
export function knownSteps(node: Readonly<NodeRecord>, kind: 'deploy' | 'clean', policy: Policy): KnownStep[] {
  const outOfBand = outOfBandSteps(node, kind)
  const cached = (node.driver_internal_info[`agent_cached_${kind}_steps`] ?? {}) as CachedSteps
  const inBand = Object.values(cached)
    .flat()
    .filter((step) => !outOfBand.some((own) => same(own, step)))
  return [...outOfBand, ...inBand.map((step) => (kind === 'clean' ? withPriority(step, policy) : step))]
}

/** The operator's priorities of erasing go before the agent's (facts/ironic.md 6.3). */
function withPriority(step: CachedStep, policy: Policy): CachedStep {
  if (step.interface !== 'deploy') return step
  const overrides: Record<string, number | null> = {
    erase_devices: policy.eraseDevicesPriority,
    erase_devices_metadata: policy.eraseDevicesMetadataPriority,
  }
  const priority = overrides[step.step] ?? null
  return priority === null ? step : { ...step, priority }
}

const same = (a: { interface: unknown; step: unknown }, b: { interface: unknown; step: unknown }): boolean =>
  a.interface === b.interface && a.step === b.step

/** Highest priority first, then in the order of the interfaces (facts/ironic.md 6.3). */
function inOrder<T extends JsonObject>(steps: readonly T[]): T[] {
  const rank = (step: T): number => STEP_INTERFACES.indexOf(step.interface as (typeof STEP_INTERFACES)[number])
  return [...steps].sort((a, b) => Number(b.priority) - Number(a.priority) || rank(a) - rank(b))
}

/** The steps of automated cleaning: all that have a priority. */
export function automatedCleanSteps(node: Readonly<NodeRecord>, policy: Policy): PlannedStep[] {
  const steps = knownSteps(node, 'clean', policy).filter((step) => step.priority > 0)
  return inOrder<JsonObject>(steps.map((step) => ({ ...step })))
}

/**
 * The steps of a deployment: the driver's and the agent's with a priority; a user's step takes the place of one of the
 * same name, with its own arguments, and priority 0 takes it out. So an agent that offers `install_coreos` at priority 0
 * never runs it unasked (facts/ironic.md 6.5).
 */
export function deploySteps(node: Readonly<NodeRecord>, user: readonly PlannedStep[], policy: Policy): PlannedStep[] {
  const known = knownSteps(node, 'deploy', policy)
  const ours = known.filter((step) => step.priority > 0 && !user.some((wanted) => sameAsUser(wanted, step)))
  const theirs = user.filter((wanted) => Number(wanted.priority) > 0 && known.some((step) => sameAsUser(wanted, step)))
  return inOrder<JsonObject>([...ours.map((step) => ({ ...step })), ...theirs])
}

const sameAsUser = (user: PlannedStep, step: KnownStep): boolean =>
  user.interface === step.interface && user.step === step.step

export interface Checked {
  errors: string[]
  /** The user's steps without the reserved ones; clean steps with what the node says of them. */
  steps: PlannedStep[]
}

/**
 * Holds the user's steps against what the node can do.
 *
 * @param skipMissing before the agent was asked, a step that is not known may still turn up
 */
export function checkUserSteps(
  node: Readonly<NodeRecord>,
  kind: 'deploy' | 'clean',
  user: readonly PlannedStep[],
  { policy, skipMissing }: { policy: Policy; skipMissing: boolean },
): Checked {
  const known = knownSteps(node, kind, policy)
  const errors: string[] = []
  const steps: PlannedStep[] = []
  for (const wanted of user) {
    if (RESERVED.includes(String(wanted.step))) continue
    const step = known.find((candidate) => sameAsUser(wanted, candidate))
    if (!step) {
      if (!skipMissing) errors.push(`node does not support this ${kind} step: ${pythonRepr(wanted)}`)
      steps.push(wanted)
      continue
    }
    errors.push(...argumentErrors(kind, wanted, step.argsinfo ?? {}))
    if (kind === 'deploy' && step.interface === 'deploy' && step.step === 'deploy' && Number(wanted.priority) !== 0)
      errors.push(`deploy step ${pythonRepr(wanted)} is a core step; it can only be disabled, with priority 0`)
    steps.push(kind === 'deploy' ? wanted : described(wanted, step))
  }
  if (kind === 'deploy') errors.push(...duplicates(steps))
  return { errors, steps }
}

/** A manual clean step as it is kept and sent: the user's, with what its owner says about aborting and priority. */
function described(wanted: PlannedStep, step: KnownStep): PlannedStep {
  return { ...wanted, abortable: step.abortable ?? false, priority: step.priority }
}

function argumentErrors(kind: string, wanted: PlannedStep, argsinfo: ArgsInfo): string[] {
  const given = Object.keys((wanted.args ?? {}) as JsonObject)
  const unexpected = given.filter((name) => !(name in argsinfo))
  const missing = Object.entries(argsinfo).filter(([name, info]) => info.required && !given.includes(name))
  const errors: string[] = []
  if (unexpected.length > 0)
    errors.push(`${kind} step ${pythonRepr(wanted)} has these unexpected arguments: ${unexpected.join(', ')}`)
  if (missing.length > 0) {
    const names = missing.map(([name, info]) => (info.description ? `${name} (${info.description})` : name))
    errors.push(`${kind} step ${pythonRepr(wanted)} is missing these required arguments: ${names.join(', ')}`)
  }
  return errors
}

function duplicates(steps: readonly PlannedStep[]): string[] {
  const names = steps.map((step) => `${String(step.interface)}.${String(step.step)}`)
  const twice = steps.filter((_, index) => names.indexOf(names[index]!) < index)
  return twice.map((step) => `deploy step ${pythonRepr(step)} is asked for more than once`)
}
