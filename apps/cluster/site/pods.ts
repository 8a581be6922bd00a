import { defined, seconds } from '../../../base/runtime/index.js'
import {
  type ActorParts,
  runController,
  type ResourceController,
  type WatchedKind,
  withConditions,
  type ObjectName,
  type Deployment,
  type PodContainer,
} from '../../../base/kubernetes/index.js'
import type { PodImage, ContainerPuller } from './site-releases.js'

/** A container as a program runs it. */
export interface RunningContainer extends PodContainer {
  contents: PodImage
}

/** The programs in the containers of a site, by container name. Containers without one do nothing. */
export interface PodPrograms {
  /** Runs to its end before the containers of the pod start. */
  init: Readonly<Record<string, (container: RunningContainer, signal: AbortSignal) => Promise<void>>>
  /** Runs until it is disposed of. */
  main: Readonly<Record<string, (container: RunningContainer, signal: AbortSignal) => Promise<AsyncDisposable>>>
}

export interface PodsParts extends ActorParts {
  registry: ContainerPuller
  programs: PodPrograms
}

interface Pod {
  /** The template that it was made from. */
  template: string
  running: AsyncDisposable[]
}

/** Times in which a container runtime pulls an image and starts a container. */
const IMAGE_PULL_DELAY = seconds(20)
const CONTAINER_START_DELAY = seconds(2)

/** Runs the pods of Deployments, one each: an old one never runs beside the new one. */
export function runPods(parts: PodsParts): AsyncDisposable {
  const pods = new PodController(parts)
  const running = runController(pods, parts)
  return {
    [Symbol.asyncDispose]: async () => {
      pods.close()
      await running[Symbol.asyncDispose]()
      await pods.stopAll()
    },
  }
}

/** Deployment controller and kubelet in one. */
class PodController implements ResourceController {
  readonly name = 'kubelet'
  readonly watches: readonly WatchedKind[] = [{ kind: 'Deployment' }]
  readonly #parts: PodsParts
  readonly #pods = new Map<string, Pod>()
  #isClosed = false

  constructor(parts: PodsParts) {
    this.#parts = parts
  }

  /** Pods that are stopped from now on are not announced. */
  close(): void {
    this.#isClosed = true
  }

  async stopAll(): Promise<void> {
    for (const key of [...this.#pods.keys()]) {
      const [namespace = '', name = ''] = key.split('/')
      await this.#stop({ namespace, name })
    }
  }

  async reconcile(at: ObjectName, signal: AbortSignal): Promise<void> {
    const { kube, announce } = this.#parts
    const deployment = await kube.find('Deployment', at)
    if (!deployment || deployment.spec.replicas === 0) return this.#stop(at)
    if (this.#pods.get(podKeyOf(at))?.template !== JSON.stringify(deployment.spec.template)) {
      if (deployment.spec.strategy?.type === 'Recreate') {
        await this.#stop(at)
        await this.#report(deployment, { isAvailable: false, why: 'MinimumReplicasUnavailable' })
      }
      try {
        await this.#start(at, deployment, signal)
      } catch (error) {
        signal.throwIfAborted()
        const because = (error instanceof Error && error.message) || undefined
        announce({ actor: 'kubelet', does: `cannot start ${at.name}`, ...defined({ because }) })
        await this.#report(deployment, { isAvailable: false, why: 'ErrImagePull' })
        throw error
      }
      announce({ actor: 'kubelet', does: `starts ${at.name}` })
    }
    await this.#report(deployment, { isAvailable: true, why: 'MinimumReplicasAvailable' })
  }

  async #start(at: ObjectName, { spec }: Deployment, signal: AbortSignal): Promise<void> {
    const { clock, programs } = this.#parts
    const { initContainers = [], containers } = spec.template.spec
    const pod: Pod = { template: JSON.stringify(spec.template), running: [] }
    const init = await mapInOrder(initContainers, (one) => this.#pull(one, signal))
    const main = await mapInOrder(containers, (one) => this.#pull(one, signal))
    for (const container of init) await programs.init[container.name]?.(container, signal)
    if (this.#pods.has(podKeyOf(at))) await this.#stop(at)
    this.#pods.set(podKeyOf(at), pod)
    await clock.sleep(CONTAINER_START_DELAY, { signal })
    try {
      for (const container of main) {
        const running = await programs.main[container.name]?.(container, signal)
        if (running) pod.running.push(running)
      }
    } catch (error) {
      await this.#stop(at)
      throw error
    }
  }

  async #pull(container: PodContainer, signal: AbortSignal): Promise<RunningContainer> {
    const { clock, registry } = this.#parts
    const contents = await registry.pull(container.image, signal)
    await clock.sleep(contents.pullTime ?? IMAGE_PULL_DELAY, { signal })
    return { ...container, contents }
  }

  async #stop(at: ObjectName): Promise<void> {
    const pod = this.#pods.get(podKeyOf(at))
    if (!pod) return
    this.#pods.delete(podKeyOf(at))
    if (!this.#isClosed) this.#parts.announce({ actor: 'kubelet', does: `stops ${at.name}` })
    for (const one of pod.running.reverse()) await one[Symbol.asyncDispose]()
  }

  /** A pod that cannot start is there all the same: it counts as updated, and has an address. */
  async #report(
    { metadata: at }: Deployment,
    { isAvailable, why: reason }: { isAvailable: boolean; why: string },
  ): Promise<void> {
    const { kube, clock } = this.#parts
    const deployment = await kube.find('Deployment', at)
    if (!deployment) return
    const { replicas } = deployment.spec
    const conditions = withConditions(
      deployment.status?.conditions,
      [
        { type: 'Available', status: isAvailable ? 'True' : 'False', reason },
        { type: 'Progressing', status: 'True', reason: isAvailable ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated' },
      ],
      clock,
    )
    const status = {
      observedGeneration: deployment.metadata.generation,
      replicas,
      updatedReplicas: replicas,
      availableReplicas: isAvailable ? replicas : 0,
      conditions,
    }
    if (JSON.stringify(deployment.status) !== JSON.stringify(status))
      await kube.updateStatus<'Deployment'>({ ...deployment, status })
  }
}

const podKeyOf = ({ namespace = '', name }: ObjectName): string => `${namespace}/${name}`

/** True if a Deployment's present template runs. */
export const isRolledOut = ({ metadata, status }: Deployment): boolean =>
  status?.observedGeneration === metadata.generation && status.availableReplicas > 0

async function mapInOrder<T, R>(all: readonly T[], each: (one: T) => Promise<R>): Promise<R[]> {
  const made: R[] = []
  for (const one of all) made.push(await each(one))
  return made
}
