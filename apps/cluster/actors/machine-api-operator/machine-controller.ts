import { defined, seconds } from '../../../../base/runtime/index.js'
import type {
  KubeNode,
  KubeMachine,
  BareMetalHost,
  ObjectName,
  ActorParts,
  ReconcileResult,
  ResourceController,
  WatchedKind,
} from '../../../../base/kubernetes/index.js'
import { cloudOf } from './cloud-machines.js'
import { drainForDeletion } from './drain-for-deletion.js'
import { CHOOSES_FREE_HOSTS, DRAINS_BEFORE_DELETION, RELEASES_EMPTY_HOSTS } from './machine-api-behaviours.js'
import {
  claimHost,
  clearHost,
  machineHostOf,
  isConsumedBy,
  isEmptied,
  isFree,
  matchesSelector,
  providerIdOf,
  providerSpecOf,
  releaseHost,
} from './machine-hosts.js'
import {
  HOST_ANNOTATION,
  INSTANCE_STATE,
  MACHINE_ANNOTATION,
  MACHINE_FINALIZER,
  MACHINE_API_OPERATOR,
} from './machine-api-names.js'

/** `requeueAfter` of the actuator. */
const REQUEUE_DELAY = seconds(30)
const PROVISIONED = ['provisioned', 'externally provisioned', 'unmanaged']

/**
 * Makes a machine of a host, and empties the host of a deleted machine: the machine controller of machine-api-operator
 * 9511961 (pkg/controller/machine) with the actuator of cluster-api-provider-baremetal f2b0db1.
 */
export class MachineController implements ResourceController {
  readonly name = `${MACHINE_API_OPERATOR}: machines`
  readonly watches: readonly WatchedKind[] = [
    { kind: 'Machine' },
    { kind: 'BareMetalHost', keysOf: () => this.#allMachines() },
    { kind: 'Node', keysOf: () => this.#allMachines() },
  ]
  readonly #parts: ActorParts

  constructor(parts: ActorParts) {
    this.#parts = parts
  }

  async reconcile(at: ObjectName): Promise<ReconcileResult> {
    const { kube } = this.#parts
    const machine = await kube.find('Machine', at)
    if (!machine || (await cloudOf(kube)) !== undefined) return
    if (machine.metadata.deletionTimestamp !== undefined) return this.#remove(machine)
    if (!machine.metadata.finalizers?.includes(MACHINE_FINALIZER)) {
      const finalizers = [...(machine.metadata.finalizers ?? []), MACHINE_FINALIZER]
      await kube.patch('Machine', at, { metadata: { finalizers } })
      return
    }
    const host = await this.#hostFor(machine)
    if (!host) {
      await this.#setPhase(machine, 'Provisioning')
      return { again: REQUEUE_DELAY }
    }
    const annotated = await this.#annotate(machine, host)
    if (!PROVISIONED.includes(host.status?.provisioning.state ?? '')) {
      await this.#setPhase(annotated, annotated.status?.phase ?? 'Provisioning')
      return
    }
    await this.#linkNode(annotated, host)
  }

  async #allMachines(): Promise<ObjectName[]> {
    const { items } = await this.#parts.kube.list('Machine')
    return items.map(({ metadata: { name, namespace = '' } }) => ({ name, namespace }))
  }

  /** The host of a machine: its current host, or else a free one, which this claims. */
  async #hostFor(machine: KubeMachine): Promise<BareMetalHost | undefined> {
    const { kube, behaviours } = this.#parts
    const { namespace = '' } = machine.metadata
    const named = machineHostOf(machine)
    if (named) {
      const host = await kube.find('BareMetalHost', named)
      const isSame = host && (named.uid === undefined || host.metadata.uid === named.uid)
      if (isSame && isConsumedBy(host, machine)) return host
      // Two machines would take it from each other for ever.
      if (!behaviours.has(CHOOSES_FREE_HOSTS)) return undefined
    }
    const { items } = await kube.list('BareMetalHost', { namespace })
    return items.find((host) => isConsumedBy(host, machine)) ?? this.#claimFree(machine, items)
  }

  /** Claims one of the free hosts that the machine's selector matches. */
  async #claimFree(machine: KubeMachine, hosts: readonly BareMetalHost[]): Promise<BareMetalHost | undefined> {
    const { kube, random, behaviours, announce } = this.#parts
    const fitting = hosts.filter((host) => matchesSelector(host, providerSpecOf(machine)))
    const free = behaviours.has(CHOOSES_FREE_HOSTS) ? fitting.filter(isFree) : fitting
    if (free.length === 0) {
      if (machine.status?.phase === undefined)
        announce({
          actor: MACHINE_API_OPERATOR,
          does: `delays ${machine.metadata.name}`,
          because: 'no available BareMetalHost was found',
        })
      return undefined
    }
    const chosen = free[Math.floor(random.next() * free.length)]!
    announce({
      actor: MACHINE_API_OPERATOR,
      does: `claims host ${chosen.metadata.name} for ${machine.metadata.name}`,
      because: free.length === 1 ? 'it is the only free host' : `it is one of ${free.length} free hosts`,
    })
    return kube.update<'BareMetalHost'>(claimHost(chosen, machine))
  }

  async #annotate(machine: KubeMachine, host: BareMetalHost): Promise<KubeMachine> {
    const { kube } = this.#parts
    const { name, namespace } = host.metadata
    const annotations = {
      [HOST_ANNOTATION]: `${namespace}/${name}`,
      [INSTANCE_STATE]: host.status?.provisioning.state ?? '',
    }
    const known = machine.metadata.annotations ?? {}
    if (Object.entries(annotations).every(([key, value]) => known[key] === value)) return machine
    return kube.patch('Machine', machine.metadata, { metadata: { annotations } })
  }

  /** Makes machine and node name the host, and each other. */
  async #linkNode(machine: KubeMachine, host: BareMetalHost): Promise<void> {
    const { kube } = this.#parts
    const providerID = providerIdOf(host)
    const named =
      machine.spec.providerID === undefined
        ? await kube.patch('Machine', machine.metadata, { spec: { providerID } })
        : machine
    const node = await this.#nodeOf(named, host)
    if (!node) return this.#setPhase(named, 'Provisioned')
    const { name, namespace = '' } = named.metadata
    const annotations = { [MACHINE_ANNOTATION]: `${namespace}/${name}` }
    if (
      node.spec?.providerID !== providerID ||
      node.metadata.annotations?.[MACHINE_ANNOTATION] !== annotations[MACHINE_ANNOTATION]
    )
      await kube.patch('Node', node.metadata, { metadata: { annotations }, spec: { providerID } })
    await this.#setPhase(named, 'Running', node.metadata.name)
  }

  /**
   * The node of a machine: by its provider's id, or by the name of its host or of the host's hardware, as its addresses have
   * it in a real cluster.
   */
  async #nodeOf(machine: KubeMachine, claimed?: BareMetalHost): Promise<KubeNode | undefined> {
    const { kube } = this.#parts
    const { providerID } = machine.spec
    const nodes = (await kube.list('Node')).items
    const linked = nodes.find(({ spec }) => providerID !== undefined && spec?.providerID === providerID)
    if (linked) return linked
    const hardware = claimed?.status?.hardware as { hostname?: string } | undefined
    const names = [machineHostOf(machine)?.name, hardware?.hostname?.toLowerCase()]
    return nodes.find(({ metadata, spec }) => names.includes(metadata.name) && spec?.providerID === undefined)
  }

  async #setPhase(
    machine: KubeMachine,
    phase: NonNullable<NonNullable<KubeMachine['status']>['phase']>,
    node?: string,
  ): Promise<void> {
    const { kube, announce } = this.#parts
    const { status } = machine
    const nodeRef = node === undefined ? status?.nodeRef : { name: node }
    if (status?.phase === phase && status.nodeRef?.name === nodeRef?.name) return
    await kube.updateStatus<'Machine'>({ ...machine, status: { phase, ...defined({ nodeRef }) } })
    if (phase === 'Running' && status?.phase !== 'Running')
      announce({
        actor: MACHINE_API_OPERATOR,
        does: `counts ${machine.metadata.name} as running`,
        because: `it is node ${node}`,
      })
  }

  /** Drains the node, empties the host, deletes the node, and lets the machine go, in this order. */
  async #remove(machine: KubeMachine): Promise<ReconcileResult> {
    const { kube, behaviours } = this.#parts
    if (!machine.metadata.finalizers?.includes(MACHINE_FINALIZER)) return
    await this.#setPhase(machine, 'Deleting')
    const node = await this.#nodeOf(machine)
    if (node && behaviours.has(DRAINS_BEFORE_DELETION)) await drainForDeletion(machine, node, this.#parts)
    if (behaviours.has(RELEASES_EMPTY_HOSTS)) {
      const isEmpty = await this.#emptyHost(machine)
      if (!isEmpty) return { again: REQUEUE_DELAY }
    }
    if (node) await kube.delete('Node', node.metadata)
    const current = await kube.find('Machine', machine.metadata)
    const finalizers = current?.metadata.finalizers?.filter((one) => one !== MACHINE_FINALIZER)
    if (finalizers) await kube.patch('Machine', machine.metadata, { metadata: { finalizers } })
  }

  /** @returns whether the host has let the machine go */
  async #emptyHost(machine: KubeMachine): Promise<boolean> {
    const { kube, announce } = this.#parts
    const named = machineHostOf(machine)
    const { items } = await kube.list('BareMetalHost', { namespace: machine.metadata.namespace ?? '' })
    const host = named ? await kube.find('BareMetalHost', named) : items.find((one) => isConsumedBy(one, machine))
    if (!host || !isConsumedBy(host, machine)) return true
    if (!isEmptied(host)) {
      const { name } = host.metadata
      announce({
        actor: MACHINE_API_OPERATOR,
        does: `deprovisions host ${name}`,
        because: `${machine.metadata.name} is deleted`,
      })
      await kube.update<'BareMetalHost'>(clearHost(host))
      return false
    }
    const { state = '' } = host.status?.provisioning ?? {}
    if (['provisioning', 'provisioned', 'deprovisioning'].includes(state)) return false
    if (state === 'externally provisioned' && host.status?.poweredOn) return false
    await kube.update<'BareMetalHost'>(releaseHost(host))
    return true
  }
}
