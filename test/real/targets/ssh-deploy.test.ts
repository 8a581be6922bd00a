import { existsSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import type { DeploymentReport } from '../../../apps/runs/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { command, type CommandRun } from '../../kit/commands/command.js'
import { MachineWithDisk } from '../machine-with-disk.js'
import { tool } from '../peers.js'
import { CORE_PASSWORD, SshMachine, type MachineOptions } from '../ssh-machine.js'

const CANARY = 'canary-ign-51d0c8e2'
const SECRET = `user:${CANARY}\n`
const ENCODED = {
  plain: CANARY,
  base64: Buffer.from(SECRET).toString('base64'),
  'gzip+base64': gzipSync(SECRET).toString('base64'),
  sudo: CORE_PASSWORD,
  'sudo in base64': Buffer.from(CORE_PASSWORD).toString('base64').replace(/=+$/, ''),
}
const CONFIG = {
  ignition: { version: '3.4.0' },
  passwd: { users: [{ name: 'core', passwordHash: CANARY }] },
  storage: {
    files: [
      { path: '/etc/one', contents: { source: `data:,${CANARY}` } },
      { path: '/etc/two', contents: { source: `data:;base64,${ENCODED.base64}` } },
      { path: '/etc/three', contents: { compression: 'gzip', source: `data:;base64,${ENCODED['gzip+base64']}` } },
    ],
  },
}

let target: MachineWithDisk
let machine: SshMachine
let disk: string

beforeEach(async () => {
  target = await MachineWithDisk.open({ size: '2G' })
  machine = target.machine
  disk = target.disk.file
  await writeFile(join(target.home, 'c.ign'), JSON.stringify(CONFIG))
})
afterEach(() => target?.[Symbol.asyncDispose]())

async function deploy(user: string, port: number, more: readonly string[] = [], variables = {}): Promise<CommandRun> {
  return command(
    [
      'deploy',
      ...(await target.targetOptions(user, port)),
      '--image',
      REHEARSAL_IMAGE,
      '--json',
      '--ignition',
      join(target.home, 'c.ign'),
      '--append-karg',
      'rehearsal=1',
      '--delete-karg',
      'quiet',
      ...more,
    ],
    { variables: { HOME: target.home, USER: 'tester', ...variables } },
  )
}

const reportOf = ({ stdout }: CommandRun) =>
  JSON.parse(
    stdout
      .trim()
      .split('\n')
      .findLast((line) => line.startsWith('{"event":"report"'))!,
  ) as DeploymentReport

/** The texts, and the files of both hosts, that contain a secret. */
async function found(texts: Readonly<Record<string, string>>): Promise<string[]> {
  const inTexts = Object.entries(texts).flatMap(([where, text]) =>
    Object.entries(ENCODED).flatMap(([kind, secret]) => (text.includes(secret) ? [`${kind} in ${where}`] : [])),
  )
  const [pid] = await machine.processes(/sshd/)
  const { folder } = machine
  const patterns = Object.values(ENCODED).flatMap((secret) => ['-e', secret])
  const at = ['upper', 'root/run', 'root/dev/shm'].map((name) => join(folder, 'machine', name))
  const { stdout } = await tool(
    'nsenter',
    '-t',
    String(pid),
    '-m',
    'grep',
    '-rlaF',
    ...patterns,
    ...at,
    join(folder, 'home'),
    machine.shared,
  )
  const own = await tool('grep', '-rlaF', '--exclude=disk.img', '--exclude=c.ign', ...patterns, target.home)
  return [...inTexts, ...stdout.split('\n'), ...own.stdout.split('\n')].filter((line) => line !== '')
}

describe('deploy --target ssh://', () => {
  test('ends active with the requested disk, and writes secrets nowhere else', async () => {
    const running = await deploy('core', machine.ports.password, [], {
      IRONSTAGE_SSH_PASSWORD: CORE_PASSWORD,
      IRONSTAGE_SUDO_PASSWORD: CORE_PASSWORD,
    })
    let ps = ''
    const watch = setInterval(() => void tool('ps', '-eo', 'args').then(({ stdout }) => (ps += stdout)), 100)
    const code = await running.ended
    clearInterval(watch)
    expect({ code }, running.stdout + running.stderr).toEqual({ code: 0 })
    expect(running.stdout).toContain('"provision_state":"active"')
    expect(running.stdout).toContain('"percent":100')
    expect(reportOf(running)).toMatchObject({ ok: true, disk: { table: 'gpt' } })

    const { boot } = await inspectDisk({ path: disk }, systemClock())
    expect(Buffer.from(boot!.ignition!.bytes).toString()).toContain(CANARY)
    expect(JSON.stringify(boot)).toContain('rehearsal=1')
    expect(ps).toContain('coreos-installer')
    expect(await found({ ps, stdout: running.stdout, stderr: running.stderr })).toEqual([])
  })

  test('--verify-boot reboots the machine and checks that it runs the installed system', async () => {
    const running = await deploy('admin', machine.ports.any, ['--allow', 'reboot', '--verify-boot'])
    await using _ = await bootsDisk(running, {})
    const code = await running.ended
    expect({ code }, running.stdout + running.stderr).toEqual({ code: 0 })
    const { checks } = reportOf(running)
    expect(checks.map(({ what, ok }) => [what, ok])).toEqual([
      ['Ignition config and kernel arguments', true],
      ['first boot, nonce', true],
      ['first boot, hostname', true],
      ['first boot, kernel arguments', true],
      ['first boot, kernel arguments', true],
    ])
  })

  test.each<[string, Partial<MachineOptions>, RegExp]>([
    [
      'its old system',
      { etc: {}, cmdline: 'ro quiet' },
      /there is no \/etc\/ironstage-boot-nonce.*kernel argument rehearsal=1 is missing.*quiet is still present/,
    ],
    ['with another hostname', { hostname: 'localhost' }, /the hostname is localhost instead of real/],
  ])('--verify-boot reports each mismatch: the machine boots %s', async (_, wrong, expected) => {
    const running = await deploy('admin', machine.ports.any, ['--allow', 'reboot', '--verify-boot'])
    await using _installed = await bootsDisk(running, wrong)
    expect(await running.ended).toBe(1)
    expect(running.stderr.replace(/\n/g, ' ')).toMatch(expected)
  })

  test('--plan contacts nothing, and --check only reads', async () => {
    const plan = await deploy('core', 1, ['--plan'])
    expect(await plan.ended).toBe(0)
    expect(plan.stdout).toContain('nothing was contacted')
    const check = await deploy('admin', machine.ports.any, ['--check'])
    expect(await check.ended, check.stderr).toBe(0)
    expect(JSON.parse(check.stdout.trim().split('\n').at(-1)!)).toMatchObject({ event: 'check', table: null })
    expect((await stat(disk)).blocks).toBe(0)
  })
})

/** Waits until the machine is to reboot, then stops it and boots the system on its disk. */
async function bootsDisk(running: CommandRun, wrong: Partial<MachineOptions>): Promise<AsyncDisposable> {
  const reboot = join(machine.shared, 'reboot')
  let over = false
  void running.ended.then(() => (over = true))
  while (!existsSync(reboot) && !over) await new Promise((resolve) => setTimeout(resolve, 50))
  expect(over, running.stdout + running.stderr).toBe(false)
  await machine.stop()
  const { boot } = await inspectDisk({ path: disk }, systemClock())
  const { storage } = JSON.parse(Buffer.from(boot!.ignition!.bytes).toString()) as {
    storage: { files: { path: string; contents: { source: string } }[] }
  }
  const contents = (path: string) =>
    decodeURIComponent(storage.files.find((file) => file.path === path)!.contents.source.replace(/^data:,/, ''))
  return SshMachine.open({
    disk: target.disk.device,
    instead: machine,
    newHostKeys: true,
    machineId: '3'.repeat(32),
    bootId: '00000000-0000-4000-8000-000000000003',
    hostname: contents('/etc/hostname'),
    cmdline: boot!.entry!.kernelArguments.join(' '),
    etc: { 'ironstage-boot-nonce': contents('/etc/ironstage-boot-nonce') },
    ...wrong,
  })
}
