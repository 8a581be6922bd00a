import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { seededRandom, VirtualClock } from '../../../base/runtime/index.js'
import { badImageServer, testImages, type TestImages } from '../../../test/kit/images/bad-images.js'
import { storedXz } from '../../../test/kit/images/stored-xz.js'
import { insideWith, runInstaller } from '../../../test/kit/installer.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { memoryStream, type ByteStream } from '../../../base/bytes/byte-stream.js'
import { withBootVolume } from '../../disk/boot-volume.js'
import { describedDisk } from '../../disk/described-disk.js'
import { readGpt } from '../../disk/gpt.js'
import { inspectDisk } from '../../disk/inspect-disk.js'
import { NO_PACE } from '../../machine.js'
import type { ProgramMachine } from '../machine-program.js'
import { runInstaller as runInstallerOn } from './coreos-installer.js'
import { machineHost } from './installer-host.js'

/** Recordings of the real coreos-installer 0.27.0, without artefacts of the recording machine. */
interface Recorded {
  args: string[]
  tty: boolean
  code: number
  stdout: string
  stderr: string
  disk?: 'untouched' | 'empty table' | 'installed'
  partitions?: string[]
  kernelArguments?: { replaced?: [string, string][]; added: string[] }
  grubConsole?: string[]
  ignitionFolder?: string | null
  ignitionFile?: string | null
  ignition?: string | null
  requests?: string[]
}

const fixtures = new URL('../../../test/fixtures/coreos-installer/', import.meta.url)
const cases = JSON.parse(readFileSync(new URL('cases.json', fixtures), 'utf8')) as Record<string, Recorded>

const MIB = 1024 * 1024
const IGNITION =
  '{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/hostname","mode":420,"contents":{"source":"data:,node-0"}}]}}'
const CONFIG = `image-file: /images/fake-coreos-metal.raw.xz
ignition-file: /images/c.ign
append-karg: [foo=bar, baz]
insecure: true
dest-device: /dev/sda
`

/** Recorded with a server that sends 20 KiB ten times a second. */
const SLOW_SERVER_CASES = ['ok-url-slow', 'ok-url-slow-pty']
/** Recording in which the installer was killed. */
const KILLED = 'fail-url-stalled-killed'

/** Replaces sizes and names, which differ between the recorded image and the test's. */
function normalised(text: string): string {
  return text
    .replaceAll(/\d+(\.\d)? (B|KiB|MiB|GiB)/g, 'SIZE')
    .replaceAll(/fedora-coreos-[0-9a-f]{64}\/initramfs-\S+/g, 'initramfs')
    .replaceAll('/dev/loopNp1', '/dev/sda1')
    .replaceAll('/dev/loopN', '/dev/sda')
    .replaceAll(/127\.0\.0\.1:(PORT|\d+)/g, 'HOST')
}

let images: TestImages
let server: Awaited<ReturnType<typeof badImageServer>>

beforeAll(async () => {
  images = await testImages()
  server = await badImageServer(images, Buffer.from(IGNITION))
})
afterAll(() => server.close())

function machineFor(name: string): ProgramMachine {
  const size = name === 'fail-disk-too-small' ? 4 * MIB : 128 * MIB
  const mounts: Record<string, Record<string, string>> = {
    'fail-disk-busy-partition': { '/tmp/case/busy': '/dev/sda1' },
    'fail-disk-busy-whole': { '/mnt': '/dev/sda' },
  }
  return insideWith({
    disks: [describedDisk({ name: 'sda', size, sectorSize: 512 })],
    mounts: mounts[name] ?? {},
    files: {
      '/images/fake-coreos-metal.raw': images.raw,
      '/images/fake-coreos-metal.raw.xz': images.xz,
      '/images/fake-coreos-metal.raw.gz': images.gz,
      '/images/trunc.raw.xz': images.filledXz.subarray(0, images.filledXz.length >> 1),
      '/images/trunc.raw.zst': images.zst.subarray(0, images.zst.length >> 1),
      '/images/corrupt.raw.xz': images.corruptXz,
      '/images/noboot.raw.xz': images.withoutBootXz,
      '/images/badsig.raw.xz': images.xz,
      '/images/badsig.raw.xz.sig': 'this is no signature\n',
      '/images/c.ign': IGNITION,
      '/images/c.bu': 'variant: fcos\nversion: 1.5.0\n',
      '/images/html.ign': '<html><body>404</body></html>\n',
      '/images/nm/eth0.nmconnection': '[connection]\nid=eth0\ntype=ethernet\n',
      '/tmp/case/cfg.yaml': CONFIG,
    },
  })
}

async function stateOf(disk: SimulatedDisk): Promise<Recorded['disk']> {
  const gpt = await readGpt(disk)
  if (!gpt) return 'untouched'
  return gpt.diskGuid === '00000000-0000-4000-a000-000000000001' ? 'installed' : 'empty table'
}

const recorded = Object.entries(cases).filter(
  ([name]) => ![...SLOW_SERVER_CASES, KILLED].includes(name) && !name.startsWith('help'),
)

describe('as recorded', () => {
  test.each(recorded)('%s', async (name, wanted) => {
    const inside = machineFor(name)
    const disk = inside.disks.get('sda')!
    // A partition can only be in use when there is a table.
    if (name === 'fail-disk-busy-partition') await disk.write(0, images.raw.subarray(0, MIB))
    server.reset()
    const clock = new VirtualClock()
    const args = wanted.args.map((arg) =>
      arg.replace('/dev/loopN', '/dev/sda').replace('127.0.0.1:PORT', `127.0.0.1:${server.port}`),
    )

    const outcome = await clock.until(runInstaller(inside, args, { clock, tty: wanted.tty }))

    expect(normalised(outcome.stderr)).toBe(normalised(wanted.stderr))
    expect(normalised(outcome.stdout)).toBe(normalised(wanted.stdout))
    expect(outcome.code).toBe(wanted.code)
    if (wanted.disk) expect(await stateOf(disk)).toBe(wanted.disk)
    if (wanted.requests) expect(server.requests()).toEqual(wanted.requests)
    if (wanted.disk === 'installed') await expectInstalled(disk, wanted)
  })
})

async function expectInstalled(disk: SimulatedDisk, wanted: Recorded): Promise<void> {
  const clock = new VirtualClock()
  const report = await inspectDisk(disk, clock)
  const before = images.kernelArguments.map(
    (argument) => wanted.kernelArguments?.replaced?.find(([old]) => old === argument)?.[1] ?? argument,
  )

  expect(report.partitions.map(({ name }) => name)).toEqual(wanted.partitions)
  expect(report.boot?.entry?.kernelArguments).toEqual([...before, ...(wanted.kernelArguments?.added ?? [])])
  expect(report.boot?.firstBoot).toBe(true)
  expect(report.boot?.ignition?.bytes.toString() ?? null).toBe(wanted.ignition)
  expect(report.boot?.ignition?.mode ?? null).toBe(wanted.ignitionFile === null ? null : 0o600)
  const boot = report.partitions.find(({ name }) => name === 'boot')!
  await withBootVolume(disk, boot.offset, clock, async (volume) => {
    const console = (await volume.read('/grub2/console.cfg')).toString()
    const lines = console.split('\n')
    expect(lines.slice(lines.indexOf('# CONSOLE-SETTINGS-START') + 1, lines.indexOf('# CONSOLE-SETTINGS-END'))).toEqual(
      wanted.grubConsole,
    )
    if (wanted.ignitionFolder !== null)
      expect(await volume.stat('/ignition')).toMatchObject({ kind: 'directory', mode: 0o700, uid: 0, gid: 0 })
  })
}

/** Bytes in pieces of 20 KiB, with a tenth of a second between them. */
function slowly(bytes: Uint8Array, clock: VirtualClock): ByteStream {
  const source = memoryStream(bytes, 20 * 1024)
  let asked = 0
  return {
    ...source,
    next: async () => {
      const piece = await source.next()
      if (piece && asked++ > 0) await clock.sleep(100)
      return piece
    },
  }
}

let asLong: Buffer | undefined

test.each(SLOW_SERVER_CASES)('%s', async (name) => {
  const wanted = cases[name]!
  const clock = new VirtualClock()
  // About as long as the recorded image, so that percentages are the same.
  const image = (asLong ??= storedXz(Buffer.from(seededRandom(1).bytes(5_419_500))))
  const host = machineHost(insideWith({}), clock)
  let stderr = ''
  const code = await clock.until(
    runInstallerOn({
      argv: ['coreos-installer', 'install', '/dev/sda', '--image-file', '/image', '--insecure'],
      tty: wanted.tty,
      clock,
      random: seededRandom(1),
      pace: NO_PACE,
      signal: new AbortController().signal,
      host: { ...host, open: () => Promise.resolve({ bytes: slowly(image, clock), path: undefined }) },
      stdout: () => {},
      stderr: (text) => void (stderr += String(text)),
    }),
  )
  // The line with the image's source comes before the progress.
  const rest = (text: string) => text.slice(text.indexOf('Signature not found'))
  expect(rest(stderr)).toBe(rest(wanted.stderr))
  expect(code).toBe(wanted.code)
})

test('a killed download leaves an empty table, without clean-up', async () => {
  const inside = machineFor(KILLED)
  const killed = new AbortController()
  const reason = new Error('the machine lost power')
  server.reset()
  // The installer may still be reading bytes from before the stall.
  const emptied = () =>
    vi.waitFor(async () => expect(await stateOf(inside.disks.get('sda')!)).toBe('empty table'), 10_000)
  server.onStall(() => void emptied().finally(() => killed.abort(reason)))

  const run = runInstaller(
    inside,
    ['install', '/dev/sda', '--image-url', `http://127.0.0.1:${server.port}/stall/mid.raw.xz`, '--insecure'],
    { signal: killed.signal },
  )

  await expect(run).rejects.toBe(reason)
  expect(await stateOf(inside.disks.get('sda')!)).toBe('empty table')
})
