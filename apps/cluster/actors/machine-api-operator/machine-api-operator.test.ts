import { afterEach, describe, expect, test } from 'vitest'
import { defined, minutes } from '../../../../base/runtime/index.js'
import { clusterScene } from '../../../../test/kit/cluster/cluster-scene.js'
import { ALL_BEHAVIOURS } from '../all-behaviours.js'
import { runMachineApiOperator } from './machine-api-operator.js'

const namespace = 'openshift-machine-api'
const image = { url: 'http://images.invalid/a.raw', checksum: 'a'.repeat(64) }
const customDeploy = { method: 'install_coreos' }
const running: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]()
})

function scene(without: string[] = []) {
  const made = clusterScene({ all: ALL_BEHAVIOURS, without })
  const { kube, clock } = made
  running.push(runMachineApiOperator(made.parts))
  const inState = async (name: string, state: string): Promise<void> => {
    const host = await kube.get('BareMetalHost', { name, namespace })
    const status = { errorMessage: '', errorCount: 0, operationalStatus: 'OK' as const, poweredOn: false }
    await kube.updateStatus<'BareMetalHost'>({
      ...host,
      status: { ...status, provisioning: { ID: name, state: state as 'available' } },
    })
  }
  return {
    ...made,
    inState,
    host: async (name: string, { state = 'available', labels = {} } = {}) => {
      await kube.create<'BareMetalHost'>({
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'BareMetalHost',
        metadata: { name, namespace, labels },
        spec: { online: false },
      })
      await inState(name, state)
    },
    set: (replicas: number, hostSelector?: { matchLabels: Record<string, string> }) =>
      kube.create<'MachineSet'>({
        apiVersion: 'machine.openshift.io/v1beta1',
        kind: 'MachineSet',
        metadata: { name: 'workers', namespace },
        spec: {
          replicas,
          selector: { matchLabels: { set: 'workers' } },
          template: {
            metadata: { labels: { set: 'workers' } },
            spec: {
              providerSpec: {
                value: {
                  image,
                  customDeploy,
                  userData: { name: 'worker-user-data' },
                  ...defined({ hostSelector }),
                },
              },
            },
          },
        },
      }),
    scale: (replicas: number) => kube.patch('MachineSet', { name: 'workers', namespace }, { spec: { replicas } }),
    machines: async () => (await kube.list('Machine')).items,
    spec: async (name: string) => (await kube.get('BareMetalHost', { name, namespace })).spec,
    rest: () => clock.advance(minutes(2)),
  }
}

describe('a machine set', () => {
  test('has as many machines as it asks for, each on a free host that fits', async () => {
    const lab = scene()
    await lab.host('a', { labels: { kind: 'storage' } })
    await lab.host('b')
    await lab.host('c', { state: 'inspecting' })
    await lab.set(2)
    await lab.rest()
    for (const name of ['a', 'b'])
      expect(await lab.spec(name)).toMatchObject({
        online: true,
        image,
        customDeploy,
        userData: { name: 'worker-user-data', namespace },
        consumerRef: { kind: 'Machine', namespace, apiVersion: 'machine.openshift.io/v1beta1' },
      })
    const consumers = await Promise.all(['a', 'b'].map(async (name) => (await lab.spec(name)).consumerRef!.name))
    expect(new Set(consumers).size).toBe(2)
    expect((await lab.machines()).map(({ status }) => status!.phase)).toEqual(['Provisioning', 'Provisioning'])
  })

  test('takes hosts with its labels only, and waits for one', async () => {
    const lab = scene()
    await lab.host('a')
    await lab.set(1, { matchLabels: { kind: 'storage' } })
    await lab.rest()
    expect((await lab.spec('a')).consumerRef).toBeUndefined()
    expect(lab.said().at(-1)).toMatch(/^waits with workers-\w{5}: no available BareMetalHost was found$/)
    await lab.host('b', { labels: { kind: 'storage' } })
    await lab.rest()
    expect((await lab.spec('b')).consumerRef).toBeDefined()
  })

  test('without mao/chooses-free-hosts a host that is in use is taken', async () => {
    const lab = scene(['mao/chooses-free-hosts'])
    await lab.host('a')
    await lab.set(1)
    await lab.rest()
    const first = (await lab.spec('a')).consumerRef!.name
    await lab.scale(2)
    await lab.rest()
    expect((await lab.spec('a')).consumerRef!.name).not.toBe(first)
  })

  test('without mao/keeps-replicas nothing follows', async () => {
    const lab = scene(['mao/keeps-replicas'])
    await lab.host('a')
    await lab.set(1)
    await lab.rest()
    expect(await lab.machines()).toEqual([])
  })
})

describe('a machine', () => {
  const provisioned = async (without: string[] = []) => {
    const lab = scene(without)
    await lab.host('a')
    await lab.set(1)
    await lab.rest()
    await lab.inState('a', 'provisioned')
    await lab.rest()
    expect((await lab.machines())[0]!.status!.phase).toBe('Provisioned')
    await lab.kube.create<'Node'>({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec: {} })
    await lab.rest()
    return lab
  }

  test('runs when its host is provisioned and its node is there', async () => {
    const lab = await provisioned()
    const [machine] = await lab.machines()
    expect(machine).toMatchObject({ status: { phase: 'Running', nodeRef: { name: 'a' } } })
    const { uid } = (await lab.kube.get('BareMetalHost', { name: 'a', namespace })).metadata
    const providerID = `baremetalhost:///${namespace}/a/${uid}`
    expect(machine!.spec.providerID).toBe(providerID)
    expect((await lab.kube.get('Node', { name: 'a' })).spec!.providerID).toBe(providerID)
    expect((await lab.kube.get('MachineSet', { name: 'workers', namespace })).status).toEqual({
      replicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    })
  })

  test('that goes drains its node, empties its host, and takes its node along, in this order', async () => {
    const lab = await provisioned()
    await lab.scale(0)
    await lab.rest()
    expect(await lab.spec('a')).toMatchObject({ online: false, consumerRef: { kind: 'Machine' } })
    expect(await lab.spec('a')).not.toHaveProperty('image')
    expect((await lab.kube.get('Node', { name: 'a' })).spec).toMatchObject({ unschedulable: true })
    expect((await lab.machines())[0]!.status!.phase).toBe('Deleting')
    await lab.inState('a', 'deprovisioning')
    await lab.rest()
    expect((await lab.spec('a')).consumerRef).toBeDefined()
    await lab.inState('a', 'available')
    await lab.rest()
    expect((await lab.spec('a')).consumerRef).toBeUndefined()
    expect(await lab.machines()).toEqual([])
    expect((await lab.kube.list('Node')).items).toEqual([])
  })

  test('without mao/releases-empty-hosts leaves its host provisioned', async () => {
    const lab = await provisioned(['mao/releases-empty-hosts'])
    await lab.scale(0)
    await lab.rest()
    expect(await lab.machines()).toEqual([])
    expect(await lab.spec('a')).toMatchObject({ online: true, image, consumerRef: { kind: 'Machine' } })
  })

  test('without mao/drains-before-deletion is switched off under its workloads', async () => {
    const lab = await provisioned(['mao/drains-before-deletion'])
    await lab.scale(0)
    await lab.rest()
    expect((await lab.kube.get('Node', { name: 'a' })).spec!.unschedulable).toBeUndefined()
  })
})
