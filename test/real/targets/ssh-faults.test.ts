import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../runtime/index.js'
import { cuttableWay } from '../../kit/cuttable-way.js'
import { command, type CommandRun } from '../../kit/commands/command.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { LIVE_BOOT, SshMachine } from '../ssh-machine.js'

/** What happens to a machine behind SSH and to the way to it while the real coreos-installer writes: how node and disk end. */

const run = promisify(execFile)
const clock = systemClock()
const SERVER = fileURLToPath(new URL('../peers/practice-images.mjs', import.meta.url))
const OTHER_BOOT = '00000000-0000-4000-8000-000000000002'

let place: string
let machine: SshMachine
let disk: { file: string; loop: string }
let images: ChildProcess
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-ssh-faults-'))
  disk = await newDisk('disk.img')
  machine = await SshMachine.open({ disk: disk.loop })
  await mkdir(join(place, '.ssh'), { mode: 0o700 })
  await symlink(machine.keys.key, join(place, '.ssh/id_ed25519'))
  await writeFile(join(place, 'c.ign'), JSON.stringify({ ignition: { version: '3.4.0' } }))
  images = spawn(process.execPath, [SERVER, REHEARSAL_IMAGE, place], { stdio: 'inherit' })
  await there('port')
})
afterAll(async () => {
  images?.kill()
  await machine?.[Symbol.asyncDispose]()
  if (machine) await rm(machine.keys.folder, { recursive: true, force: true })
  if (disk) await run('losetup', ['--detach', disk.loop])
  await rm(place, { recursive: true, force: true })
})
beforeEach(async () => {
  await run('dd', ['if=/dev/zero', `of=${disk.file}`, 'bs=1M', 'count=1', 'conv=notrunc', 'status=none'])
  await run('blockdev', ['--rereadpt', disk.loop]).catch(() => {})
  for (const name of ['half', 'go']) await rm(join(place, name), { force: true })
  for (const name of ['installs', 'hold', 'held']) await rm(join(machine.shared, name), { force: true })
})
afterEach(() => machine.setBoot(LIVE_BOOT))

async function newDisk(name: string) {
  const file = join(place, name)
  await run('truncate', ['-s', '1G', file])
  return { file, loop: (await run('losetup', ['--find', '--show', '--partscan', file])).stdout.trim() }
}

async function there(name: string, folder = place): Promise<void> {
  while (!existsSync(join(folder, name))) await clock.sleep(20)
}

const go = () => writeFile(join(place, 'go'), '')

/** Of `deploy`, with the image that comes in two halves unless told otherwise. */
async function words(port: number, way = 'wait'): Promise<string[]> {
  return [
    ...['deploy', '--target', `ssh://root@127.0.0.1:${port}`, '--device', disk.loop, '--yes-erase', disk.file],
    ...['--host-key', await machine.hostKey(), '--ssh-config', 'none', '--json', '--ignition', join(place, 'c.ign')],
    // The machine fetches it by itself.
    ...['--no-cache', '--image', `http://127.0.0.1:${await readFile(join(place, 'port'), 'utf8')}/${way}`],
  ]
}

const VARIABLES = { HOME: '', USER: 'tester' }
async function deploying(port = machine.ports.any, way?: string): Promise<CommandRun> {
  return command(await words(port, way), { variables: { ...VARIABLES, HOME: place } })
}

async function outcome(running: CommandRun) {
  const code = await running.ended
  const installs = await readFile(join(machine.shared, 'installs'), 'utf8').catch(() => '')
  return {
    code,
    state: /.*"provision_state":"([^"]*)"/s.exec(running.stdout)?.[1],
    disk: await content(),
    installs: installs.split('\n').length - 1,
  }
}

async function content(): Promise<'bootable' | 'nothing to boot'> {
  const { partitions, boot } = await inspectDisk({ path: disk.file }, clock)
  return boot !== null || partitions.some(({ name }) => name === 'boot') ? 'bootable' : 'nothing to boot'
}

const ACTIVE = { code: 0, state: 'active', disk: 'bootable', installs: 1 }
const FAILED = { code: 1, state: 'deploy failed', disk: 'nothing to boot', installs: 1 }

/** Its power goes and comes back; it is in the same live system again, in another boot. */
async function rebooted(): Promise<void> {
  await machine.stop()
  await machine.setBoot(OTHER_BOOT)
  await machine.start()
}

describe('while the installer writes', () => {
  test('the link is cut: it is made again, and nothing was missed', async () => {
    await using way = await cuttableWay(machine.ports.any)
    const running = await deploying(way.port)
    await there('half')
    for (let n = 0; n < 3; n++) {
      way.cut()
      await clock.sleep(200)
    }
    await go()
    expect(await outcome(running), running.stdout + running.stderr).toEqual(ACTIVE)
  })

  test('sshd is started again', async () => {
    const running = await deploying()
    await there('half')
    for (const pid of await machine.processes(/sshd/)) process.kill(pid, 'SIGKILL')
    await go()
    expect(await outcome(running), running.stdout + running.stderr).toEqual(ACTIVE)
  })

  test('the machine is rebooted: nobody knows the outcome, nothing is run again, and nothing boots', async () => {
    const running = await deploying()
    await there('half')
    await rebooted()
    expect(await outcome(running), running.stdout + running.stderr).toEqual(FAILED)
    expect(running.stderr).toMatch(/the target was booted again while it ran/)
  })

  test('another machine gets its address: it is left alone', async () => {
    const elsewhere = await newDisk('other.img')
    const running = await deploying()
    await there('half')
    await machine.stop()
    try {
      await using other = await SshMachine.open({ disk: elsewhere.loop, machineId: '2'.repeat(32), instead: machine })
      expect(await outcome(running), running.stdout + running.stderr).toEqual(FAILED)
      expect(running.stderr).toMatch(/another machine answers as/)
      expect(existsSync(join(other.shared, 'installs'))).toBe(false)
      expect((await readFile(elsewhere.file)).every((byte) => byte === 0)).toBe(true)
    } finally {
      await run('losetup', ['--detach', elsewhere.loop])
      await machine.start()
    }
  })

  test('ironstage is killed: another one waits until the installer has ended, and installs after it', async () => {
    const first = spawn(process.execPath, [IRONSTAGE, ...(await words(machine.ports.any))], {
      env: { PATH: process.env['PATH'], ...VARIABLES, HOME: place },
      stdio: 'ignore',
    })
    const gone = new Promise((resolve) => first.once('exit', resolve))
    await there('half')
    first.kill('SIGKILL')
    await gone
    expect(await machine.processes(/coreos-installer.real install/)).toHaveLength(1)
    const second = await deploying(machine.ports.any, 'good')
    await second.printed(/installing to \/dev\/loop/)
    await clock.sleep(1500)
    expect(await machine.processes(/coreos-installer.real install/)).toHaveLength(1)
    await go()
    expect(await outcome(second), second.stdout + second.stderr).toEqual({ ...ACTIVE, installs: 2 })
  })
})

test.each([
  ['a file of this host', () => REHEARSAL_IMAGE],
  ['out of the cache', (port: string) => `http://127.0.0.1:${port}/good`],
])('an image that is brought there first needs no link: %s', async (_, image) => {
  await using way = await cuttableWay(machine.ports.any)
  const given = await words(way.port)
  given.splice(
    given.indexOf('--no-cache'),
    3,
    '--image',
    image(await readFile(join(place, 'port'), 'utf8')),
    '--stage-image',
  )
  const running = command(given, { variables: { ...VARIABLES, HOME: place } })
  let over = false
  void running.ended.then(() => (over = true))
  await running.printed(/"stage":"fetching the image"/)
  for (let cuts = 0; cuts < 20 && !over; cuts++) {
    await clock.sleep(150)
    way.cut()
  }
  expect(await outcome(running), running.stdout + running.stderr).toEqual(ACTIVE)
  expect(running.stdout).toContain('Copying image from /run/ironstage/images/')
  const [sshd] = await machine.processes(/sshd/)
  const left = await run('nsenter', ['-t', String(sshd), '-m', '-r', 'ls', '/run/ironstage/images'])
  expect(left.stdout).toBe('')
})

test('rebooted when everything is written but the outcome was not told: the disk is cleared after the boot', async () => {
  await writeFile(join(machine.shared, 'hold'), '')
  const running = await deploying(machine.ports.any, 'good')
  await there('held', machine.shared)
  expect(await content()).toBe('bootable')
  await rebooted()
  expect(await outcome(running), running.stdout + running.stderr).toEqual(FAILED)
  expect(running.stderr).toMatch(/the target was booted again while it ran/)
})
