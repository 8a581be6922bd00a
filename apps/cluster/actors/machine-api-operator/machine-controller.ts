import { defined, seconds } from '../../../../base/runtime/index.js'
import type { KubeNode } from '../../kube/kinds/core-kinds.js'
import type { KubeMachine } from '../../kube/kinds/machine-kinds.js'
import type { BareMetalHost } from '../../kube/kinds/metal3-kinds.js'
import type { ObjectName } from '../../kube/kube-client.js'
import { runActor, type ActorParts, type Next } from '../actor.js'
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
  EXCLUDE_DRAINING,
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
export function runMachineController(parts: ActorParts): AsyncDisposable {
  const { kube, random, behaviours, announce } = parts

  const reconcile = async (at: ObjectName): Promise<Next> => {
    const machine = await kube.find('Machine', at)
    if (!machine) return
    if (machine.metadata.deletionTimestamp !== undefined) return remove(machine)
    if (!machine.metadata.finalizers?.includes(MACHINE_FINALIZER)) {
      const finalizers = [...(machine.metadata.finalizers ?? []), MACHINE_FINALIZER]
      await kube.patch('Machine', at, { metadata: { finalizers } })
      return
    }
    const host = await hostFor(machine)
    if (!host) {
      await inPhase(machine, 'Provisioning')
      return { again: REQUEUE_DELAY }
    }
    const annotated = await annotate(machine, host)
    if (!PROVISIONED.includes(host.status?.provisioning.state ?? '')) {
      await inPhase(annotated, annotated.status?.phase ?? 'Provisioning')
      return
    }
    await provisioned(annotated, host)
  }

  /** The host of a machine: its current host, or else a free one, which this claims. */
  const hostFor = async (machine: KubeMachine): Promise<BareMetalHost | undefined> => {
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
    const own = items.find((host) => isConsumedBy(host, machine))
    if (own) return own
    const fitting = items.filter((host) => matchesSelector(host, providerSpecOf(machine)))
    const free = behaviours.has(CHOOSES_FREE_HOSTS) ? fitting.filter(isFree) : fitting
    if (free.length === 0) {
      if (machine.status?.phase === undefined)
        announce({
          actor: MACHINE_API_OPERATOR,
          does: `waits with ${machine.metadata.name}`,
          because: 'no available BareMetalHost was found',
        })
      return undefined
    }
    const chosen = free[Math.floor(random.next() * free.length)]!
    announce({
      actor: MACHINE_API_OPERATOR,
      does: `takes host ${chosen.metadata.name} for ${machine.metadata.name}`,
      because: free.length === 1 ? 'it is the only free one' : `it is one of ${free.length} that are free`,
    })
    return kube.update<'BareMetalHost'>(claimHost(chosen, machine))
  }

  const annotate = async (machine: KubeMachine, host: BareMetalHost): Promise<KubeMachine> => {
    const { name, namespace } = host.metadata
    const annotations = {
      [HOST_ANNOTATION]: `${namespace}/${name}`,
      [INSTANCE_STATE]: host.status?.provisioning.state ?? '',
    }
    const known = machine.metadata.annotations ?? {}
    if (Object.entries(annotations).every(([key, value]) => known[key] === value)) return machine
    return kube.patch('Machine', machine.metadata, { metadata: { annotations } })
  }

  const provisioned = async (machine: KubeMachine, host: BareMetalHost): Promise<void> => {
    const providerID = providerIdOf(host)
    const named =
      machine.spec.providerID === undefined
        ? await kube.patch('Machine', machine.metadata, { spec: { providerID } })
        : machine
    const node = await nodeOf(named)
    if (!node) return inPhase(named, 'Provisioned')
    const { name, namespace = '' } = named.metadata
    const annotations = { [MACHINE_ANNOTATION]: `${namespace}/${name}` }
    if (
      node.spec?.providerID !== providerID ||
      node.metadata.annotations?.[MACHINE_ANNOTATION] !== annotations[MACHINE_ANNOTATION]
    )
      await kube.patch('Node', node.metadata, { metadata: { annotations }, spec: { providerID } })
    await inPhase(named, 'Running', node.metadata.name)
  }

  /** The node of a machine: by its provider's id, or by the name of its host, as its addresses have it in a real cluster. */
  const nodeOf = async (machine: KubeMachine): Promise<KubeNode | undefined> => {
    const { providerID } = machine.spec
    const nodes = (await kube.list('Node')).items
    const linked = nodes.find(({ spec }) => providerID !== undefined && spec?.providerID === providerID)
    if (linked) return linked
    const host = machineHostOf(machine)?.name
    return nodes.find(({ metadata, spec }) => metadata.name === host && spec?.providerID === undefined)
  }

  const inPhase = async (
    machine: KubeMachine,
    phase: NonNullable<NonNullable<KubeMachine['status']>['phase']>,
    node?: string,
  ): Promise<void> => {
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
  const remove = async (machine: KubeMachine): Promise<Next> => {
    if (!machine.metadata.finalizers?.includes(MACHINE_FINALIZER)) return
    await inPhase(machine, 'Deleting')
    const node = await nodeOf(machine)
    const isDrained = machine.metadata.annotations?.[EXCLUDE_DRAINING] !== undefined || !node
    if (!isDrained && node.spec?.unschedulable !== true && behaviours.has(DRAINS_BEFORE_DELETION)) {
      announce({
        actor: MACHINE_API_OPERATOR,
        does: `drains ${node.metadata.name}`,
        because: `${machine.metadata.name} is deleted`,
      })
      await kube.patch('Node', node.metadata, { spec: { unschedulable: true } })
    }
    if (behaviours.has(RELEASES_EMPTY_HOSTS)) {
      const isEmpty = await emptyHost(machine)
      if (!isEmpty) return { again: REQUEUE_DELAY }
    }
    if (node) await kube.delete('Node', node.metadata)
    const current = await kube.find('Machine', machine.metadata)
    const finalizers = current?.metadata.finalizers?.filter((one) => one !== MACHINE_FINALIZER)
    if (finalizers) await kube.patch('Machine', machine.metadata, { metadata: { finalizers } })
  }

  /** @returns whether the host has let the machine go */
  const emptyHost = async (machine: KubeMachine): Promise<boolean> => {
    const named = machineHostOf(machine)
    const { items } = await kube.list('BareMetalHost', { namespace: machine.metadata.namespace ?? '' })
    const host = named ? await kube.find('BareMetalHost', named) : items.find((one) => isConsumedBy(one, machine))
    if (!host || !isConsumedBy(host, machine)) return true
    if (!isEmptied(host)) {
      const { name } = host.metadata
      announce({
        actor: MACHINE_API_OPERATOR,
        does: `empties host ${name}`,
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

  const allMachines = async () =>
    (await kube.list('Machine')).items.map(({ metadata: { name, namespace = '' } }) => ({ name, namespace }))
  return runActor(
    {
      name: `${MACHINE_API_OPERATOR}: machines`,
      watches: [
        { kind: 'Machine' },
        { kind: 'BareMetalHost', keysOf: allMachines },
        { kind: 'Node', keysOf: allMachines },
      ],
      reconcile,
    },
    parts,
  )
}
