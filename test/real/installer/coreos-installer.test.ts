import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installToFile } from '../../../machine/index.js'
import { systemClock, systemRandom } from '../../../base/runtime/index.js'
import { DISK, realInstaller, type Ended, type RealInstaller } from '../coreos-installer.js'
import type { Case } from './case.js'
import { CASES } from './cases.js'
import { USAGE } from './usage-cases.js'
import { diskState, firstDifference } from './disk-state.js'
import { makeDisk } from './disks.js'
import { makeImages } from './images.js'
import { behavingServer, HOST } from './server.js'
import { streams } from './streams.js'
import { hasFidelityRow } from '../../kit/fidelity/fidelity-rows.js'

const CONFIG = JSON.stringify({
  ignition: { version: '3.4.0' },
  storage: { files: [{ path: '/etc/hostname', mode: 420, contents: { source: 'data:,node-0' } }] },
})
const HASH = `sha256-${createHash('sha256').update(CONFIG).digest('hex')}`

let folder: string
let real: RealInstaller
/** One for each side, since they count what they are asked for. */
let servers: Record<'real' | 'ours', Awaited<ReturnType<typeof behavingServer>>>

beforeAll(async () => {
  real = await realInstaller()
  folder = await mkdtemp(join(tmpdir(), 'ironstage-installer-'))
  await makeImages(folder)
  servers = { real: await behavingServer(folder), ours: await behavingServer(folder) }
  await mkdir(join(folder, 'network/folder'), { recursive: true })
  const files = {
    'c.ign': CONFIG,
    'c.bu': 'variant: fcos\nversion: 1.5.0\n',
    'any.json': '[1]',
    'any.yaml': 'foo: bar\n',
    'network/b.nmconnection': '[connection]\nid=b\n',
    'network/a.nmconnection': '[connection]\nid=a\n',
    ...streams(`${servers.real.url}/ok`),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
})
afterAll(async () => {
  for (const server of Object.values(servers)) await server[Symbol.asyncDispose]()
  await real[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** Ours, with {@link DISK} in its arguments standing for a file. */
async function ours(disk: string, args: readonly string[], { sectorSize = 512, tty = false } = {}): Promise<Ended> {
  const ended = { stdout: '', stderr: '' }
  // A terminal shows both, with a carriage return at the end of a line.
  const shown = (text: string) => (ended.stdout += text.replaceAll('\n', '\r\n'))
  const code = await installToFile({
    args: args.map((arg) => arg.replaceAll(DISK, disk)),
    sectorSize,
    tty,
    architecture: 'x86_64',
    clock: systemClock(),
    random: systemRandom,
    signal: new AbortController().signal,
    stdout: (text) => void (tty ? shown(text) : (ended.stdout += text)),
    stderr: (text) => void (tty ? shown(text) : (ended.stderr += text)),
  })
  const named = (text: string) => text.replaceAll(disk, DISK)
  return { code, stdout: named(ended.stdout), stderr: named(ended.stderr) }
}

/** Without what the real one finds wrong with this host's own disks, what is drawn at random, and what takes its time. */
const output = ({ code, stdout, stderr }: Ended) => ({ code, stdout: lines(stdout), stderr: lines(stderr) })
const lines = (text: string): string[] =>
  text
    .replaceAll(servers.real.url, HOST)
    .replaceAll(servers.ours.url, HOST)
    .replace(/^(blkid: error|checking filesystems labeled 'boot'): [^]*?^\} failed with exit status: \d+\r?\n/m, '')
    .replaceAll(/(\/tmp\/coreos-installer-(partitions\.)?)\w{6}\b/g, '$1RANDOM')
    // These come once a second.
    .replaceAll(/(> )?Read disk [\d.]+ \w+(\/[\d.]+ \w+ \((?!100)\d+%\))?( {3}\r|\r?\n)/g, '')
    // A folder is read in no order.
    .replaceAll(/(Copying .* to initramfs\r?\n)+/g, (copied) => copied.split('\n').sort().join('\n').slice(1) + '\n')
    .split('\n')

describe('without a disk', () => {
  test.each(Object.entries(USAGE))('the same output and exit code: %s', async (_, args) => {
    expect(output(await ours('no disk', args))).toEqual(output(await real.run(args)))
  })
})

describe('with a disk', () => {
  test.each(Object.entries(CASES))('the same output and bytes: %s', async (_, one: Case) => {
    const { disk = {}, tty = false, files = {}, explained } = one
    const { sectorSize = 512 } = disk
    const theirDisk = join(folder, 'theirs.img')
    const ourDisk = join(folder, 'ours.img')
    const theirs = async (tries = 5): Promise<ReturnType<typeof output>> => {
      await makeDisk(theirDisk, disk)
      servers.real.reset()
      const prepare = (device: string) => writeFiles(files, servers.real.url, device)
      const ended = await real.install(theirDisk, argumentsOf(one, servers.real.url), { sectorSize, tty, prepare })
      // Where gpg ends early, it is chance whether the real one notices before everything is written.
      return ended.stderr.includes('Broken pipe') && tries > 1 ? theirs(tries - 1) : output(ended)
    }
    const mine = async () => {
      await makeDisk(ourDisk, disk)
      servers.ours.reset()
      await writeFiles(files, servers.ours.url, ourDisk)
      return output(await ours(ourDisk, argumentsOf(one, servers.ours.url), { sectorSize, tty }))
    }

    // A config file names the disk, which both sides call otherwise.
    const both = Object.keys(files).length > 0 ? [await theirs(), await mine()] : await Promise.all([theirs(), mine()])

    expect(both[1]).toEqual(both[0])
    const [left, our] = await Promise.all([diskState(theirDisk, sectorSize), diskState(ourDisk, sectorSize)])
    expect(our.table).toEqual(left.table)
    expect(our.boot).toEqual(left.boot)
    const difference = firstDifference(left.bytes, our.bytes, left.boot !== null && our.boot !== null)
    if (explained === undefined) expect(difference).toBeUndefined()
    else expect(hasFidelityRow(explained), explained).toBe(true)
  })
})

const inFolder = (text: string, url: string): string => text.replaceAll('@/', `${folder}/`).replaceAll(HOST, url)

const argumentsOf = ({ args }: Case, url: string): string[] =>
  args.map((arg) => (arg === 'HASH' ? HASH : inFolder(arg, url)))

async function writeFiles(files: Record<string, string>, url: string, disk: string): Promise<void> {
  for (const [path, text] of Object.entries(files))
    await writeFile(join(folder, path), inFolder(text, url).replaceAll(DISK, disk))
}
