import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { installCoreos, REHEARSAL_IMAGE } from '../../../lab/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../runtime/index.js'
import { HttpTransport, IronicClient } from '../../../wire/index.js'
import { IRONSTAGE, UpProcess } from '../../kit/commands/up-process.js'
import { tool } from '../peers.js'
import { SshMachine } from '../ssh-machine.js'

/** An agent's process that is killed while it works on a real machine, for an Ironic in another process. */

const run = promisify(execFile)
const clock = systemClock()
const SERVER = fileURLToPath(new URL('../peers/practice-images.mjs', import.meta.url))
const CANARY = 'canary-restart-77e1'

let place: string
let disk: string
let loop: string
let machine: SshMachine
let images: ChildProcess
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-agent-'))
  disk = join(place, 'disk.img')
  await run('truncate', ['-s', '2G', disk])
  loop = (await run('losetup', ['--find', '--show', '--partscan', disk])).stdout.trim()
  machine = await SshMachine.open({ disk: loop })
  await mkdir(join(place, '.ssh'), { mode: 0o700 })
  await symlink(machine.keys.key, join(place, '.ssh/id_ed25519'))
  images = spawn(process.execPath, [SERVER, REHEARSAL_IMAGE, place], { stdio: 'inherit' })
  await there('port')
})
afterAll(async () => {
  images?.kill()
  await machine?.[Symbol.asyncDispose]()
  if (machine) await rm(machine.keys.folder, { recursive: true, force: true })
  if (loop) await run('losetup', ['--detach', loop])
  await rm(place, { recursive: true, force: true })
})

async function there(name: string): Promise<void> {
  while (!existsSync(join(place, name))) await clock.sleep(20)
}

/** The shipped command. */
async function agent(ironic: string, node: string): Promise<{ child: ChildProcess; callback: string }> {
  const child = spawn(
    process.execPath,
    [
      ...[IRONSTAGE, 'agent', '--target', `ssh://root@127.0.0.1:${machine.ports.any}`, '--device', loop, '--json'],
      ...['--yes-erase', disk, '--host-key', await machine.hostKey(), '--ssh-config', 'none'],
      ...['--ironic-url', ironic, '--node-uuid', node, '--no-cache'],
    ],
    { env: { PATH: process.env['PATH'], HOME: place, USER: 'tester' }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  const callback = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the agent ended: ${said}`)))
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString()
      const found = /"callback_url":"([^"]+)"/.exec(said)
      if (found) resolve(found[1]!)
    })
  })
  return { child, callback }
}

const killed = async (child: ChildProcess) => {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

test('goes on where it was when it is started again: one installation, and a node that is active', async () => {
  const up = new UpProcess(['--port', '0', '--profile', 'upstream', '--set', 'conductor.automated_clean=false'])
  onTestFinished(() => up.kill())
  const endpoint = await up.ready
  await using transport = new HttpTransport({ clock })
  const ironic = new IronicClient({ transport, endpoint, clock })
  const { uuid } = await ironic.createNode({
    ...{ driver: 'fake-hardware', power_interface: 'fake', deploy_interface: 'custom-agent' },
    driver_info: { deploy_forces_oob_reboot: true },
    properties: { root_device: { name: loop } },
  })
  await ironic.createPort({ node_uuid: uuid, address: '02:00:00:00:00:07' })
  for (const [verb, state] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
  ] as const) {
    await ironic.provision(uuid, verb)
    await ironic.waitFor(uuid, [state])
  }
  const image = `http://127.0.0.1:${await readFile(join(place, 'port'), 'utf8')}/wait`
  const config = {
    ignition: { version: '3.4.0' },
    storage: { files: [{ path: '/etc/secret', contents: { source: `data:,${CANARY}` } }] },
  }
  await ironic.provision(uuid, 'active', { deploy_steps: [installCoreos({ ignition: config, image_url: image })] })
  await ironic.waitFor(uuid, ['wait call-back'])

  const first = await agent(endpoint, uuid)
  await there('half')
  await killed(first.child)
  const second = await agent(endpoint, uuid)
  expect(second.callback).toBe(first.callback)
  await writeFile(join(place, 'go'), '')
  const node = await ironic.waitFor(uuid, ['active'], { timeout: 120_000 })
  expect(node).toMatchObject({ provision_state: 'active', last_error: null })
  await killed(second.child)
  expect(await up.stop()).toBe(0)

  expect((await readFile(join(machine.shared, 'installs'), 'utf8')).trim().split('\n')).toHaveLength(1)
  const { boot } = await inspectDisk({ path: disk }, clock)
  expect(Buffer.from(boot!.ignition!.bytes).toString()).toContain(CANARY)
  // What the agent kept there in memory has no config any more.
  const [sshd] = await machine.processes(/sshd/)
  const inside = (...argv: string[]) => tool('nsenter', '-t', String(sshd), '-m', '-r', ...argv)
  const kept = await inside('sh', '-c', 'stat -c "%a %U" /run/ironstage/agent-*.json')
  expect(kept.stdout).toBe('600 root\n')
  expect((await inside('grep', '-rlaF', CANARY, '/run', '/dev/shm', '/root')).stdout).toBe('')
})
