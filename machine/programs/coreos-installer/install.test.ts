import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { Probe, seededRandom, systemClock, VirtualClock } from '../../../base/runtime/index.js'
import { imagePath, insideWith, readSmallImage, runInstaller } from '../../../test/kit/installer.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { compareWithImage } from '../../disk/compare-with-image.js'
import { describedDisk } from '../../disk/described-disk.js'
import { DiskError } from '../../disk/disk-error.js'
import { createFileDisk } from '../../disk/file-disk.js'
import { readGpt } from '../../disk/gpt.js'
import { inspectDisk } from '../../disk/inspect-disk.js'
import { ProbedDisk, type DiskPoint } from '../../disk/probed-disk.js'
import { parseIgnition } from '../../../ignition/index.js'

const MIB = 1024 * 1024
const SENTINEL = '00000000-0000-4000-a000-000000000001'
const IGNITION = '{"ignition":{"version":"3.4.0"}}'
const folder = mkdtempSync(join(tmpdir(), 'ironstage-install-'))
afterAll(() => rmSync(folder, { recursive: true }))
const clock = systemClock()

const described = (size = 128 * MIB, sectorSize = 512) => describedDisk({ name: 'sda', size, sectorSize })
const withDisk = (disk: SimulatedDisk) =>
  insideWith({ disks: [disk], files: { '/c.ign': IGNITION }, metalImage: imagePath })
const OFFLINE = ['install', '/dev/sda', '--offline', '--ignition-file', '/c.ign']

/** Fails, or otherwise acts, when a write touches a byte. */
function onWrite(at: number, act: () => void): Probe {
  const probe = new Probe()
  probe.attach((point, next) => {
    const { kind, offset, length } = point as unknown as DiskPoint
    if (kind === 'disk-write' && offset <= at && at < offset + length) act()
    return next()
  })
  return probe
}
const fail = (at: number) => () => {
  throw new DiskError('EIO', 'sda', at)
}

describe.each([
  ['described', () => Promise.resolve<SimulatedDisk>(described())],
  [
    'file',
    () => createFileDisk({ path: join(folder, 'sda.raw'), name: 'sda', size: 128 * MIB, sectorSize: 512, clock }),
  ],
])('on a %s disk', (kind, make) => {
  test('a disk with old data has only the image and the config afterwards', async () => {
    const disk = await make()
    for (const at of [0, 1.5 * MIB, 20 * MIB, 40 * MIB]) await disk.write(at, seededRandom(5).bytes(100_000))
    const inside = withDisk(disk)

    const outcome = await runInstaller(inside, [
      ...OFFLINE,
      '--append-karg',
      'foo=bar',
      '--append-karg',
      'a b',
      '--delete-karg',
      'mitigations=auto,nosmt',
    ])

    expect(outcome.code, outcome.stderr).toBe(0)
    expect(await compareWithImage(disk, imagePath, clock)).toMatchObject({ identical: true, differences: [] })
    const { boot } = await inspectDisk(disk, clock)
    expect(boot?.ignition).toMatchObject({ bytes: Buffer.from(IGNITION), mode: 0o600 })
    expect(boot?.entry?.kernelArguments).toEqual(expect.arrayContaining(['foo=bar', 'a', 'b']))
    expect(boot?.entry?.kernelArguments).not.toContain('mitigations=auto,nosmt')
    expect(kind === 'file' || (await disk.read(100 * MIB, 10)).every((byte) => byte === 0)).toBe(true)
    await disk[Symbol.asyncDispose]()
  })
})

test('offline, a terminal shows the progress in place', async () => {
  const { stderr } = await runInstaller(withDisk(described()), OFFLINE, { tty: true })
  expect(stderr).toBe(
    'Installing CoreOS x86_64 (512-byte sectors)\n' +
      '> Read disk 10.5 KiB/10.5 KiB (100%)   \r'.repeat(3) +
      '\nWriting Ignition config\nInstall complete.\n',
  )
})

test('a medium error in the image leaves an empty table', async () => {
  const disk = described()
  const { code, stderr } = await runInstaller(
    withDisk(new ProbedDisk(disk, onWrite(30 * MIB, fail(30 * MIB)), 'm')),
    OFFLINE,
  )
  expect(code).toBe(1)
  expect(stderr).toContain(`
Error: decoding and writing image

Caused by:
    Input/output error (os error 5)

Resetting partition table
Error: install failed
`)
  expect(await readGpt(disk)).toMatchObject({ partitions: [] })
})

test('a medium error in the boot filesystem, after the image is complete, leaves an empty table too', async () => {
  const disk = described()
  let armed = false
  const probe = onWrite(6 * MIB + 1024, () => {
    if (armed) fail(6 * MIB)()
    armed = true
  })
  const { code, stderr } = await runInstaller(withDisk(new ProbedDisk(disk, probe, 'm')), OFFLINE)
  expect(code).toBe(1)
  expect(stderr).toContain('Writing Ignition config\n\nError: Input/output error (os error 5)\n')
  expect(stderr).toMatch(/Resetting partition table\nError: install failed\n$/)
  expect((await readGpt(disk))?.partitions).toEqual([])
})

// Standard error of coreos-installer 0.27.0 on loop devices of these sizes.
const NO_ROOM_OUTPUT = ['deserialization failed', 'io error: No space left on device (os error 28)']
const NO_TABLE = [
  'invalid partition boundaries: partitions must have positive size, must not overlap, and must fit within the disk',
]
test.each([
  [0, 512, NO_ROOM_OUTPUT],
  [512, 512, NO_ROOM_OUTPUT],
  [1024, 512, NO_ROOM_OUTPUT],
  [8192, 512, NO_ROOM_OUTPUT],
  [16384, 512, NO_ROOM_OUTPUT],
  [16896, 512, NO_TABLE],
  [20480, 512, NO_TABLE],
  [33792, 512, NO_TABLE],
])('a disk of %i bytes has no room for a table', async (size, sectorSize, causes) => {
  const disk = described(size, sectorSize)
  const { code, stderr } = await runInstaller(withDisk(disk), OFFLINE)
  const chain = ['writing new GPT', ...causes].map((cause, index) => `    ${index}: ${cause}\n`).join('')
  expect(code).toBe(1)
  expect(stderr.slice(stderr.indexOf('\nError:'))).toBe(
    `\nError: overwriting disk partition table\n\nCaused by:\n${chain}\nResetting partition table\n` +
      `Error: restoring saved partitions\n\nCaused by:\n${chain}`,
  )
  const preserved = await runInstaller(withDisk(described(size, sectorSize)), [...OFFLINE, '--preserve-on-error'])
  expect(preserved.stderr).toMatch(/Preserving partition table as requested\nError: install failed\n$/)
})

test.each([
  [34304, 'Error: seeking disk\n\nCaused by:\n    Invalid argument (os error 22)\n'],
  [65536, 'Error: seeking disk\n\nCaused by:\n    Invalid argument (os error 22)\n'],
  [MIB, 'Error: decoding and writing image\n\nCaused by:\n    No space left on device (os error 28)\n'],
  [16 * MIB, 'Error: decoding and writing image\n\nCaused by:\n    No space left on device (os error 28)\n'],
])('a disk of %i bytes has no room for the image, and an empty table afterwards', async (size, block) => {
  const disk = described(size)
  const { code, stderr } = await runInstaller(withDisk(disk), OFFLINE)
  expect(code).toBe(1)
  expect(stderr.slice(stderr.indexOf('\nError:'))).toBe(
    `\n${block}\nResetting partition table\nError: install failed\n`,
  )
  expect((await readGpt(disk))?.partitions).toEqual([])
})

test('a disk of any size below 64 KiB is refused with a message', async () => {
  for (let size = 0; size <= 65536; size += 9000) {
    const { code, stderr } = await runInstaller(withDisk(described(size)), OFFLINE)
    expect([size, code]).toEqual([size, 1])
    expect(stderr).toMatch(/^Error: (restoring saved partitions|install failed)$/m)
  }
})

test('--preserve-on-error leaves the written image when only its config was wrong', async () => {
  const disk = described()
  const digest = `sha256-${'0'.repeat(64)}`
  const { code, stderr } = await runInstaller(withDisk(disk), [
    ...OFFLINE,
    '--ignition-hash',
    digest,
    '--preserve-on-error',
  ])
  expect(code).toBe(1)
  expect(stderr).toContain(
    'Error: writing Ignition configuration\n\nCaused by:\n' +
      '    0: failed to validate Ignition configuration digest\n    1: hash mismatch, computed',
  )
  expect(stderr).toMatch(/Preserving partition table as requested\nError: install failed\n$/)
  expect((await readGpt(disk))?.diskGuid).toBe(SENTINEL)
})

test('an image for other sectors is refused, and the table reset anyway', async () => {
  const disk = described(128 * MIB, 4096)
  const { code, stderr } = await runInstaller(withDisk(disk), OFFLINE)
  expect(code).toBe(1)
  expect(stderr).toContain('\nError: source has sector size 512 but destination has sector size 4096\n\nResetting')
  expect((await readGpt(disk))?.partitions).toEqual([])
})

test('killed at any byte, it writes nothing more and leaves no table of a half-written image', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 48 * MIB - 1 }), async (at) => {
      const disk = described()
      const killed = new AbortController()
      let writesAfter = 0
      const probe = onWrite(at, () => killed.abort(new Error('killed')))
      probe.attach((point, next) => {
        if (killed.signal.aborted && point.kind === 'disk-write') writesAfter++
        return next()
      })
      const run = runInstaller(withDisk(new ProbedDisk(disk, probe, 'm')), OFFLINE, { signal: killed.signal })
      await expect(run).rejects.toThrow('killed')
      expect(writesAfter).toBeLessThanOrEqual(1)
      const gpt = await readGpt(disk)
      if (gpt && gpt.partitions.length > 0) {
        const { differences } = await compareWithImage(disk, imagePath, clock)
        expect(differences).toEqual([])
      }
    }),
    { numRuns: 25, examples: [[0], [513], [2 * MIB], [6 * MIB + 1024], [48 * MIB - 1]] },
  )
})

test('a paced disk takes realistic time, and progress is printed', async () => {
  const lab = new VirtualClock()
  const run = runInstaller(withDisk(described()), OFFLINE, { clock: lab, writeRate: 8 * MIB })
  const { stderr } = await lab.until(run)
  expect(lab.elapsed()).toBeGreaterThan(5_900)
  expect(lab.elapsed()).toBeLessThan(6_200)
  const percents = [...stderr.matchAll(/\((\d+)%\)/g)].map(([, percent]) => Number(percent))
  expect(percents).toEqual([18, 35, 52, 68, 85, 100, 100, 100])
})

test('without an image the one that the machine carries is installed', async () => {
  const disk = described()
  const inside = insideWith({ disks: [disk], metalImage: imagePath })
  const { code, stderr } = await runInstaller(inside, ['install', '/dev/sda'])
  expect(code, stderr).toBe(0)
  expect(stderr).toMatch(/^Installing CoreOS x86_64 \(512-byte sectors\)\n/)
})

test('an image file is installed with the network configuration in its initramfs', async () => {
  const disk = described()
  const inside = insideWith({
    disks: [disk],
    files: { '/image': readSmallImage(), '/nm/a.nmconnection': 'A', '/nm/b.nmconnection': 'B', '/nm/sub/c': 'C' },
  })
  const { code, stderr } = await runInstaller(inside, [
    'install',
    '/dev/sda',
    '--image-file=/image',
    '--insecure',
    '-n',
    '--network-dir',
    '/nm/',
  ])
  expect(code, stderr).toBe(0)
  expect(stderr).toContain('Copying /nm/a.nmconnection to initramfs\nCopying /nm/b.nmconnection to initramfs\n')
  expect(stderr).not.toContain('Copying /nm/sub')
})

test('another disk with a filesystem labelled boot is noted', async () => {
  const old = describedDisk({ name: 'sdb', size: 128 * MIB, sectorSize: 512 })
  await runInstaller(insideWith({ disks: [old], metalImage: imagePath }), ['install', '/dev/sdb'])
  const uuid = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
  await old.write(6 * MIB + 1024 + 104, uuid)
  const { stderr } = await runInstaller(insideWith({ disks: [described(), old], metalImage: imagePath }), [
    'install',
    '/dev/sda',
  ])
  expect(stderr).toContain('\nNote: detected other devices with a filesystem labeled `boot`:\n  - /dev/sdb3\n')
})

test.each([
  [['install', '/dev/sda1', '--offline'], 'Error: checking whether /dev/sda1 is an IBM DASD disk'],
  [['install', '/dev/sda', '--offline', '-a', 'aarch64'], 'Error: cannot perform offline install; metadata missing\n'],
  [
    ['install', '/dev/sda', '-s', 'x', '--stream-base-url', 'http://127.0.0.1:1/'],
    'Downloading x86_64 metal image (raw.xz) and signature referenced from http://127.0.0.1:1/x.json\nError: fetching',
  ],
  [['install', '/dev/sda', '--offline', '--save-partindex', '0'], 'Error: partition index cannot be zero\n'],
  [['install', '-c', '/none.yaml'], 'Error: opening config file /none.yaml\n\nCaused by:\n    No such file'],
  [
    ['install', '-c', '/c.ign'],
    'Error: parsing config file /c.ign\n\nCaused by:\n    unknown field `ignition`, expected one of',
  ],
])('%j fails before the disk is touched', async (args, sentence) => {
  const disk = described()
  const { code, stderr } = await runInstaller(withDisk(disk), args)
  expect([code, stderr.slice(0, sentence.length)]).toEqual([1, sentence])
  expect(await readGpt(disk)).toBeUndefined()
})

test('many described disks can be installed', async () => {
  const disks = Array.from({ length: 50 }, () => described(10 * 1024 * MIB))
  const outcomes = await Promise.all(disks.map((disk) => runInstaller(withDisk(disk), OFFLINE)))
  expect(outcomes.every(({ code }) => code === 0)).toBe(true)
})

test('a Butane config is written to the disk unchanged, and refused at the first boot', async () => {
  const disk = described()
  const config = 'variant: fcos\nversion: 1.5.0\n'
  const inside = insideWith({ disks: [disk], metalImage: imagePath, files: { '/c.bu': config } })
  const { code } = await runInstaller(inside, ['install', '/dev/sda', '-i', '/c.bu'])
  expect(code).toBe(0)
  const { boot } = await inspectDisk(disk, clock)
  expect(boot?.ignition?.bytes.toString()).toBe(config)
  expect(() => parseIgnition(boot!.ignition!.bytes)).toThrow('this is a Butane file')
})

test('secure IPL does nothing on other architectures', async () => {
  const { code } = await runInstaller(withDisk(described()), [...OFFLINE, '--secure-ipl'])
  expect(code).toBe(0)
})
