import { createHash } from 'node:crypto'
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import lzma from 'lzma-native'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Probe, defined, seededRandom, silent, systemClock } from '../../base/runtime/index.js'
import { defaultMachineSpec } from '../hardware/default-spec.js'
import { NO_PACE, type FirstBoot, type Machine } from '../machine.js'
import type { MachineSpec } from '../machine-spec.js'
import { openMachines } from '../machines.js'

const MIB = 1024 * 1024
const image = new Promise<Buffer>((resolve, reject) => {
  readFile(new URL('../../images/coreos-metal.raw.xz', import.meta.url))
    .then((xz) => lzma.decompress(xz, {}, (bytes) => resolve(bytes)))
    .catch(reject)
})

// The key with its fingerprint as ssh-keygen -l prints it.
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ6CMr1mR0yQyqNQwVd9ClXk0Nh8hE2iX7sQe3C0Qf3V core@example'
const CONFIG = JSON.stringify({
  ignition: { version: '3.4.0' },
  passwd: { users: [{ name: 'core', sshAuthorizedKeys: [KEY] }] },
  storage: { files: [{ path: '/etc/hostname', mode: 420, contents: { source: 'data:,node-0' } }] },
  systemd: { units: [{ name: 'hello.service', enabled: true }] },
})

let stateDir: string
beforeEach(async () => void (stateDir = await mkdtemp(join(tmpdir(), 'ironstage-test-'))))
afterEach(() => rm(stateDir, { recursive: true, force: true }))

function spec(
  backing: MachineSpec['disks'][number]['backing'],
  firmware: MachineSpec['firmware'] = 'uefi',
): MachineSpec {
  const profile = defaultMachineSpec({ id: 'm1', firmware })
  return { ...profile, disks: profile.disks.map((disk) => ({ ...disk, size: 64 * MIB, backing })) }
}

async function lab(options: { probe?: Probe; seed?: number } = {}) {
  const reports: FirstBoot[] = []
  const machines = await openMachines({
    stateDir,
    clock: systemClock(),
    random: seededRandom(options.seed ?? 1),
    probe: options.probe ?? new Probe(),
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: () => {}, down: () => {}, firstBoot: (_, report) => reports.push(report) },
  })
  return { machines, reports, [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose]() }
}

async function boot(machine: Machine, kind: 'disk' | 'ramdisk') {
  await machine.setBoot(kind === 'disk' ? { kind } : { kind, parameters: {} })
  await machine.setPower('reboot')
  while (!machine.boot()) await new Promise((resolve) => setTimeout(resolve, 1))
  return machine.boot()!
}

async function sh(machine: Machine, line: string, stdin?: Uint8Array): Promise<string> {
  const argv = line.split(' ') as [string, ...string[]]
  const run = await machine.executor.start({ argv, effect: 'writes', ...defined({ stdin }) })
  let text = ''
  for await (const { bytes } of run.output) text += Buffer.from(bytes).toString()
  expect([line, await run.exit, text]).toEqual([line, { kind: 'exited', code: 0 }, text])
  return text
}

/** Makes an installed disk with the programs of the ramdisk. */
async function install(machine: Machine, config: string | null, disk = '/dev/sda'): Promise<void> {
  await boot(machine, 'ramdisk')
  await sh(machine, `dd of=${disk} status=none`, await image)
  if (config === null) return
  await sh(machine, `mount --mkdir ${disk}3 /mnt/boot`)
  await sh(machine, 'mkdir -m 0700 /mnt/boot/ignition')
  await sh(machine, 'tee /mnt/boot/ignition/config.ign', Buffer.from(config))
}

describe.each([{ kind: 'described' }, { kind: 'file' }] as const)('on a $kind disk', (backing) => {
  test('the first boot reads the config from the disk and removes it, later boots do not', async () => {
    await using l = await lab()
    const machine = await l.machines.create(spec(backing))
    await install(machine, CONFIG)
    expect(await boot(machine, 'disk')).toMatchObject({ outcome: 'disk' })

    const report = machine.firstBoot()!
    expect(l.reports).toEqual([report])
    expect(report).toMatchObject({
      ignitionVersion: '3.4.0',
      configDigest: createHash('sha256').update(CONFIG).digest('hex'),
      configMode: 0o644,
      hostname: 'node-0',
      users: [{ name: 'core', sshKeyFingerprints: [expect.stringMatching(/^SHA256:[\w+/]{43}$/)] }],
      files: ['/etc/hostname'],
      units: ['hello.service'],
      disk: '/dev/sda',
      failure: null,
    })
    expect(report.kernelArguments).toContain('ignition.platform.id=metal')

    expect(await boot(machine, 'disk')).toMatchObject({ outcome: 'disk' })
    expect(l.reports).toHaveLength(1)
    await boot(machine, 'ramdisk')
    await sh(machine, 'mount -o ro --mkdir /dev/disk/by-label/boot /mnt/x')
    expect(await sh(machine, 'ls /mnt/x')).not.toContain('ignition')
  })
})

test('a config that Ignition refuses leaves the machine in its emergency shell, with the first-boot flag and the config still there', async () => {
  await using l = await lab()
  const machine = await l.machines.create(spec({ kind: 'described' }))
  await install(machine, '{"ignition": {')
  await boot(machine, 'disk')
  expect(machine.firstBoot()).toMatchObject({ ignitionVersion: null, failure: expect.stringContaining('not JSON') })
  await boot(machine, 'disk')
  expect(l.reports).toHaveLength(2)
  await boot(machine, 'ramdisk')
  await sh(machine, 'mount -o ro --mkdir /dev/disk/by-label/boot /mnt/x')
  expect(await sh(machine, 'ls /mnt/x')).toContain('ignition.firstboot')
  expect(await sh(machine, 'ls /mnt/x/ignition')).toBe('config.ign\n')
})

test('without a config the first boot is reported too', async () => {
  await using l = await lab()
  const machine = await l.machines.create(spec({ kind: 'described' }, 'bios'))
  await install(machine, null)
  expect(await boot(machine, 'disk')).toMatchObject({ outcome: 'disk' })
  expect(machine.firstBoot()).toMatchObject({ ignitionVersion: null, configDigest: null, users: [], failure: null })
})

test('a first boot is known once nothing more of it is written to the disk', async () => {
  const probe = new Probe()
  await using l = await lab({ probe })
  const machine = await l.machines.create(spec({ kind: 'file' }))
  await install(machine, CONFIG)
  const duringWrites: (FirstBoot | undefined)[] = []
  using _watching = probe.attach(
    (_, next) => {
      duringWrites.push(machine.firstBoot())
      return next()
    },
    ['disk-write'],
  )
  await boot(machine, 'disk')
  expect(duringWrites.length).toBeGreaterThan(0)
  expect(duringWrites.filter((known) => known !== undefined)).toEqual([])
  expect(machine.firstBoot()).toMatchObject({ hostname: 'node-0' })
})

test('the firmware tries its boot entries before the disks in their order', async () => {
  await using l = await lab()
  const machine = await l.machines.create(spec({ kind: 'described' }))
  await install(machine, null, '/dev/sda')
  await sh(machine, 'dd if=/dev/sda of=/dev/sdb status=none')
  // The clone's partitions have the original's GUIDs, so a boot entry cannot distinguish them.
  await sh(machine, 'wipefs -a -q -f /dev/sda')
  await sh(machine, 'efibootmgr -c -d /dev/sdb -p 2 -L CoreOS -l \\EFI\\fedora\\shimx64.efi')
  await boot(machine, 'disk')
  expect(machine.firstBoot()).toMatchObject({ disk: '/dev/sdb' })
  await boot(machine, 'ramdisk')
  expect(await sh(machine, 'efibootmgr')).not.toContain('BootCurrent')
})

test('the entry of the second disk boots it, although the first one has a system too', async () => {
  await using l = await lab()
  const machine = await l.machines.create(spec({ kind: 'described' }))
  await install(machine, null, '/dev/sda')
  await sh(machine, 'dd if=/dev/sda of=/dev/sdb status=none')
  // Made again at the same place, the partition has a GUID of its own.
  const [, from, to] = /^ +2 +(\d+) +(\d+) /m.exec(await sh(machine, 'sgdisk -p /dev/sdb'))!
  await sh(machine, `sgdisk -d 2 -n 2:${from}:${to} -t 2:EF00 -c 2:EFI-SYSTEM /dev/sdb`)
  await sh(machine, 'efibootmgr -c -d /dev/sdb -p 2 -L CoreOS -l \\EFI\\fedora\\shimx64.efi')
  await boot(machine, 'disk')
  expect(machine.firstBoot()).toMatchObject({ disk: '/dev/sdb' })
})

test('a disk that cannot be read is skipped', async () => {
  const probe = new Probe()
  await using l = await lab({ probe })
  const machine = await l.machines.create(spec({ kind: 'described' }))
  await install(machine, null)
  using _broken = probe.attach((point, next) =>
    point.kind === 'disk-read' ? Promise.reject(Object.assign(new Error('bad sector'), { code: 'EIO' })) : next(),
  )
  expect(await boot(machine, 'disk')).toMatchObject({ outcome: 'no bootable device' })
})

test('an installed disk still boots after the process was killed and started again', async () => {
  await using before = await lab()
  const machine = await before.machines.create(spec({ kind: 'file' }))
  await install(machine, CONFIG)
  await using after = await lab({ seed: 2 })
  const same = after.machines.get('m1')!
  expect(await boot(same, 'disk')).toMatchObject({ outcome: 'disk' })
  expect(after.reports).toMatchObject([{ hostname: 'node-0' }])
})

test(
  'a first boot continues in the next process, at whatever write of it the process ends',
  { timeout: 120_000 },
  async () => {
    let at = 1
    for (let isWhole = false; !isWhole; at++) {
      const id = `m${at}`
      const probe = new Probe()
      await using before = await lab({ probe })
      const machine = await before.machines.create({ ...spec({ kind: 'file' }), id })
      await install(machine, CONFIG)
      let writes = 0
      let closing: PromiseLike<void> | undefined
      using _ending = probe.attach((point, next) => {
        if (point.kind === 'disk-write' && point['machine'] === id && ++writes === at)
          closing = before.machines[Symbol.asyncDispose]()
        return next()
      })
      await machine.setBoot({ kind: 'disk' })
      await machine.setPower('reboot')
      while (!closing && !machine.boot()) await new Promise((resolve) => setTimeout(resolve, 1))
      isWhole = !closing
      await closing
      await using after = await lab({ seed: 2 })
      const same = after.machines.get(id)!
      while (!same.boot()) await new Promise((resolve) => setTimeout(resolve, 1))
      expect([at, same.boot()]).toMatchObject([at, { outcome: 'disk' }])
      expect(same.firstBoot()).toMatchObject({ hostname: 'node-0', failure: null })
      await after.machines.remove(id)
    }
    expect(at).toBeGreaterThan(5)
  },
)

describe('coreos-installer on a machine', () => {
  const imageFile = fileURLToPath(new URL('../../images/coreos-metal.raw.xz', import.meta.url))
  const start = async (machine: Machine) => {
    await machine.executor.files.write('/tmp/ironic.ign', Buffer.from(CONFIG), { mode: 0o600 })
    const argv = ['coreos-installer', 'install', '--offline', '--ignition-file', '/tmp/ironic.ign', '/dev/sda'] as const
    return machine.executor.start({ argv: [...argv], effect: 'writes', id: 'install' })
  }

  test('installs a system that the machine then boots', async () => {
    await using l = await lab()
    const machine = await l.machines.create({ ...spec({ kind: 'file' }), metalImage: imageFile })
    await boot(machine, 'ramdisk')
    const run = await start(machine)
    let text = ''
    for await (const { bytes } of run.output) text += Buffer.from(bytes).toString()
    expect([await run.exit, text]).toEqual([{ kind: 'exited', code: 0 }, expect.stringContaining('Install complete.')])
    expect(await boot(machine, 'disk')).toMatchObject({ outcome: 'disk' })
    expect(machine.firstBoot()).toMatchObject({ hostname: 'node-0', failure: null })
  })

  test('leaves a disk that does not boot when power is lost during the installation', async () => {
    const probe = new Probe()
    await using l = await lab({ probe })
    const machine = await l.machines.create({ ...spec({ kind: 'file' }), metalImage: imageFile })
    await boot(machine, 'ramdisk')
    let off: Promise<void> | undefined
    using _cut = probe.attach((point, next) => {
      if (point.kind === 'disk-write' && (point['offset'] as number) >= 8 * MIB) off ??= machine.setPower('off')
      return next()
    })
    const run = await start(machine)
    expect(await run.exit).toEqual({ kind: 'unknown', why: 'm1 lost power' })
    await off
    expect(machine.power()).toBe('off')
    expect(await boot(machine, 'disk')).toMatchObject({ outcome: 'no bootable device' })
  })
})
