import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Scope, systemClock } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { IRONSTAGE, UpProcess } from '../../kit/commands/up-process.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { tool } from '../peers.js'
import { PostgresServer } from '../postgres.js'

const SPEED = ['--speed', '10']
const UNTIL = { timeout: REAL_PEER_TIMEOUT }

test('machines of a database enroll before and after its API is there, come back as they were, and are without power when they are gone', async () => {
  await using scope = new Scope()
  const server = scope.use(await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] }))
  const database = ['--database', `postgres://postgres@127.0.0.1:${server.port}/postgres`]
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-machines-'))
  scope.onClose(() => rm(folder, { recursive: true, force: true }))
  const start = async (role: string, ...argv: string[]): Promise<UpProcess> => {
    const up = new UpProcess([...database, '--role', role, '--no-ui', ...SPEED, ...argv])
    scope.onClose(async () => {
      if (up.alive) await up.kill()
    })
    await up.ready
    return up
  }
  const machines = (rack: string): Promise<UpProcess> => {
    const named = ['--nodes', '2', '--name-prefix', `rack-${rack}-`, '--redfish-port', '0']
    return start('machines', ...named, '--state-dir', join(folder, rack))
  }
  const first = await machines('a')
  const api = await start('api', '--port', '0')
  const often = ['conductor.sync_power_state_interval=10', 'conductor.power_state_sync_max_retries=2']
  await start('conductor', ...often.flatMap((option) => ['--set', option]))
  await machines('b')
  const clock = systemClock()
  const transport = scope.use(new HttpTransport({ clock }))
  const client = new IronicClient({ endpoint: await api.ready, clock, transport })
  const names = async (): Promise<(string | null)[]> => (await client.nodes()).map(({ name }) => name).sort()
  await expect.poll(names, UNTIL).toEqual(['rack-a-1', 'rack-a-2', 'rack-b-1', 'rack-b-2'])
  // The ports of a node are made after it.
  const addresses = async (): Promise<number> => new Set((await client.ports()).map(({ address }) => address)).size
  await expect.poll(addresses, UNTIL).toBe(8)

  await client.provision('rack-a-1', 'manage')
  await expect.poll(async () => (await client.node('rack-a-1')).provision_state, UNTIL).toBe('manageable')
  const before = await client.node('rack-a-1')
  await first.kill()
  await expect
    .poll(async () => client.node('rack-a-1'), UNTIL)
    .toMatchObject({ maintenance: true, fault: 'power failure' })
  await machines('a')
  await expect
    .poll(async () => client.node('rack-a-1'), UNTIL)
    .toMatchObject({
      uuid: before.uuid,
      driver_info: before.driver_info,
      maintenance: false,
      power_state: before.power_state,
    })
  expect(await names()).toHaveLength(4)

  const clash = [
    'up',
    ...database,
    '--role',
    'machines',
    '--name-prefix',
    'rack-a-',
    '--redfish-port',
    '0',
    '--no-ui',
    ...SPEED,
  ]
  const { code, stderr } = await tool(process.execPath, IRONSTAGE, ...clash)
  expect(code).toBe(1)
  expect(stderr).toContain('Ironic has a node rack-a-1 already')
  expect(stderr).toContain('--name-prefix rack-a-')
  expect(await names()).toHaveLength(4)
}, 300_000)
