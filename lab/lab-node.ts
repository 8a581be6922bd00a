import type { Machine } from '../machine/index.js'
import { UserError, defined } from '../base/runtime/index.js'
import { ironicErrors, type ApiNode, type NodeRecord, type ProvisionState } from '../base/wire/index.js'
import { isAtRest } from './at-rest.js'
import { findNodeMachine } from './bmcs/bmcs.js'
import type { DeployRequest, Lab, LabNode } from './lab.js'
import type { Stage } from './stage/stage.js'

/** The parts of a stage that its nodes use. */
export type StageOfNodes = Pick<Stage, 'client' | 'store' | 'machines' | 'events' | 'entering' | 'deploymentOf'>

/** A node of a lab, see {@link LabNode}, with the complete {@link Machine}. */
export class StagedNode implements LabNode {
  readonly uuid: string
  readonly #stage: StageOfNodes
  readonly #wait: Lab['wait']
  readonly #deployment: DeployRequest | undefined

  /** @param deployment default: the one that the node was enrolled with */
  constructor(stage: StageOfNodes, uuid: string, wait: Lab['wait'], deployment?: DeployRequest) {
    this.#deployment = deployment
    this.#stage = stage
    this.uuid = uuid
    this.#wait = wait
  }

  get(): Promise<ApiNode> {
    return this.#stage.client.node(this.uuid)
  }

  async machine(): Promise<Machine | undefined> {
    const found = await this.#stage.store.node(this.uuid)
    const machine = found && findNodeMachine(found.node, this.#stage.machines)
    return machine && this.#stage.entering(machine)
  }

  provision(target: string, more: Parameters<Stage['client']['provision']>[2] = {}): Promise<void> {
    return this.#stage.client.provision(this.uuid, target, more)
  }

  async makeAvailable(): Promise<void> {
    for (;;) {
      const { provision_state: state, inspection_finished_at: inspected } = await this.settled()
      if (state === 'available') return
      if (state === 'enroll') await this.#through('manage', 'manageable')
      else if (state === 'manageable' && inspected === null) await this.#through('inspect', 'manageable')
      else if (state === 'manageable') await this.#through('provide', 'available')
      else throw new UserError('not-deployable', `node ${this.uuid} is ${state}, which does not lead to available`)
    }
  }

  async deploy(): Promise<void> {
    await this.makeAvailable()
    const { deploySteps, configdrive } = this.#deployment ?? this.#stage.deploymentOf(this.uuid)
    await this.provision('active', defined({ deploy_steps: deploySteps, configdrive }))
  }

  settled(): Promise<ApiNode> {
    return this.until((node) => isAtRest(node))
  }

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
        } else if (event.kind === 'restored') {
          // The node is another one now, or none.
          listening[Symbol.dispose]()
          this.#holds(condition).then(resolve, reject)
        } else if (event.kind === 'node' && condition(event.node)) {
          listening[Symbol.dispose]()
          resolve()
        }
      })
    })
  }
}
