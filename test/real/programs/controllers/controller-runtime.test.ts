import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { isTrue, openKube, serveKube, type Condition } from '../../../../base/kubernetes/index.js'
import { Scope, seededRandom, systemClock } from '../../../../base/runtime/index.js'
import { REAL_PEER_TIMEOUT } from '../../limits.js'
import { claimOperatorProgram } from './claim-operator.js'

/** The real controller-runtime on the Kubernetes API of `up --kube-api`. */

const CLAIMS = 30

/** Milliseconds from the end of an operator to its next start. */
const RESTART_DELAY = 200

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

/** An API that can be closed and served again, and the operator as a process. */
async function operatedApi() {
  const program = await claimOperatorProgram()
  const clock = systemClock()
  const kube = openKube({ clock, random: seededRandom(3) })
  const serve = (port: number) => serveKube({ store: kube.store, port, clock })
  let server = await serve(0)
  scope.onClose(() => server[Symbol.asyncDispose]())
  kube.store.create('Namespace', { metadata: { name: 'metal3' } })
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-controller-'))
  scope.onClose(() => rm(folder, { recursive: true, force: true }))
  const config = join(folder, 'kubeconfig')
  const cluster = { name: 'lab', cluster: { server: server.url } }
  const context = { name: 'lab', context: { cluster: 'lab', user: 'lab' } }
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [cluster],
      contexts: [context],
      'current-context': 'lab',
    }),
  )
  /** Runs the operator as a Deployment would: one that ends by itself, as it does when the API is away, starts again. */
  const start = () => {
    let log = ''
    let isStopped = false
    let child: ChildProcess
    const runUntilStopped = async () => {
      let outcome: string | number | null = null
      while (!isStopped) {
        child = spawn(program, [], { env: { KUBECONFIG: config }, stdio: ['ignore', 'ignore', 'pipe'] })
        child.stderr!.on('data', (chunk: Buffer) => (log += chunk.toString()))
        const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
        outcome = signal ?? code
        if (!isStopped) await sleep(RESTART_DELAY)
      }
      return outcome
    }
    const kill = (signal: NodeJS.Signals) => {
      isStopped = true
      child.kill(signal)
    }
    const ended = runUntilStopped()
    scope.onClose(async () => {
      kill('SIGKILL')
      await ended
    })
    return { kill, ended, log: () => log }
  }
  return {
    ...kube,
    start,
    restart: async () => {
      const { port } = server
      await server[Symbol.asyncDispose]()
      server = await serve(port)
    },
  }
}

test('a manager leads, makes what its claims need, tells of it, is killed and followed, and survives a restart of the API', async () => {
  const { store, client, start, restart } = await operatedApi()
  const eventually = (what: () => unknown) => expect.poll(what, { timeout: REAL_PEER_TIMEOUT, interval: 50 })
  const claim = (number: number) =>
    store.create('HostClaim', { metadata: { name: `claim-${number}`, namespace: 'metal3' }, spec: { poweredOn: true } })
  const countReady = async () => {
    const { items } = await client.list('HostClaim')
    return items.filter(({ status }) => isTrue(status?.conditions, 'Ready')).length
  }
  const leader = () => store.find('Lease', { name: 'claim-operator', namespace: 'metal3' })?.['spec']

  const first = start()
  for (let number = 0; number < CLAIMS; number++) claim(number)
  await eventually(countReady).toBeGreaterThan(0)
  first.kill('SIGKILL')
  expect(await first.ended).toBe('SIGKILL')
  const before = leader()

  const second = start()
  await eventually(countReady).toBe(CLAIMS)
  expect(leader()).toMatchObject({ leaseTransitions: 1 })
  expect(leader()).not.toEqual(before)
  expect(store.list('Secret').map(({ metadata }) => metadata.ownerReferences?.length)).toEqual(Array(CLAIMS).fill(1))

  // The recorders of both generations, and no event that was refused.
  await eventually(() => new Set(store.list('Event').map((event) => typeof event['eventTime'])).size).toBe(2)
  expect(store.list('Event', { fieldSelector: 'involvedObject.kind=HostClaim,reason=SecretMade' })).not.toEqual([])
  expect(second.log()).not.toMatch(/Server rejected event|Unable to write event/)

  await restart()
  claim(CLAIMS)
  await eventually(countReady).toBe(CLAIMS + 1)
  await client.delete('Namespace', { name: 'metal3' })
  await eventually(() => store.list('HostClaim').length + store.list('Secret').length).toBe(0)

  second.kill('SIGTERM')
  expect(await second.ended).toBe(0)
})

test('a manager installs a definition of its own: defaults, status and finalizers hold, with kills of both sides', async () => {
  const { store, client, start, restart } = await operatedApi()
  const eventually = (what: () => unknown) => expect.poll(what, { timeout: REAL_PEER_TIMEOUT, interval: 50 })
  const PLANS = 'rackplans.racks.ironstage.test'
  const first = start()
  await eventually(() => store.kinds.find(PLANS)?.isNamespaced).toBe(true)
  const plan = (number: number, spec: object = {}) =>
    store.create(PLANS, { metadata: { name: `plan-${number}`, namespace: 'metal3' }, spec: { row: 'a', ...spec } })
  const plans = () =>
    store.list(PLANS) as unknown as { spec: { slots: number }; status?: { slots: number; conditions?: Condition[] } }[]
  const countPlanned = () => plans().filter(({ status }) => isTrue(status?.conditions, 'Ready')).length

  for (let number = 0; number < CLAIMS; number++) plan(number)
  expect(plans()[0]!.spec).toEqual({ row: 'a', slots: 2 })
  await eventually(countPlanned).toBeGreaterThan(0)
  first.kill('SIGKILL')
  await first.ended
  const second = start()
  await restart()
  await eventually(countPlanned).toBe(CLAIMS)
  expect(plans().map(({ status }) => status?.slots)).toEqual(Array(CLAIMS).fill(2))
  expect(store.list('ConfigMap', { namespace: 'metal3' })).toHaveLength(2 * CLAIMS)
  await eventually(() => store.list('Event', { fieldSelector: 'reason=Planned' }).length).toBeGreaterThan(0)
  expect(second.log()).not.toMatch(/Server rejected event|Unable to write event/)

  await client.delete('CustomResourceDefinition', { name: PLANS })
  await eventually(() => store.find('CustomResourceDefinition', { name: PLANS })).toBeUndefined()
  await eventually(() => store.list('ConfigMap', { namespace: 'metal3' })).toHaveLength(0)
  second.kill('SIGTERM')
  await second.ended
})
