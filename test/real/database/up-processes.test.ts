import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Scope, systemClock } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { installCoreos, REHEARSAL_IMAGE } from '../../../lab/index.js'
import { UpProcess } from '../../kit/commands/up-process.js'
import { FleetProcess } from '../../kit/fleet/fleet-process.js'
import { slowImage } from '../../kit/fleet/slow-image.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { PostgresServer } from '../postgres.js'

const SPEED = ['--speed', '10']
const NAMES = ['machine-1', 'machine-2', 'machine-3', 'machine-4']

test('an API and two conductors deploy a fleet; what a killed conductor worked on goes on or fails, and is never stuck', async () => {
  await using scope = new Scope()
  const server = scope.use(await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] }))
  const database = `postgres://postgres@127.0.0.1:${server.port}/postgres`
  const start = (role: string): UpProcess => {
    const up = new UpProcess(['--database', database, '--role', role, '--port', '0', '--no-ui', ...SPEED])
    scope.onClose(async () => {
      if (up.alive) await up.stop()
    })
    return up
  }
  const api = start('api')
  const url = await api.ready
  const killed = start('conductor')
  const other = start('conductor')
  await Promise.all([killed.ready, other.ready])
  const fleet = ['--count', String(NAMES.length), '--redfish-port', '0', '--boot-time', '2s', ...SPEED]
  scope.use(await FleetProcess.start([...fleet, '--ironic-url', url, '--enroll']))
  const clock = systemClock()
  const client = new IronicClient({ endpoint: url, clock, transport: scope.use(new HttpTransport({ clock })) })
  const state = async (name: string): Promise<string> => (await client.node(name)).provision_state
  const until = { timeout: REAL_PEER_TIMEOUT }
  const names = async (): Promise<(string | null)[]> => (await client.nodes()).map(({ name }) => name).sort()
  await expect.poll(names, until).toEqual(NAMES)
  for (const [verb, reached] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
  ] as const) {
    await Promise.all(NAMES.map((name) => client.provision(name, verb)))
    for (const name of NAMES) await expect.poll(() => state(name), until).toBe(reached)
  }
  const slow = await slowImage(await readFile(REHEARSAL_IMAGE), scope)
  const deployment = { deploy_steps: [installCoreos({ image_url: slow.url })] }
  const patch = [{ op: 'replace' as const, path: '/deploy_interface', value: 'custom-agent' }]
  for (const name of NAMES) await client.patchNode(name, patch)
  await Promise.all(NAMES.map((name) => client.provision(name, 'active', deployment)))
  await slow.asked
  await killed.kill()
  slow.finish()
  for (const name of NAMES) {
    await expect.poll(() => state(name), until).toMatch(/^(active|deploy failed)$/)
    if ((await state(name)) === 'deploy failed') await client.provision(name, 'active', deployment)
    await expect.poll(() => state(name), until).toBe('active')
    await expect.poll(() => client.node(name), until).toMatchObject({ reservation: null, power_state: 'power on' })
  }
  expect(await other.stop()).toBe(0)
})
