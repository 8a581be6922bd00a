import type { AdvertisedStep, StepKind } from '../wire/index.js'
import type { Target } from './executors/executor.js'
import { StepError, type HardwareManager, type Step } from './sdk.js'

/** A manager that supports the target, with how well it does. */
export interface ActiveManager {
  readonly manager: HardwareManager
  readonly support: number
}

/** The managers that support a target, the most specific first; equal ones keep their order. */
export async function activeManagers(managers: readonly HardwareManager[], target: Target): Promise<ActiveManager[]> {
  const active = await Promise.all(
    managers.map(async (manager) => ({ manager, support: await manager.support(target) })),
  )
  return active.filter(({ support }) => support > 0).sort((a, b) => b.support - a.support)
}

/**
 * What `get_*_steps` answers: the steps of each manager by its class name. Of several steps of one name only one is
 * left: that of the highest support, then of the highest priority, then of the first class name by the alphabet, even
 * when a loser's priority was higher (facts/ironic-python-agent.md 3). Managers left without steps are left out.
 */
export function advertisedSteps(active: readonly ActiveManager[], kind: StepKind): Record<string, AdvertisedStep[]> {
  const offers = active.flatMap(({ manager, support }) =>
    manager.steps
      .filter((step) => step.on.includes(kind))
      .map((step) => ({ className: manager.className, support, step: step.advertise(kind) })),
  )
  const winners = new Map<string, (typeof offers)[number]>()
  for (const offer of offers) {
    const best = winners.get(offer.step.step)
    if (!best || before(offer, best)) winners.set(offer.step.step, offer)
  }
  const steps: Record<string, AdvertisedStep[]> = {}
  for (const offer of offers)
    if (winners.get(offer.step.step) === offer) (steps[offer.className] ??= []).push(offer.step)
  return steps
}

interface Offer {
  className: string
  support: number
  step: AdvertisedStep
}

const before = (a: Offer, b: Offer): boolean =>
  (b.support - a.support || b.step.priority - a.step.priority || (a.className < b.className ? -1 : 1)) < 0

/** `hardware_manager_version`: every supporting manager's version by its name, steps or not. */
export const managerVersions = (active: readonly ActiveManager[]): Record<string, string> =>
  Object.fromEntries(active.map(({ manager }) => [manager.name, manager.version]))

/**
 * The step that runs when Ironic asks for a name: that of the most specific manager which has it for this kind of work.
 * As upstream the step's interface plays no part; unlike there, a method that is no step cannot be called.
 *
 * @throws StepError of type HardwareManagerMethodNotFound
 */
export function findStep(active: readonly ActiveManager[], kind: StepKind, name: string): Step {
  const winner = Object.entries(advertisedSteps(active, kind)).find(([, steps]) =>
    steps.some((step) => step.step === name),
  )?.[0]
  const manager = active.find((candidate) => candidate.manager.className === winner)?.manager
  const step = manager?.steps.find((candidate) => candidate.name === name && candidate.on.includes(kind))
  if (!step) throw new StepError(`Could not find method: ${name}`, { type: 'HardwareManagerMethodNotFound' })
  return step
}
