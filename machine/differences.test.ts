import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { insideWith, readImage, runInstaller } from '../test/kit/installer.js'
import { Probe, defined, seededRandom, silent, systemClock, VirtualClock } from '../base/runtime/index.js'
import { defaultMachineSpec } from './hardware/default-spec.js'
import { NO_PACE, type Machine } from './machine.js'
import { openMachines, type MachinesOptions } from './machines.js'

/** Tests of rows in docs/fidelity/: deliberate differences between simulated and real computers. */

async function opened(stateDir: string | null = null, over: Partial<MachinesOptions> = {}) {
  return openMachines({
    stateDir,
    clock: systemClock(),
    random: seededRandom(1),
    probe: new Probe(),
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: () => {}, down: () => {} },
    ...over,
  })
}

function spec() {
  const profile = defaultMachineSpec({ id: 'm1' })
  return { ...profile, disks: profile.disks.map((disk) => ({ ...disk, backing: { kind: 'described' } as const })) }
}

async function ramdisk(machine: Machine): Promise<Machine> {
  await machine.setBoot({ kind: 'ramdisk', parameters: {} })
  await machine.setPower('on')
  while (!machine.boot()) await new Promise((resolve) => setTimeout(resolve, 1))
  return machine
}

async function run(machine: Machine, line: string, stdin?: Uint8Array) {
  const argv = line.split(' ') as [string, ...string[]]
  const started = await machine.executor.start({ argv, effect: 'writes', ...defined({ stdin }) })
  let text = ''
  for await (const { bytes } of started.output) text += Buffer.from(bytes).toString()
  const exit = await started.exit
  return { text, code: exit.kind === 'exited' ? exit.code : -1 }
}

/** The beginning of a disk with XFS, as far as programs read it. */
function xfsDisk(): Buffer {
  const disk = Buffer.alloc(4096)
  disk.write('XFSB', 0, 'latin1')
  return disk
}

describe('the kernel of a ramdisk', () => {
  test('sees a new partition table as soon as it is written', async () => {
    await using machines = await opened()
    const machine = await ramdisk(await machines.create(spec()))
    expect((await run(machine, 'lsblk -nr -o NAME /dev/sda')).text).toBe('sda\n')
    await run(machine, 'dd of=/dev/sda status=none', await rehearsalImage())
    expect((await run(machine, 'lsblk -nr -o NAME /dev/sda')).text).toBe('sda\nsda1\nsda2\nsda3\nsda4\n')
  })

  test('mounts ext, FAT read-only, and nothing else', async () => {
    await using machines = await opened()
    const machine = await ramdisk(await machines.create(spec()))
    await run(machine, 'dd of=/dev/sda status=none', await rehearsalImage())
    await run(machine, 'dd of=/dev/sdb status=none', xfsDisk())
    expect(await run(machine, 'mount /dev/sda3 /mnt')).toMatchObject({ code: 0 })
    await run(machine, 'umount /mnt')
    expect(await run(machine, 'mount -o ro /dev/sda2 /mnt')).toMatchObject({ code: 0 })
    await run(machine, 'umount /mnt')
    expect(await run(machine, 'mount /dev/sda2 /mnt')).toMatchObject({ code: 32 })
    expect(await run(machine, 'mount /dev/sdb /mnt')).toEqual({
      code: 32,
      text: "mount: /mnt: unknown filesystem type 'xfs'.\n",
    })
  })
})

test('shred leaves what its last pass does, and takes the time of all', async () => {
  const clock = new VirtualClock()
  const probe = new Probe()
  const { size } = spec().disks[0]!
  await using machines = await opened(null, { clock, probe, pace: { ...NO_PACE, writeRate: size / 100 } })
  const machine = await ramdisk(await machines.create(spec()))
  let begun = 0
  using _watch = probe.attach((point, next) => {
    if (point.kind === 'disk-write' && point['offset'] === 0) begun++
    return next()
  })
  const shred = run(machine, 'shred --zero --verbose --iterations 2 /dev/sda')
  expect(await clock.until(shred)).toEqual({
    code: 0,
    text: ['1/3 (random)', '2/3 (random)', '3/3 (000000)'].map((pass) => `shred: /dev/sda: pass ${pass}...\n`).join(''),
  })
  expect(clock.elapsed() / 1000).toBeCloseTo(300)
  expect(begun).toBe(1)
})

test('a soft power-off is a hard one: the OS gets no time to shut down', async () => {
  await using machines = await opened()
  const machine = await ramdisk(await machines.create(spec()))
  const running = await machine.executor.start({ argv: ['sleep', '3600'], effect: 'reads' })
  await machine.setPower('off', { soft: true })
  expect(machine.power()).toBe('off')
  expect(await running.exit).toMatchObject({ kind: 'unknown' })
})

test('a described disk is empty after a restart of ironstage; one in a file is not', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'ironstage-described-'))
  try {
    const mixed = spec()
    mixed.disks[1] = { ...mixed.disks[1]!, backing: { kind: 'file' } } as never
    {
      await using machines = await opened(stateDir)
      const machine = await ramdisk(await machines.create(mixed))
      for (const disk of ['sda', 'sdb']) await run(machine, `dd of=/dev/${disk} status=none`, Buffer.from('still here'))
    }
    await using machines = await opened(stateDir)
    const machine = machines.get('m1')!
    while (!machine.boot()) await new Promise((resolve) => setTimeout(resolve, 1))
    expect((await run(machine, 'dd if=/dev/sda bs=10 count=1 status=none')).text).toBe('\0'.repeat(10))
    expect((await run(machine, 'dd if=/dev/sdb bs=10 count=1 status=none')).text).toBe('still here')
  } finally {
    await rm(stateDir, { recursive: true })
  }
})

describe('coreos-installer', () => {
  test('accepts a signature by the id of a CoreOS key, since it has no keys to verify it', async () => {
    const signed = (signature: Uint8Array) =>
      insideWith({ files: { '/i.raw.xz': readImage(), '/i.raw.xz.sig': signature } })
    const install = (signature: Uint8Array) =>
      runInstaller(signed(signature), ['install', '/dev/sda', '--image-file', '/i.raw.xz'])
    expect(await install(signatureBy('36F612DCF27F7D1A48A835E4DBFCF71C6D9F90A6'))).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        'Signature by "Fedora (44) <fedora-44-primary@fedoraproject.org>" not verified, since a simulation has no keys\n',
      ) as unknown,
    })
    expect(await install(signatureBy('00'.repeat(20)))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("gpg: Can't check signature: No public key\n") as unknown,
    })
    expect(await install(Buffer.from('nonsense'))).toMatchObject({ code: 1 })
  })

  test.each(['download', 'iso', 'pxe', 'pack'])('refuses the subcommand %s', async (command) => {
    expect(await runInstaller(insideWith({}), [command])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Error: ${command} is not simulated`) as unknown,
    })
  })
})

/** A version 4 signature (RFC 4880, 5.2.3), valid only in the issuer's fingerprint, which is all that is read. */
function signatureBy(fingerprint: string): Buffer {
  const hashed = Buffer.from(`162104${fingerprint}0502${'00'.repeat(4)}`, 'hex')
  const body = Buffer.concat([Buffer.from([4, 0, 1, 8, 0, hashed.length]), hashed, Buffer.from([0, 0])])
  return Buffer.concat([Buffer.from([0x88, body.length]), body])
}

async function rehearsalImage(): Promise<Buffer> {
  const { default: lzma } = await import('lzma-native')
  return new Promise((resolve) => lzma.decompress(readImage(), {}, resolve))
}
