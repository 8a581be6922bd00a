import { defined, seconds } from '../../../base/runtime/index.js'
import { runActor, type ActorParts } from '../actors/actor.js'
import { withCondition } from '../kube/conditions.js'
import type { ObjectName } from '../kube/kube-client.js'
import type { Deployment, PodContainer } from '../kube/kinds/apps-kinds.js'
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
  const { kube, clock, registry, programs, announce } = parts
  const pods = new Map<string, Pod>()
  let isOver = false
  const keyOf = ({ namespace = '', name }: ObjectName): string => `${namespace}/${name}`

  const stop = async (at: ObjectName): Promise<void> => {
    const pod = pods.get(keyOf(at))
    if (!pod) return
    pods.delete(keyOf(at))
    if (!isOver) announce({ actor: 'kubelet', does: `stops ${at.name}` })
    for (const one of pod.running.reverse()) await one[Symbol.asyncDispose]()
  }

  const report = async (deployment: Deployment, available: boolean, why?: string): Promise<void> => {
    const { replicas } = deployment.spec
    const now = available ? replicas : 0
    const reason = available ? 'MinimumReplicasAvailable' : (why ?? 'MinimumReplicasUnavailable')
    const conditions = withCondition(
      withCondition(
        deployment.status?.conditions,
        { type: 'Available', status: available ? 'True' : 'False', reason },
        clock,
      ),
      { type: 'Progressing', status: 'True', reason: available ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated' },
      clock,
    )
    const counts = { replicas, updatedReplicas: now, availableReplicas: now }
    const status = { observedGeneration: deployment.metadata.generation, ...counts, conditions }
    if (JSON.stringify(deployment.status) !== JSON.stringify(status))
      await kube.updateStatus<'Deployment'>({ ...deployment, status })
  }

  const pull = async (container: PodContainer, signal: AbortSignal): Promise<RunningContainer> => {
    const contents = await registry.pull(container.image, signal)
    await clock.sleep(IMAGE_PULL_DELAY, { signal })
    return { ...container, contents }
  }

  const start = async (at: ObjectName, { spec }: Deployment, signal: AbortSignal): Promise<void> => {
    const { initContainers = [], containers } = spec.template.spec
    const pod: Pod = { template: JSON.stringify(spec.template), running: [] }
    const init = await mapInOrder(initContainers, (one) => pull(one, signal))
    const main = await mapInOrder(containers, (one) => pull(one, signal))
    for (const container of init) await programs.init[container.name]?.(container, signal)
    if (pods.has(keyOf(at))) await stop(at)
    pods.set(keyOf(at), pod)
    await clock.sleep(CONTAINER_START_DELAY, { signal })
    try {
      for (const container of main) {
        const running = await programs.main[container.name]?.(container, signal)
        if (running) pod.running.push(running)
      }
    } catch (error) {
      await stop(at)
      throw error
    }
  }

  const actor = runActor(
    {
      name: 'kubelet',
      watches: [{ kind: 'Deployment' }],
      reconcile: async (at, signal) => {
        const deployment = await kube.find('Deployment', at)
        if (!deployment || deployment.spec.replicas === 0) return stop(at)
        if (pods.get(keyOf(at))?.template !== JSON.stringify(deployment.spec.template)) {
          if (deployment.spec.strategy?.type === 'Recreate') await stop(at)
          try {
            await start(at, deployment, signal)
          } catch (error) {
            signal.throwIfAborted()
            const because = error instanceof Error ? error.message : undefined
            announce({
              actor: 'kubelet',
              does: `cannot start ${at.name}`,
              ...defined({ because: because || undefined }),
            })
            await report(deployment, false, 'ErrImagePull')
            throw error
          }
          announce({ actor: 'kubelet', does: `starts ${at.name}` })
        }
        await report((await kube.find('Deployment', at)) ?? deployment, true)
      },
    },
    parts,
  )
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true
      await actor[Symbol.asyncDispose]()
      for (const key of [...pods.keys()]) {
        const [namespace = '', name = ''] = key.split('/')
        await stop({ namespace, name })
      }
    },
  }
}

/** Whether a Deployment's present template runs. */
export const isRolledOut = ({ metadata, status }: Deployment): boolean =>
  status?.observedGeneration === metadata.generation && status.availableReplicas > 0

async function mapInOrder<T, R>(all: readonly T[], each: (one: T) => Promise<R>): Promise<R[]> {
  const made: R[] = []
  for (const one of all) made.push(await each(one))
  return made
}
