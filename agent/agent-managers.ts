import { defined, isObject } from '../base/runtime/index.js'
import { StepError, type HardwareManager, type ManagerStart, type Step } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import {
  agentErrors,
  type AdvertisedStep,
  type InventoryInterface,
  type JsonObject,
  type ManagerVersions,
  type StepKind,
} from '../base/wire/index.js'
import { type CommandContext } from './extensions/extension.js'

/** Error of a manager that does not handle this hardware after all; the next one is tried. */
const INCOMPATIBLE = 'IncompatibleHardwareMethodError'

/**
 * Hardware managers that support a target, most specific first (ironic-python-agent 13.0.0 hardware.py
 * get_managers_detail). They are asked once, as in IPA, which caches the answer for the life of its process.
 */
export class Managers {
  readonly #supporting: readonly { manager: HardwareManager; support: number }[]

  private constructor(supporting: readonly { manager: HardwareManager; support: number }[]) {
    this.#supporting = supporting
  }

  static async probe(managers: readonly HardwareManager[], target: Target, start?: ManagerStart): Promise<Managers> {
    const asked = await Promise.all(
      managers.map(async (manager) => ({ manager, support: await manager.support(target, start) })),
    )
    return new Managers(asked.filter(({ support }) => support > 0).sort((a, b) => b.support - a.support))
  }

  /** `hardware_manager_version`: keyed by the manager's own name, where steps are keyed by its class name. */
  versions(): ManagerVersions {
    return Object.fromEntries(this.#supporting.map(({ manager }) => [manager.name, manager.version]))
  }

  list(): { name: string; version: string }[] {
    return this.#supporting.map(({ manager: { name, version } }) => ({ name, version }))
  }

  /** NICs that no manager hides. */
  visibleInterfaces(nics: readonly InventoryInterface[]): InventoryInterface[] {
    return nics.filter((nic) => this.#supporting.every(({ manager }) => manager.keepsInterface?.(nic) ?? true))
  }

  /**
   * Answer of `get_*_steps`, by class name. A step's name belongs to one manager: the one with the highest support,
   * then the one with the highest priority of the step, then the first by class name.
   */
  advertise(kind: StepKind): Record<string, AdvertisedStep[]> {
    const winners = new Map<string, { className: string; support: number; step: AdvertisedStep }>()
    for (const { manager, support } of this.#supporting)
      for (const step of manager.steps.filter((candidate) => candidate.on.includes(kind))) {
        const offer = { className: manager.className, support, step: step.advertise(kind) }
        const best = winners.get(step.name)
        if (!best || beats(offer, best)) winners.set(step.name, offer)
      }
    const byClass: Record<string, AdvertisedStep[]> = {}
    for (const { manager } of this.#supporting) {
      const won = manager.steps.flatMap((step) => {
        const winner = winners.get(step.name)
        return winner?.className === manager.className && step.on.includes(kind) ? [winner.step] : []
      })
      if (won.length > 0) byClass[manager.className] = won
    }
    return byClass
  }

  /**
   * Runs the step `name` of the first manager that handles it. As in IPA only the name counts, neither the interface
   * nor the kind of work.
   *
   * @throws AgentError HardwareManagerMethodNotFound when none has it
   */
  async dispatch(name: string, run: (step: Step) => Promise<unknown>): Promise<unknown> {
    for (const { manager } of this.#supporting) {
      const step = manager.steps.find((candidate) => candidate.name === name)
      if (!step) continue
      try {
        return await run(step)
      } catch (error) {
        if (!(error instanceof StepError && error.type === INCOMPATIBLE)) throw error
      }
    }
    throw agentErrors.noSuchStep(name)
  }
}

interface StepOffer {
  className: string
  support: number
  step: AdvertisedStep
}

function beats(a: StepOffer, b: StepOffer): boolean {
  if (a.support !== b.support) return a.support > b.support
  if (a.step.priority !== b.step.priority) return a.step.priority > b.step.priority
  return a.className < b.className
}

/** Runs a step of the managers by its name, for commands and steps alike. */
export function managerStep(
  name: string,
  args: unknown,
  { node, ports }: { node: JsonObject; ports: readonly JsonObject[] },
  command: CommandContext,
): Promise<unknown> {
  const { managers, target, environment, progress, logger, clock, signal, images } = command
  const { downloads, nodeAgain, refusesContainers } = command
  const context = {
    target,
    environment,
    progress,
    logger,
    clock,
    signal,
    images,
    refusesContainers,
    ...defined({ downloads, nodeAgain }),
    node,
    ports,
  }
  return managers.dispatch(name, (step: Step): Promise<unknown> => {
    if (args !== undefined && args !== null && !isObject(args)) throw new TypeError('args is not an object')
    return step.run(context, args ?? {})
  })
}
