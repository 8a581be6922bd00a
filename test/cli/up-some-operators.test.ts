import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

/** `ironstage up --kube-api --actors LIST`: operators that are left out are the client's. */

interface ReadyLine {
  event: string
  kube_api_url: string
  actors: string[]
}
interface Condition {
  type: string
  status: string
  message?: string
}
interface AnyObject {
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: Record<string, unknown>
  status?: {
    conditions?: Condition[]
    history?: { version: string; state: string }[]
    versions?: { name: string; version: string }[]
    configuration?: { name: string }
    provisioning?: { state: string }
    errorMessage?: string
    phase?: string
    replicas?: number
  }
}

const CONFIG = '/apis/config.openshift.io/v1'
const VERSION = `${CONFIG}/clusterversions/version`
const MACHINE_CONFIG = '/apis/machineconfiguration.openshift.io/v1'
const HOSTS = '/apis/metal3.io/v1alpha1/namespaces/openshift-machine-api/baremetalhosts'
const MACHINE_SETS = '/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machinesets'

/** A cluster of which some operators act, and a client of its API. */
async function clusterWith(actors: string) {
  const up = command(['up', '--kube-api', '0', '--actors', actors, '--clock', 'x300', '--json'])
  await up.printed(/"event":"ready"/)
  const lines = up.stdout.split('\n').filter(Boolean)
  const ready = lines.map((line) => JSON.parse(line) as ReadyLine).find(({ event }) => event === 'ready')!
  const sent = async (path: string, init: RequestInit = {}): Promise<AnyObject> => {
    const answer = await fetch(`${ready.kube_api_url}${path}`, init)
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return (await answer.json()) as AnyObject
  }
  const patch = (path: string, body: object): Promise<AnyObject> =>
    sent(path, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify(body),
    })
  return {
    up,
    ready,
    get: (path: string) => sent(path),
    post: (path: string, body: object) =>
      sent(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    patch,
    upgrade: () => patch(VERSION, { spec: { desiredUpdate: { version: '4.21.1' } } }),
    [Symbol.asyncDispose]: async () => {
      up.stop()
      await up.ended
    },
  }
}

const isTrue = ({ status }: AnyObject, type: string): boolean =>
  status?.conditions?.find((one) => one.type === type)?.status === 'True'

test('without its machine config operator an upgrade waits for it, and goes on when another one reports', async () => {
  await using cluster = await clusterWith('cvo,cbo,icc,bmo,mao')
  const { up, ready, get, patch, upgrade } = cluster
  expect(ready.actors).toEqual(['bmo', 'cbo', 'cvo', 'icc', 'mao'])
  await upgrade()
  await up.printed(/"actor":"bmo"[^\n]*"adopts /)
  await expect
    .poll(async () => JSON.stringify((await get(VERSION)).status), { timeout: 20_000 })
    .toMatch(/machine-config/)
  expect((await get(VERSION)).status?.history?.[0]).toMatchObject({ version: '4.21.1', state: 'Partial' })
  const operator = `${CONFIG}/clusteroperators/machine-config`
  expect((await get(operator)).status?.versions?.[0]?.version).toBe('4.21.0')
  await patch(`${operator}/status`, { status: { versions: [{ name: 'operator', version: '4.21.1' }] } })
  await up.printed(/"completes the update to 4\.21\.1"/)
  expect(up.stdout).not.toContain('"actor":"mco"')
}, 60_000)

test("daemons without their operator follow the annotations that the user's own one writes", async () => {
  await using cluster = await clusterWith('cvo,mcd')
  const { get, post, patch, up } = cluster
  const pool = await get(`${MACHINE_CONFIG}/machineconfigpools/worker`)
  const rendered = await get(`${MACHINE_CONFIG}/machineconfigs/${pool.status!.configuration!.name}`)
  const name = 'rendered-worker-of-my-own'
  const kernelArguments = ['mitigations=off']
  await post(`${MACHINE_CONFIG}/machineconfigs`, {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name },
    spec: { ...rendered.spec, kernelArguments },
  })
  const nodes = (await get('/api/v1/nodes')) as AnyObject & { items: AnyObject[] }
  const node = nodes.items.find(({ metadata }) => 'node-role.kubernetes.io/worker' in metadata.labels!)!.metadata.name
  const key = 'machineconfiguration.openshift.io'
  await patch(`/api/v1/nodes/${node}`, { metadata: { annotations: { [`${key}/desiredConfig`]: name } } })
  const annotations = async () => (await get(`/api/v1/nodes/${node}`)).metadata.annotations!
  // The daemon asks for a drain, and then for the end of it: both are the operator's to do.
  for (const verb of ['drain', 'uncordon']) {
    const asked = `${verb}-${name}`
    await expect.poll(async () => (await annotations())[`${key}/desiredDrain`], { timeout: 20_000 }).toBe(asked)
    expect((await annotations())[`${key}/currentConfig`]).not.toBe(name)
    await patch(`/api/v1/nodes/${node}`, { metadata: { annotations: { [`${key}/lastAppliedDrain`]: asked } } })
  }
  await expect.poll(async () => (await annotations())[`${key}/currentConfig`], { timeout: 20_000 }).toBe(name)
  expect(up.stdout).not.toContain('renders')
}, 60_000)

test('without the operators of hosts and machines their objects stay as they are', async () => {
  await using cluster = await clusterWith('cvo,cbo,icc,mco')
  const { get, post, patch, up } = cluster
  const { items } = (await get(HOSTS)) as AnyObject & { items: AnyObject[] }
  const spec = items.find(({ status }) => status?.provisioning?.state === 'available')!.spec
  await post(HOSTS, {
    apiVersion: 'metal3.io/v1alpha1',
    kind: 'BareMetalHost',
    metadata: { name: 'mine', namespace: 'openshift-machine-api' },
    spec: { online: true, bmc: spec['bmc'], bootMACAddress: '52:54:00:aa:bb:cc' },
  })
  const sets = (await get(MACHINE_SETS)) as AnyObject & { items: AnyObject[] }
  await patch(`${MACHINE_SETS}/${sets.items[0]!.metadata.name}`, { spec: { replicas: 3 } })
  // Time passes for all: an upgrade goes as far as the machine API operator, whose report is missing.
  await cluster.upgrade()
  await expect.poll(async () => JSON.stringify((await get(VERSION)).status), { timeout: 20_000 }).toMatch(/machine-api/)
  expect((await get(`${HOSTS}/mine`)).status).toBeUndefined()
  const machines = (await get(MACHINE_SETS.replace('machinesets', 'machines'))) as AnyObject & { items: AnyObject[] }
  expect(machines.items).toHaveLength(5)
  expect(isTrue(await get(VERSION), 'Progressing')).toBe(true)
  expect(up.stdout).not.toMatch(/"actor":"(bmo|mao)"/)
}, 60_000)
