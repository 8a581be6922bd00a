import { STABLE_STATES } from '../ironic-mock/index.js'
import type { Machine } from '../machine/index.js'
import { UserError } from '../runtime/index.js'
import { ironicErrors, type ApiNode, type NodeRecord, type ProvisionState, type RequestedStep } from '../wire/index.js'
import { machineOf } from './bmcs/bmcs.js'
import type { Stage } from './stage/stage.js'

/** Waits for something in lab time: an automatic clock jumps meanwhile, any other is left alone. */
export type Wait = <T>(awaited: Promise<T>) => Promise<T>

/** What {@link LabNode.deploy} asks for. */
export interface Deployment {
  deploySteps?: readonly RequestedStep[]
  configdrive?: unknown
}

/** A node of a lab, as a scenario talks about it. */
export class LabNode {
  readonly uuid: string
  readonly #stage: Stage
  readonly #wait: Wait
  readonly #deployment: Deployment

  constructor(stage: Stage, uuid: string, wait: Wait, deployment: Deployment) {
    this.#stage = stage
    this.uuid = uuid
    this.#wait = wait
    this.#deployment = deployment
  }

  /** The node as the API shows it. */
  get(): Promise<ApiNode> {
    return this.#stage.client.node(this.uuid)
  }

  /** The machine behind it; undefined before its first power-on when nobody had configured it. */
  async machine(): Promise<Machine | undefined> {
    const found = await this.#stage.store.node(this.uuid)
    return found && machineOf(found.node, this.#stage.machines)
  }

  /** Asks for a verb; resolves once Ironic has accepted it. */
  provision(target: string, more: Parameters<Stage['client']['provision']>[2] = {}): Promise<void> {
    return this.#stage.client.provision(this.uuid, target, more)
  }

  /** Takes the node to `manageable`, inspects it, cleans it: to `available`, from wherever on that way it is. */
  async makeAvailable(): Promise<void> {
    for (;;) {
      const { provision_state: state, inspection_finished_at: inspected } = await this.settled()
      if (state === 'available') return
      if (state === 'enroll') await this.#through('manage', 'manageable')
      else if (state === 'manageable' && inspected === null) await this.#through('inspect', 'manageable')
      else if (state === 'manageable') await this.#through('provide', 'available')
      else
        throw new UserError('not-deployable', `node ${this.uuid} is ${state}: there is no way from there to available`)
    }
  }

  /** Asks for the deployment that the node was enrolled for, making it available first. */
  async deploy(): Promise<void> {
    await this.makeAvailable()
    const { deploySteps, configdrive } = this.#deployment
    await this.provision('active', {
      ...(deploySteps ? { deploy_steps: deploySteps } : {}),
      ...(configdrive === undefined ? {} : { configdrive }),
    })
  }

  /** The node once nothing goes on with it any more: in a stable or a failed state, nobody working on it. */
  settled(): Promise<ApiNode> {
    return this.until((node) => isAtRest(node))
  }

  /** The node once `condition` holds, looked at after every commit. */
  async until(condition: (node: Readonly<NodeRecord>) => boolean): Promise<ApiNode> {
    await this.#wait(this.#holds(condition))
    return this.get()
  }

  async #through(verb: string, state: ProvisionState): Promise<void> {
    await this.provision(verb)
    const node = await this.settled()
    if (node.provision_state !== state)
      throw new UserError(
        'unexpected-state',
        `${verb} led to ${node.provision_state}: ${node.last_error ?? 'no error'}`,
      )
  }

  async #holds(condition: (node: Readonly<NodeRecord>) => boolean): Promise<void> {
    const { store, events } = this.#stage
    const found = await store.node(this.uuid)
    if (!found) throw ironicErrors.nodeNotFound(this.uuid)
    if (condition(found.node)) return
    await new Promise<void>((resolve, reject) => {
      const listening = events.listenTo(this.uuid, (event) => {
        if (event.kind === 'node-gone') {
          listening[Symbol.dispose]()
          reject(ironicErrors.nodeNotFound(this.uuid))
        } else if (event.kind === 'node' && condition(event.node)) {
          listening[Symbol.dispose]()
          resolve()
        }
      })
    })
  }
}

const AT_REST: ReadonlySet<ProvisionState> = new Set(STABLE_STATES)

function isAtRest({ provision_state: state, reservation, target_power_state: power }: Readonly<NodeRecord>): boolean {
  return reservation === null && power === null && (AT_REST.has(state) || state.endsWith(' failed'))
}
