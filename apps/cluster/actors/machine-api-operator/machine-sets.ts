import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../../base/runtime/index.js'
import {
  apiVersionOf,
  type KubeMachine,
  type MachineSet,
  type ObjectName,
  type ActorParts,
  type ResourceController,
  type WatchedKind,
} from '../../../../base/kubernetes/index.js'
import { REPLACES_MACHINES } from './machine-api-behaviours.js'
import { MACHINE_FINALIZER, MACHINE_API_OPERATOR } from './machine-api-names.js'

/** Marks a machine that is to go first when its set is scaled down (pkg/controller/machineset/delete_policy.go). */
const DELETE_FIRST = 'machine.openshift.io/delete-machine'

/** Keeps as many machines as each machine set asks for (machine-api-operator 9511961 pkg/controller/machineset). */
export class MachineSetController implements ResourceController {
  readonly name = `${MACHINE_API_OPERATOR}: machine sets`
  readonly watches: readonly WatchedKind[] = [
    { kind: 'MachineSet' },
    { kind: 'Machine', keysOf: ({ namespace = '' }) => this.#allSets(namespace) },
  ]
  readonly #parts: ActorParts

  constructor(parts: ActorParts) {
    this.#parts = parts
  }

  async reconcile(at: ObjectName): Promise<void> {
    const { kube, behaviours } = this.#parts
    const set = await kube.find('MachineSet', at)
    if (!set || set.metadata.deletionTimestamp !== undefined) return
    // A selector that is empty selects nothing.
    if (Object.keys(set.spec.selector.matchLabels ?? {}).length === 0) return
    const { items } = await this.#listMachines(set)
    const machines = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    if (behaviours.has(REPLACES_MACHINES)) await this.#syncReplicas(set, machines)
    await this.#updateStatus(set)
  }

  async #allSets(namespace: string): Promise<ObjectName[]> {
    const { items } = await this.#parts.kube.list('MachineSet', { namespace })
    return items.map(({ metadata }) => ({ name: metadata.name, namespace }))
  }

  #listMachines({ metadata, spec }: MachineSet): Promise<{ items: KubeMachine[] }> {
    const { namespace = '' } = metadata
    const labelSelector = Object.entries(spec.selector.matchLabels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join()
    return this.#parts.kube.list('Machine', { namespace, labelSelector })
  }

  /** Creates the machines that are missing, or deletes those that are too many. */
  async #syncReplicas(set: MachineSet, machines: readonly KubeMachine[]): Promise<void> {
    const { kube, announce } = this.#parts
    const { name, namespace = '' } = set.metadata
    const { replicas } = set.spec
    if (machines.length < replicas) {
      announce({
        actor: MACHINE_API_OPERATOR,
        does: `adds ${formatMachineCount(replicas - machines.length)} to ${name}`,
        because: `it wants ${replicas} and has ${machines.length}`,
      })
      for (let count = machines.length; count < replicas; count++) await this.#create(set)
    } else if (machines.length > replicas) {
      const surplus = [...machines].sort(byDeletion).slice(0, machines.length - replicas)
      announce({
        actor: MACHINE_API_OPERATOR,
        does: `removes ${surplus.map(({ metadata }) => metadata.name).join(' and ')}`,
        because: `${name} wants ${replicas} and has ${machines.length}`,
      })
      for (const { metadata } of surplus) await kube.delete('Machine', { name: metadata.name, namespace })
    }
  }

  async #create({ metadata, spec }: MachineSet): Promise<void> {
    const { name, uid, namespace } = metadata
    await this.#parts.kube.create<'Machine'>({
      apiVersion: apiVersionOf('Machine'),
      kind: 'Machine',
      spec: spec.template.spec,
      metadata: {
        name: `${name}-${this.#suffix()}`,
        ...defined({ namespace }),
        labels: { ...spec.template.metadata?.labels, ...spec.selector.matchLabels },
        finalizers: [MACHINE_FINALIZER],
        ownerReferences: [{ apiVersion: apiVersionOf('MachineSet'), kind: 'MachineSet', name, uid, controller: true }],
      },
    })
  }

  /** Five characters, as Kubernetes appends them to a generateName. */
  #suffix(): string {
    const { random } = this.#parts
    return [...random.bytes(5)].map((byte) => 'bcdfghjklmnpqrstvwxz2456789'[byte % 27]!).join('')
  }

  async #updateStatus(set: MachineSet): Promise<void> {
    const { items: machines } = await this.#listMachines(set)
    const running = machines.filter((machine) => machine.status?.phase === 'Running').length
    const status = { replicas: machines.length, readyReplicas: running, availableReplicas: running }
    if (!isDeepStrictEqual(set.status, status)) await this.#parts.kube.updateStatus<'MachineSet'>({ ...set, status })
  }
}

const formatMachineCount = (machines: number): string => (machines === 1 ? 'a machine' : `${machines} machines`)

/** Marked machines first, then those without a node, then the youngest. */
function byDeletion(a: KubeMachine, b: KubeMachine): number {
  const rank = ({ metadata, status }: KubeMachine): number =>
    metadata.annotations?.[DELETE_FIRST] !== undefined ? 0 : status?.nodeRef === undefined ? 1 : 2
  const younger = b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp)
  return rank(a) - rank(b) || younger || a.metadata.name.localeCompare(b.metadata.name)
}
