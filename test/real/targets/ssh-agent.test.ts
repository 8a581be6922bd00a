import { spawn, type ChildProcess } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { installCoreos } from '../../../lab/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { IRONSTAGE, UpProcess } from '../../kit/commands/up-process.js'
import { MachineWithDisk } from '../machine-with-disk.js'
import { tool } from '../peers.js'
import { fileAppears, practiceImages } from '../practice-images.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** The process of an agent is killed while it installs a real machine, for an Ironic in another process. */

const clock = systemClock()
const CANARY = 'canary-restart-77e1'

let target: MachineWithDisk
let images: Awaited<ReturnType<typeof practiceImages>>
beforeAll(async () => {
  target = await MachineWithDisk.open({ size: '2G' })
  images = await practiceImages(target.home)
})
afterAll(async () => {
  images?.[Symbol.dispose]()
  await target?.[Symbol.asyncDispose]()
})

/** Starts `ironstage agent`. */
async function startAgent(ironic: string, node: string): Promise<{ child: ChildProcess; callback: string }> {
  const child = spawn(
    process.execPath,
    [
      IRONSTAGE,
      'agent',
      '--json',
      ...(await target.targetOptions()),
      '--ironic-url',
      ironic,
      '--node-uuid',
      node,
      '--no-cache',
    ],
    { env: { PATH: process.env['PATH'], HOME: target.home, USER: 'tester' }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  const callback = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the agent ended: ${output}`)))
    child.stdout.on('data', (bytes: Buffer) => {
      output += bytes.toString()
      const found = /"callback_url":"([^"]+)"/.exec(output)
      if (found) resolve(found[1]!)
    })
  })
  return { child, callback }
}

const kill = async (child: ChildProcess) => {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

test('a restarted agent continues its deployment: it installs once and the node becomes active', async () => {
  const up = new UpProcess(['--port', '0', '--profile', 'upstream', '--set', 'conductor.automated_clean=false'])
  onTestFinished(() => up.kill())
  const endpoint = await up.ready
  await using transport = new HttpTransport({ clock })
  const ironic = new IronicClient({ transport, endpoint, clock })
  const { uuid } = await ironic.createNode({
    driver: 'fake-hardware',
    power_interface: 'fake',
    deploy_interface: 'custom-agent',
    driver_info: { deploy_forces_oob_reboot: true },
    properties: { root_device: { name: target.disk.device } },
  })
  await ironic.createPort({ node_uuid: uuid, address: '02:00:00:00:00:07' })
  for (const [verb, state] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
  ] as const) {
    await ironic.provision(uuid, verb)
    await ironic.waitFor(uuid, [state])
  }
  const image = images.url('wait')
  const config = {
    ignition: { version: '3.4.0' },
    storage: { files: [{ path: '/etc/secret', contents: { source: `data:,${CANARY}` } }] },
  }
  await ironic.provision(uuid, 'active', { deploy_steps: [installCoreos({ ignition: config, image_url: image })] })
  await ironic.waitFor(uuid, ['wait call-back'])

  const first = await startAgent(endpoint, uuid)
  await fileAppears(join(target.home, 'half'))
  await kill(first.child)
  const second = await startAgent(endpoint, uuid)
  expect(second.callback).toBe(first.callback)
  await writeFile(join(target.home, 'go'), '')
  const node = await ironic.waitFor(uuid, ['active'], { timeout: REAL_PEER_TIMEOUT })
  expect(node).toMatchObject({ provision_state: 'active', last_error: null })
  await kill(second.child)
  expect(await up.stop()).toBe(0)

  expect((await readFile(join(target.machine.shared, 'installs'), 'utf8')).trim().split('\n')).toHaveLength(1)
  const { boot } = await inspectDisk({ path: target.disk.file }, clock)
  expect(Buffer.from(boot!.ignition!.bytes).toString()).toContain(CANARY)
  // The state that the agent stores on the machine no longer contains the config.
  const [sshd] = await target.machine.processes(/sshd/)
  const inside = (...argv: string[]) => tool('nsenter', '-t', String(sshd), '-m', '-r', ...argv)
  const state = await inside('sh', '-c', 'stat -c "%a %U" /run/ironstage/agent-*.json')
  expect(state.stdout).toBe('600 root\n')
  expect((await inside('grep', '-rlaF', CANARY, '/run', '/dev/shm', '/root')).stdout).toBe('')
})
