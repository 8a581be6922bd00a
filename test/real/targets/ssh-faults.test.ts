import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { cuttableLink } from '../../kit/cuttable-link.js'
import { command, type CommandRun } from '../../kit/commands/command.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { LoopDevice } from '../loop-device.js'
import { MachineWithDisk } from '../machine-with-disk.js'
import { fileAppears, practiceImages } from '../practice-images.js'
import { LIVE_BOOT, SshMachine } from '../ssh-machine.js'

/** Faults of a machine behind SSH, and of the link to it, while the real coreos-installer writes. */

const run = promisify(execFile)
const clock = systemClock()
const OTHER_BOOT = '00000000-0000-4000-8000-000000000002'

let target: MachineWithDisk
let machine: SshMachine
let images: Awaited<ReturnType<typeof practiceImages>>
beforeAll(async () => {
  target = await MachineWithDisk.open()
  machine = target.machine
  await writeFile(join(target.home, 'c.ign'), JSON.stringify({ ignition: { version: '3.4.0' } }))
  images = await practiceImages(target.home)
})
afterAll(async () => {
  images?.[Symbol.dispose]()
  await target?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  const { file, device } = target.disk
  await run('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', 'count=1', 'conv=notrunc', 'status=none'])
  await run('blockdev', ['--rereadpt', device]).catch(() => {})
  for (const name of ['half', 'go']) await rm(join(target.home, name), { force: true })
  for (const name of ['installs', 'hold', 'held']) await rm(join(machine.shared, name), { force: true })
})
afterEach(() => machine.setBoot(LIVE_BOOT))

const halfSent = () => fileAppears(join(target.home, 'half'))
const sendRest = () => writeFile(join(target.home, 'go'), '')

/** Arguments of `deploy`; by default the server sends the second half of the image only after {@link sendRest}. */
async function deployArguments(port: number, behaviour = 'wait'): Promise<string[]> {
  return [
    'deploy',
    ...(await target.targetOptions('root', port)),
    '--json',
    '--ignition',
    join(target.home, 'c.ign'),
    // Without a cache the machine itself downloads the image.
    '--no-cache',
    '--image',
    images.url(behaviour),
  ]
}

const variables = () => ({ HOME: target.home, USER: 'tester' })
async function deploying(port = machine.ports.any, behaviour?: string): Promise<CommandRun> {
  return command(await deployArguments(port, behaviour), { variables: variables() })
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
  const { partitions, boot } = await inspectDisk({ path: target.disk.file }, clock)
  return boot !== null || partitions.some(({ name }) => name === 'boot') ? 'bootable' : 'nothing to boot'
}

const ACTIVE = { code: 0, state: 'active', disk: 'bootable', installs: 1 }
const FAILED = { code: 1, state: 'deploy failed', disk: 'nothing to boot', installs: 1 }

/** Stops the machine and boots the same live system again. */
async function reboot(): Promise<void> {
  await machine.stop()
  await machine.setBoot(OTHER_BOOT)
  await machine.start()
}

describe('while the installer writes', () => {
  test('a cut link is made again, and no output is lost', async () => {
    await using link = await cuttableLink(machine.ports.any)
    const running = await deploying(link.port)
    await halfSent()
    for (let n = 0; n < 3; n++) {
      link.cut()
      await clock.sleep(200)
    }
    await sendRest()
    expect(await outcome(running), running.stdout + running.stderr).toEqual(ACTIVE)
  })

  test('a restart of sshd does not disturb the deployment', async () => {
    const running = await deploying()
    await halfSent()
    for (const pid of await machine.processes(/sshd/)) process.kill(pid, 'SIGKILL')
    await sendRest()
    expect(await outcome(running), running.stdout + running.stderr).toEqual(ACTIVE)
  })

  test('a reboot of the machine fails the deployment: the outcome is unknown, nothing runs again, and nothing boots', async () => {
    const running = await deploying()
    await halfSent()
    await reboot()
    expect(await outcome(running), running.stdout + running.stderr).toEqual(FAILED)
    expect(running.stderr).toMatch(/the target rebooted while it ran/)
  })

  test('another machine that takes over the address is left alone', async () => {
    await using otherDisk = await LoopDevice.create(join(target.home, 'other.img'), '1G')
    const running = await deploying()
    await halfSent()
    await machine.stop()
    try {
      await using other = await SshMachine.open({
        disk: otherDisk.device,
        machineId: '2'.repeat(32),
        instead: machine,
      })
      expect(await outcome(running), running.stdout + running.stderr).toEqual(FAILED)
      expect(running.stderr).toMatch(/another machine answers as/)
      expect(existsSync(join(other.shared, 'installs'))).toBe(false)
      await run('cmp', ['--bytes=1G', otherDisk.file, '/dev/zero'])
    } finally {
      await machine.start()
    }
  })

  test('after ironstage is killed, the next run waits until the installer has ended, and then installs', async () => {
    const first = spawn(process.execPath, [IRONSTAGE, ...(await deployArguments(machine.ports.any))], {
      env: { PATH: process.env['PATH'], ...variables() },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => first.once('exit', resolve))
    await halfSent()
    first.kill('SIGKILL')
    await ended
    expect(await machine.processes(/coreos-installer.real install/)).toHaveLength(1)
    const second = await deploying(machine.ports.any, 'good')
    await second.printed(/installing to \/dev\/loop/)
    await clock.sleep(1500)
    expect(await machine.processes(/coreos-installer.real install/)).toHaveLength(1)
    await sendRest()
    expect(await outcome(second), second.stdout + second.stderr).toEqual({ ...ACTIVE, installs: 2 })
  })
})

test.each([
  ['a file of this host', () => REHEARSAL_IMAGE],
  ['a download in the cache', () => images.url('good')],
])('an image that is copied to the machine first needs no link during the installation: %s', async (_, image) => {
  await using link = await cuttableLink(machine.ports.any)
  const argv = await deployArguments(link.port)
  argv.splice(argv.indexOf('--no-cache'), 3, '--image', image(), '--stage-image')
  const running = command(argv, { variables: variables() })
  let over = false
  void running.ended.then(() => (over = true))
  await running.printed(/"stage":"fetching the image"/)
  for (let cuts = 0; cuts < 20 && !over; cuts++) {
    await clock.sleep(150)
    link.cut()
  }
  expect(await outcome(running), running.stdout + running.stderr).toEqual(ACTIVE)
  expect(running.stdout).toContain('Copying image from /run/ironstage/images/')
  const [sshd] = await machine.processes(/sshd/)
  const left = await run('nsenter', ['-t', String(sshd), '-m', '-r', 'ls', '/run/ironstage/images'])
  expect(left.stdout).toBe('')
})

test('a machine that reboots after the last write and before the outcome is known has its disk cleared', async () => {
  await writeFile(join(machine.shared, 'hold'), '')
  const running = await deploying(machine.ports.any, 'good')
  await fileAppears(join(machine.shared, 'held'))
  expect(await content()).toBe('bootable')
  await reboot()
  expect(await outcome(running), running.stdout + running.stderr).toEqual(FAILED)
  expect(running.stderr).toMatch(/the target rebooted while it ran/)
})
