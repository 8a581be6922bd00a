import {
  type ActorParts,
  type KubeClient,
  type KubeMachine,
  type KubeNode,
  type ObjectName,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../../../base/kubernetes/index.js'
import { defined, seconds } from '../../../../base/runtime/index.js'
import type { CloudInstances } from '../../site/cloud-instances.js'
import { CLOUD_PLATFORMS, CLOUDS, type Cloud } from '../../site/cloud-platforms.js'
import { drainForDeletion } from './drain-for-deletion.js'
import { DRAINS_BEFORE_DELETION } from './machine-api-behaviours.js'
import { MACHINE_ANNOTATION, MACHINE_API_OPERATOR, MACHINE_FINALIZER } from './machine-api-names.js'

/** Pause before a machine that cannot be made is tried again (pkg/controller/machine of machine-api-operator 9511961). */
const RETRY_DELAY = seconds(30)

/** The cloud that a cluster is on; undefined on bare metal. */
export async function cloudOf(kube: KubeClient): Promise<Cloud | undefined> {
  const infrastructure = await kube.find('Infrastructure', { name: 'cluster' })
  return CLOUDS.find((cloud) => cloud === infrastructure?.status?.platformStatus?.type)
}

/**
 * Makes machines of a cloud from the images that their settings name: the machine controller of machine-api-operator 9511961
 * (pkg/controller/machine) with the actuator of a cloud. It does nothing on bare metal.
 */
export class CloudMachineController implements ResourceController {
  readonly name = `${MACHINE_API_OPERATOR}: machines of a cloud`
  readonly watches: readonly WatchedKind[] = [
    { kind: 'Machine' },
    { kind: 'Node', keysOf: () => this.#allMachines() },
    { kind: 'Infrastructure', keysOf: () => this.#allMachines() },
  ]
  readonly #parts: ActorParts
  readonly #instances: CloudInstances

  constructor(parts: ActorParts, instances: CloudInstances) {
    this.#parts = parts
    this.#instances = instances
  }

  async reconcile(at: ObjectName, signal: AbortSignal): Promise<ReconcileResult> {
    const { kube } = this.#parts
    const cloud = await cloudOf(kube)
    const machine = await kube.find('Machine', at)
    if (!machine || !cloud) return
    if (machine.metadata.deletionTimestamp !== undefined) return this.#remove(machine)
    if (!machine.metadata.finalizers?.includes(MACHINE_FINALIZER)) {
      const finalizers = [...(machine.metadata.finalizers ?? []), MACHINE_FINALIZER]
      await kube.patch('Machine', at, { metadata: { finalizers } })
      return
    }
    const { name } = machine.metadata
    if (this.#instances.imageOf(name) === undefined && !(await this.#create(machine, cloud, signal)))
      return { again: RETRY_DELAY }
    const providerID = `${CLOUD_PLATFORMS[cloud].provider}/${name}`
    if (machine.spec.providerID === providerID) return this.#linkNode(machine)
    await kube.patch('Machine', at, { spec: { providerID } })
  }

  async #allMachines(): Promise<ObjectName[]> {
    const { items } = await this.#parts.kube.list('Machine')
    return items.map(({ metadata: { name, namespace = '' } }) => ({ name, namespace }))
  }

  /** @returns whether the cloud has made it */
  async #create(machine: KubeMachine, cloud: Cloud, signal: AbortSignal): Promise<boolean> {
    const { kube, announce } = this.#parts
    const { name, namespace = '' } = machine.metadata
    const value = machine.spec.providerSpec.value ?? {}
    const image = CLOUD_PLATFORMS[cloud].imageIn(value) ?? ''
    const secret = await kube.find('Secret', { name: value.userDataSecret?.name ?? '', namespace })
    const userData = secret?.data?.['userData']
    if (userData === undefined || !this.#instances.has(image)) {
      if (machine.status?.phase === undefined)
        announce({
          actor: MACHINE_API_OPERATOR,
          does: `cannot make ${name}`,
          because: userData === undefined ? 'its user data is not there' : `the cloud has no image ${image}`,
        })
      await this.#setPhase(machine, 'Provisioning')
      return false
    }
    announce({
      actor: MACHINE_API_OPERATOR,
      does: `makes ${name} from ${image}`,
      because: 'its settings name this image',
    })
    await this.#instances.create({ name, image, userData: Buffer.from(userData, 'base64') }, signal)
    await this.#setPhase(machine, 'Provisioned')
    return true
  }

  /** Makes machine and node name each other once the kubelet has registered the node. */
  async #linkNode(machine: KubeMachine): Promise<void> {
    const { kube } = this.#parts
    const node = await this.#nodeOf(machine)
    if (!node) return this.#setPhase(machine, 'Provisioned')
    const { name, namespace = '' } = machine.metadata
    const annotations = { [MACHINE_ANNOTATION]: `${namespace}/${name}` }
    const { providerID = '' } = machine.spec
    if (node.spec?.providerID !== providerID)
      await kube.patch('Node', node.metadata, { metadata: { annotations }, spec: { providerID } })
    await this.#setPhase(machine, 'Running', node.metadata.name)
  }

  #nodeOf({ metadata }: KubeMachine): Promise<KubeNode | undefined> {
    return this.#parts.kube.find('Node', { name: metadata.name })
  }

  async #setPhase(
    machine: KubeMachine,
    phase: NonNullable<NonNullable<KubeMachine['status']>['phase']>,
    node?: string,
  ): Promise<void> {
    const { kube, announce } = this.#parts
    const current = (await kube.find('Machine', machine.metadata)) ?? machine
    const nodeRef = node === undefined ? current.status?.nodeRef : { name: node }
    if (current.status?.phase === phase && current.status.nodeRef?.name === nodeRef?.name) return
    await kube.updateStatus<'Machine'>({ ...current, status: { phase, ...defined({ nodeRef }) } })
    if (phase === 'Running')
      announce({
        actor: MACHINE_API_OPERATOR,
        does: `counts ${machine.metadata.name} as running`,
        because: `it is node ${node}`,
      })
  }

  /** Drains the node, deletes the machine of the cloud and the node, and lets the object go. */
  async #remove(machine: KubeMachine): Promise<void> {
    const { kube, behaviours } = this.#parts
    const { name, finalizers = [] } = machine.metadata
    if (!finalizers.includes(MACHINE_FINALIZER)) return
    const node = await this.#nodeOf(machine)
    if (node && behaviours.has(DRAINS_BEFORE_DELETION)) await drainForDeletion(machine, node, this.#parts)
    if (this.#instances.imageOf(name) !== undefined) await this.#instances.remove(name)
    if (node) await kube.delete('Node', node.metadata)
    const others = finalizers.filter((one) => one !== MACHINE_FINALIZER)
    await kube.patch('Machine', machine.metadata, { metadata: { finalizers: others } })
  }
}
