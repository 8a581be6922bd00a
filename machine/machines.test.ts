import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Probe, seededRandom, silent, systemClock, VirtualClock, type Clock } from '../base/runtime/index.js'
import type { RunningCommand } from '../targets/index.js'
import { defaultMachineSpec } from './hardware/default-spec.js'
import { NO_PACE, type Boot, type FirstBoot, type Machine, type MachinePace } from './machine.js'
import { openMachines } from './machines.js'

const RAMDISK = { kind: 'ramdisk', parameters: { 'ipa-api-url': 'http://127.0.0.1:6385' } } as const

interface Events {
  up: string[]
  down: string[]
  firstBoots: FirstBoot[]
}

async function lab(
  options: { stateDir?: string; clock?: Clock; probe?: Probe; pace?: Partial<MachinePace>; seed?: number } = {},
) {
  const events: Events = { up: [], down: [], firstBoots: [] }
  const machines = await openMachines({
    stateDir: options.stateDir ?? null,
    clock: options.clock ?? systemClock(),
    random: seededRandom(options.seed ?? 1),
    probe: options.probe ?? new Probe(),
    logger: silent,
    pace: { ...NO_PACE, ...options.pace },
    events: {
      ramdiskUp: (machine, boot) => events.up.push(`${machine.spec.id} ${boot.id}`),
      down: (machine, boot) => events.down.push(`${machine.spec.id} ${boot.id}`),
      firstBoot: (_, report) => events.firstBoots.push(report),
    },
  })
  return { machines, events, [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose]() }
}

const spec = (id = 'm1') => {
  const profile = defaultMachineSpec({ id })
  return { ...profile, disks: profile.disks.map((disk) => ({ ...disk, backing: { kind: 'described' } as const })) }
}

async function until(condition: () => boolean): Promise<void> {
  for (let attempt = 0; !condition(); attempt++) {
    if (attempt > 2000) throw new Error('the condition never became true')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

async function bootRamdisk(machine: Machine): Promise<Boot> {
  await machine.setBoot(RAMDISK)
  await machine.setPower('reboot')
  await until(() => machine.boot() !== undefined)
  return machine.boot()!
}

async function output(run: RunningCommand): Promise<{ stdout: string; stderr: string }> {
  const text = { stdout: '', stderr: '' }
  for await (const { stream, bytes } of run.output) text[stream] += Buffer.from(bytes).toString()
  return text
}

const sh = async (machine: Machine, ...argv: [string, ...string[]]) => {
  const run = await machine.executor.start({ argv, effect: 'writes' })
  return { ...(await output(run)), exit: await run.exit }
}

describe('power and boot', () => {
  test('a machine boots its ramdisk, answers, and is unreachable once it is off', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    expect(machine.power()).toBe('off')
    expect(machine.boot()).toBeUndefined()
    await expect(machine.executor.files.read('/etc/hostname')).rejects.toThrow('m1 is powered off')

    const boot = await bootRamdisk(machine)
    expect(boot).toMatchObject({ outcome: 'ramdisk', source: RAMDISK })
    expect(l.events.up).toEqual([`m1 ${boot.id}`])
    expect(Buffer.from(await machine.executor.files.read('/proc/sys/kernel/random/boot_id')).toString()).toBe(
      `${boot.id}\n`,
    )
    expect((await sh(machine, 'cat', '/proc/cmdline')).stdout).toContain(' ipa-api-url=http://127.0.0.1:6385')

    await machine.setPower('off')
    expect(l.events.down).toEqual([`m1 ${boot.id}`])
    await expect(machine.executor.start({ argv: ['ls'], effect: 'reads' })).rejects.toThrow('m1 is powered off')
  })

  test('power changes are safe to repeat; a reboot is a new boot', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    await machine.setPower('off')
    const first = await bootRamdisk(machine)
    await machine.setPower('on')
    expect(machine.boot()).toEqual(first)
    const second = await bootRamdisk(machine)
    expect(second.id).not.toBe(first.id)
    expect(l.events.down).toEqual([`m1 ${first.id}`])
  })

  test('an empty disk is no bootable device', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    await machine.setPower('on')
    await until(() => machine.boot() !== undefined)
    expect(machine.boot()).toMatchObject({ outcome: 'no bootable device' })
    await expect(sh(machine, 'ls')).rejects.toThrow('m1 does not run the ramdisk')
  })

  test('hardware takes the time that it is paced with', async () => {
    const clock = new VirtualClock()
    await using l = await lab({ clock, pace: { power: 5_000, bootRamdisk: 90_000 } })
    const machine = await l.machines.create(spec())
    await machine.setBoot(RAMDISK)
    await clock.until(machine.setPower('on'))
    expect(clock.elapsed()).toBe(5_000)
    expect(machine.boot()).toBeUndefined()
    await clock.advance(90_000)
    expect(machine.boot()).toMatchObject({ outcome: 'ramdisk' })
  })

  test('hardware takes no time without a pace', async () => {
    const clock = new VirtualClock()
    await using l = await lab({ clock })
    const machine = await l.machines.create(spec())
    await machine.setBoot(RAMDISK)
    await clock.until(machine.setPower('on'))
    await until(() => machine.boot() !== undefined)
    expect(machine.boot()).toMatchObject({ outcome: 'ramdisk' })
    expect(clock.elapsed()).toBe(0)
  })

  test('power can be switched off while the machine is still booting', async () => {
    const clock = new VirtualClock()
    await using l = await lab({ clock, pace: { bootRamdisk: 90_000 } })
    const machine = await l.machines.create(spec())
    await machine.setBoot(RAMDISK)
    await clock.until(machine.setPower('on'))
    await clock.advance(1_000)
    await clock.until(machine.setPower('off'))
    await clock.advance(100_000)
    expect(l.events).toMatchObject({ up: [], down: [] })
  })

  test('the OS can switch its own machine off', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    expect((await sh(machine, 'systemctl', 'poweroff')).exit).toEqual({ kind: 'exited', code: 0 })
    await until(() => machine.power() === 'off')
  })

  test('two machines cannot share an id or a BMC; a removed one frees both', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec('m1'))
    await expect(l.machines.create(spec('m1'))).rejects.toThrow('there is a machine m1 already')
    await expect(l.machines.create({ ...spec('m2'), bmc: machine.spec.bmc })).rejects.toThrow(
      'the BMC of m2 is the one of m1',
    )
    expect(l.machines.byBmc(machine.spec.bmc!.address, 'm1')).toBe(machine)
    await l.machines.remove('m1')
    expect(l.machines.list()).toEqual([])
    expect(l.machines.byBmc(machine.spec.bmc!.address, 'm1')).toBeUndefined()
  })
})

describe('commands', () => {
  test("an unknown program ends with 127 and a shell's message", async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    expect(await sh(machine, 'frobnicate', '-x')).toEqual({
      stdout: '',
      stderr: 'frobnicate: command not found\n',
      exit: { kind: 'exited', code: 127 },
    })
  })

  test('a run is started once by id, and can then be followed from any offset', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    const command = {
      argv: ['tee', '-a', '/tmp/log'],
      effect: 'writes',
      stdin: Buffer.from('once\n'),
      id: 'r1',
    } as const
    const one = await machine.executor.start(command)
    const two = await machine.executor.start(command)
    expect([await output(one), await output(two)]).toEqual([
      { stdout: 'once\n', stderr: '' },
      { stdout: 'once\n', stderr: '' },
    ])
    expect(Buffer.from(await machine.executor.files.read('/tmp/log')).toString()).toBe('once\n')
    const later = await machine.executor.attach('r1', 3)
    expect(await output(later)).toEqual({ stdout: 'e\n', stderr: '' })
    expect(await later.exit).toEqual({ kind: 'exited', code: 0 })
    await expect(machine.executor.attach('r2', 0)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('a cancelled program ends by SIGTERM', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    const run = await machine.executor.start({ argv: ['sleep', '3600'], effect: 'reads' })
    await run.cancel()
    expect(await run.exit).toEqual({ kind: 'signalled', signal: 'SIGTERM' })
  })

  test('power loss ends a program at once, with an unknown exit', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    const run = await machine.executor.start({ argv: ['sleep', '3600'], effect: 'reads' })
    await machine.setPower('off')
    expect(await run.exit).toEqual({ kind: 'unknown', why: 'm1 lost power' })
  })

  test('under a terminal, streams are merged and lines end with CR LF', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    const run = await machine.executor.start({ argv: ['cat', '/nope'], effect: 'reads', tty: true })
    expect(await output(run)).toEqual({ stdout: 'cat: /nope: No such file or directory\r\n', stderr: '' })
  })

  test('an interceptor decides how a command ends', async () => {
    const probe = new Probe()
    const seen: unknown[] = []
    await using l = await lab({ probe })
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    using _fault = probe.attach(async (point, next) => {
      if (point.kind !== 'command') return next()
      seen.push(point['argv'])
      return { exitCode: 5, stderr: 'Error: broken\n' } as Awaited<ReturnType<typeof next>>
    })
    expect(await sh(machine, 'rm', '/etc/hostname')).toEqual({
      stdout: '',
      stderr: 'Error: broken\n',
      exit: { kind: 'exited', code: 5 },
    })
    expect(seen).toEqual([['rm', '/etc/hostname']])
    expect(await machine.executor.files.exists('/etc/hostname')).toBe(true)
  })

  test('an interceptor that throws ends the run as after a cut connection', async () => {
    const probe = new Probe()
    await using l = await lab({ probe })
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    using _fault = probe.attach((point, next) =>
      point.kind === 'command' ? Promise.reject(new Error('link down')) : next(),
    )
    expect((await sh(machine, 'ls')).exit).toEqual({ kind: 'unknown', why: 'link down' })
  })
})

describe('a state folder', () => {
  let stateDir: string
  beforeEach(async () => void (stateDir = await mkdtemp(join(tmpdir(), 'ironstage-test-'))))
  afterEach(() => rm(stateDir, { recursive: true, force: true }))

  test('after a SIGKILL the machine is on in the same boot, with its files and saved values; the program was killed', async () => {
    const before = await lab({ stateDir })
    const machine = await before.machines.create(spec())
    const boot = await bootRamdisk(machine)
    await machine.save('agent', { token: 't' })
    await machine.executor.files.write('/tmp/ironic.ign', Buffer.from('{}'), { mode: 0o600 })
    await machine.executor.files.remove('/etc/hostname')
    const finished = await machine.executor.start({ argv: ['echo', 'done'], effect: 'reads', id: 'finished' })
    await finished.exit
    await machine.executor.start({ argv: ['sleep', '3600'], effect: 'writes', id: 'running' })
    await sh(machine, 'efibootmgr', '-q', '-c', '-L', 'x')

    // Abandoned, not closed, as a killed process would leave it.
    await using after = await lab({ stateDir, seed: 2 })
    await until(() => after.events.up.length > 0)
    const same = after.machines.get('m1')!
    expect(after.events.up).toEqual([`m1 ${boot.id}`])
    expect(same.boot()).toEqual(boot)
    expect(same.spec).toEqual(machine.spec)
    expect(same.saved('agent')).toEqual({ token: 't' })
    const { files } = same.executor
    expect(Buffer.from(await files.read('/tmp/ironic.ign')).toString()).toBe('{}')
    expect((await sh(same, 'stat', '-c', '%a', '/tmp/ironic.ign')).stdout).toBe('600\n')
    expect(await files.exists('/etc/hostname')).toBe(false)
    const ended = await same.executor.attach('finished', 0)
    expect([await output(ended), await ended.exit]).toEqual([
      { stdout: 'done\n', stderr: '' },
      { kind: 'exited', code: 0 },
    ])
    expect(await (await same.executor.attach('running', 0)).exit).toEqual({ kind: 'signalled', signal: 'SIGKILL' })
  })

  test('closing leaves the machines as they are', async () => {
    const before = await lab({ stateDir })
    const boot = await bootRamdisk(await before.machines.create(spec()))
    const run = await before.machines.get('m1')!.executor.start({ argv: ['sleep', '9'], effect: 'reads', id: 'r' })
    await before.machines[Symbol.asyncDispose]()
    expect(await run.exit).toEqual({ kind: 'signalled', signal: 'SIGKILL' })

    await using after = await lab({ stateDir })
    await until(() => after.events.up.length > 0)
    expect(after.machines.get('m1')!.boot()).toEqual(boot)
    expect(await (await after.machines.get('m1')!.executor.attach('r', 0)).exit).toMatchObject({ signal: 'SIGKILL' })
  })

  test('the next boot has no files, runs and saved values of the one before', async () => {
    await using l = await lab({ stateDir })
    const machine = await l.machines.create(spec())
    await bootRamdisk(machine)
    await machine.save('agent', 1)
    await machine.executor.files.write('/tmp/x', Buffer.from('x'))
    await (
      await machine.executor.start({ argv: ['true'], effect: 'reads', id: 'r' })
    ).exit
    await bootRamdisk(machine)
    expect(machine.saved('agent')).toBeUndefined()
    expect(await machine.executor.files.exists('/tmp/x')).toBe(false)
    await expect(machine.executor.attach('r', 0)).rejects.toMatchObject({ code: 'ENOENT' })
    await using again = await lab({ stateDir })
    await until(() => again.events.up.length > 0)
    expect(again.machines.get('m1')!.saved('agent')).toBeUndefined()
  })

  test('an interrupted boot continues', async () => {
    const before = await lab({ stateDir, pace: { bootRamdisk: 60_000 } })
    const machine = await before.machines.create(spec())
    await machine.setBoot(RAMDISK)
    await machine.setPower('on')
    await using after = await lab({ stateDir })
    await until(() => after.events.up.length > 0)
    expect(after.machines.get('m1')!.power()).toBe('on')
  })

  test('disk files are in the state folder and are removed with the machine', async () => {
    await using l = await lab({ stateDir })
    const machine = await l.machines.create(defaultMachineSpec({ id: 'a/b' }))
    await bootRamdisk(machine)
    await sh(machine, 'lsblk')
    expect(await readdir(join(stateDir, 'disks', 'a%2Fb'))).toEqual(['sda.img', 'sdb.img'])
    expect(execFileSync('du', ['-k', join(stateDir, 'disks')]).toString()).toMatch(/^\d{1,2}\t/)
    await l.machines.remove('a/b')
    expect(await readdir(join(stateDir, 'disks'))).toEqual([])
  })
})

test('a default machine is the same every time and different from every other', () => {
  expect(defaultMachineSpec(3)).toEqual(defaultMachineSpec(3))
  const all = Array.from({ length: 300 }, (_, n) => defaultMachineSpec(n + 1))
  const unique = (values: string[]) => expect(new Set(values).size).toBe(values.length)
  unique(all.flatMap(({ nics }) => nics.map(({ mac }) => mac)))
  unique(all.flatMap(({ disks }) => disks.map(({ serial }) => serial)))
  unique(all.flatMap(({ disks }) => disks.map(({ wwn }) => wwn)))
  unique(all.map(({ bmc }) => `${bmc!.address} ${bmc!.systemId}`))
  expect(all[0]!.nics[0]!.mac).toBe('52:54:00:00:00:02')
})
