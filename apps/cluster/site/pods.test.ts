import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PullFailure } from '../../../machine/index.js'
import { clusterScene } from '../../../test/kit/cluster/cluster-scene.js'
import { isRolledOut, runPods } from './pods.js'

const AT = { name: 'app', namespace: 'apps' }
let scene: ReturnType<typeof clusterScene>
let log: string[]
let missing: string | undefined
let pods: AsyncDisposable

beforeEach(() => {
  scene = clusterScene()
  log = []
  missing = undefined
  const main = async ({ image }: { image: string }) => {
    log.push(`runs ${image}`)
    return { [Symbol.asyncDispose]: async () => void log.push(`ends ${image}`) }
  }
  const registry = {
    pull: async (image: string) => {
      if (image === missing) throw new PullFailure('manifest unknown')
      return {}
    },
  }
  const init = { prepare: async ({ image }: { image: string }) => void log.push(`prepares ${image}`) }
  pods = runPods({ ...scene.parts, registry, programs: { init, main: { app: main } } })
})
afterEach(() => pods[Symbol.asyncDispose]())

const template = (version: number) => ({
  spec: {
    initContainers: [{ name: 'prepare', image: `prepare:${version}` }],
    containers: [
      { name: 'app', image: `app:${version}` },
      { name: 'other', image: 'other' },
    ],
  },
})

async function roll(version: number, strategy: 'Recreate' | 'RollingUpdate' = 'RollingUpdate'): Promise<void> {
  const spec = { replicas: 1, strategy: { type: strategy }, template: template(version) }
  const current = await scene.kube.find('Deployment', AT)
  if (current) await scene.kube.update({ ...current, spec })
  else await scene.kube.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: AT, spec })
}

describe('a Deployment', () => {
  test('runs its containers once its init containers are done, and says so', async () => {
    await roll(1)
    const { status } = await scene.until('Deployment', 'app', isRolledOut)
    expect(log).toEqual(['prepares prepare:1', 'runs app:1'])
    expect(status).toMatchObject({ observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 })
    expect(status!.conditions).toMatchObject([
      { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
    ])
  })

  test.each([
    ['RollingUpdate', ['prepares prepare:2', 'ends app:1', 'runs app:2']],
    ['Recreate', ['ends app:1', 'prepares prepare:2', 'runs app:2']],
  ] as const)('of strategy %s replaces its pod', async (strategy, order) => {
    await roll(1, strategy)
    await scene.until('Deployment', 'app', isRolledOut)
    log.length = 0
    await roll(2, strategy)
    await scene.until('Deployment', 'app', (one) => isRolledOut(one) && one.metadata.generation === 2)
    expect(log).toEqual(order)
  })

  test('whose image cannot be pulled keeps its old pod, and is tried again', async () => {
    await roll(1)
    await scene.until('Deployment', 'app', isRolledOut)
    missing = 'app:2'
    await roll(2)
    await scene.until('Deployment', 'app', ({ status }) => status?.conditions?.[0]?.reason === 'ErrImagePull')
    expect(log).not.toContain('ends app:1')
    missing = undefined
    await scene.until('Deployment', 'app', (one) => isRolledOut(one) && one.metadata.generation === 2)
    expect(log.slice(-2)).toEqual(['ends app:1', 'runs app:2'])
  })

  test('of no replicas, and one that is deleted, has no pod', async () => {
    await roll(1)
    await scene.until('Deployment', 'app', isRolledOut)
    await scene.kube.patch('Deployment', AT, { spec: { replicas: 0 } })
    await scene.clock.until(scene.clock.sleep(1000))
    expect(log.at(-1)).toBe('ends app:1')
    await scene.kube.patch('Deployment', AT, { spec: { replicas: 1 } })
    await scene.until('Deployment', 'app', isRolledOut)
    await scene.kube.delete('Deployment', AT)
    await scene.clock.until(scene.clock.sleep(1000))
    expect(log.filter((line) => line === 'ends app:1')).toHaveLength(2)
  })
})
