import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { LabClock, Scope } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { installCoreos, REHEARSAL_IMAGE } from '../../../lab/index.js'
import { enrolledFleet } from '../../kit/fleet/fleet-and-ironic.js'
import { slowImage } from '../../kit/fleet/slow-image.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { severalIronics } from '../several-ironics.js'

const SPEED = 20

test('a conductor reaches the machines of a fleet by IPMI, and clients go to the next of two APIs', async () => {
  await using scope = new Scope()
  const roles = ['conductor', 'api', 'api'] as const
  const { proxy, ironics } = await severalIronics(scope, ['--speed', String(SPEED)], roles)
  const fleet = await enrolledFleet(scope, {
    speed: SPEED,
    url: proxy.url,
    machines: { ipmi: { port: 0 }, bootScript: `${ironics.process(0).bootUrl}/boot.ipxe` },
    node: { driver: 'ipmi', bootInterface: 'ipxe' },
  })
  const clock = new LabClock({ mode: SPEED })
  const client = new IronicClient({ transport: scope.use(new HttpTransport({ clock })), endpoint: proxy.url, clock })
  const settled = async (state: string): Promise<void> => {
    const shown = async () => {
      const { provision_state, last_error } = await client.node('machine-1')
      return `${provision_state} ${last_error ?? ''}`.trim()
    }
    await expect.poll(shown, { timeout: REAL_PEER_TIMEOUT }).toBe(state)
  }
  await client.patchNode('machine-1', [{ op: 'replace', path: '/deploy_interface', value: 'custom-agent' }])
  await client.provision('machine-1', 'manage')
  await settled('manageable')
  await client.provision('machine-1', 'inspect')
  await settled('manageable')
  await client.provision('machine-1', 'provide')
  await settled('available')
  const { url, finish } = await slowImage(await readFile(REHEARSAL_IMAGE), scope)
  finish()
  await client.provision('machine-1', 'active', { deploy_steps: [installCoreos({ image_url: url })] })
  await settled('active')
  const machine = fleet.machines.get('machine-1')!
  await expect.poll(() => machine.boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
  await client.power('machine-1', 'power off')
  await expect.poll(() => machine.power(), { timeout: REAL_PEER_TIMEOUT }).toBe('off')
})
