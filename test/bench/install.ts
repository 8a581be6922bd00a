import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openImageCache, REHEARSAL_IMAGE } from '../../lab/index.js'
import { defaultMachineSpec } from '../../machine/index.js'
import { Scope, seededRandom, silent, type Random } from '../../base/runtime/index.js'
import { runToEnd } from '../../steps/index.js'
import { fileServer } from '../kit/images/image-files.js'
import { machineInRamdisk } from './machine-in-ramdisk.js'
import { clock, median, timed, type Measured } from './measure.js'

const run = promisify(execFile)
const MIB = 2 ** 20
const SIZE = 112 * MIB

/** `coreos-installer install --offline` on a machine, against decompressing the same image to a file. */
export async function installation(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  try {
    const { blocks, whole } = await makeImages(folder, seededRandom(1))
    const zstd = await cached('zstd', join(folder, 'cache-zstd'), blocks)
    const raw = await cached('raw', join(folder, 'cache-raw'), blocks)
    const ofBlocks = await onMachine(blocks)
    const ofWhole = await onMachine(whole)
    const oneThread = { name: 'xz | dd', value: await decompressed(blocks, '-dc') }
    const whileWhole = { name: 'xz | dd', value: await decompressed(whole, '-dc') }
    const threads = { name: 'xz -T0 | dd', value: await decompressed(blocks, '-T0', '-dc') }
    const ofZstd = await onMachine(zstd.path, zstd.check)
    const ofRaw = await onMachine(raw.path, raw.check)
    const copied = { name: 'cp, sha256sum', value: await copyAndDigest(raw.path, join(folder, 'copy')) }
    const fromXz = { peer: { name: 'from xz', value: ofBlocks }, reach: ofBlocks / 8, unit: 'ms', runs: RUNS } as const
    const each = { reach: 'peer', unit: 'ms', runs: RUNS } as const
    return [
      { what: 'install of a 112 MiB image of xz', ours: ofBlocks, peer: oneThread, ...each },
      { what: 'install of a 112 MiB image of xz in one block', ours: ofWhole, peer: whileWhole, ...each },
      { what: 'install of a 112 MiB image of xz in blocks', ours: ofBlocks, peer: threads, ...each },
      { what: 'install of a 112 MiB image from the cache (zstd)', ours: ofZstd, ...fromXz },
      { what: 'install of a 112 MiB image from the cache (raw)', ours: ofRaw, ...fromXz },
      {
        what: 'install of a 112 MiB image from the cache (raw), against a copy',
        ours: ofRaw,
        peer: copied,
        reach: copied.value * 1.3,
        unit: 'ms',
        runs: RUNS,
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const RUNS = 3

const decompressed = (image: string, ...argv: string[]): Promise<number> =>
  median(RUNS, async () => {
    const out = `${image}.raw`
    await rm(out, { force: true })
    const script = 'image=$1 out=$2; shift 2; xz "$@" "$image" | dd of="$out" bs=1M'
    return timed(() => run('sh', ['-c', script, 'sh', image, out, ...argv]))
  })

/** Least work of an installation from the cache: the file is held against its digest, and copied without its holes. */
const copyAndDigest = (image: string, copy: string): Promise<number> =>
  median(RUNS, async () => {
    await rm(copy, { force: true })
    const script = 'cp --reflink=auto --sparse=always "$1" "$2" && sha256sum "$1"'
    return timed(() => run('sh', ['-c', script, 'sh', image, copy]))
  })

/** Fills a cache as a first installation does. `check` is what a later process does before it installs from `path`. */
async function cached(
  as: 'zstd' | 'raw',
  folder: string,
  image: string,
): Promise<{ path: string; check: () => Promise<void> }> {
  const bytes = await readFile(image)
  await using server = await fileServer({ '/image.raw.xz': bytes })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const asset = { url: server.url('/image.raw.xz'), sha256, signature: 'where present' } as const
  const get = async () => {
    const cache = await openImageCache({ folder, as }, { clock, logger: silent })
    await using found = await cache.get(asset, { signal: new AbortController().signal })
    return found.path
  }
  return { path: await get(), check: async () => void (await get()) }
}

/** The rehearsal image with more behind it that compresses to about a third, as an operating system does. */
async function makeImages(folder: string, random: Random): Promise<{ blocks: string; whole: string }> {
  const raw = join(folder, 'image.raw')
  await run('sh', ['-c', 'xz -dc "$1" > "$2"', 'sh', REHEARSAL_IMAGE, raw])
  const file = await open(raw, 'r+')
  let at = (await file.stat()).size
  const words = Array.from({ length: 4096 }, () => Buffer.from(random.bytes(4 + Math.floor(random.next() * 24))))
  while (at < SIZE) {
    const parts: Buffer[] = []
    for (let length = 0; length < MIB; length += parts.at(-1)!.length)
      parts.push(words[Math.floor(random.next() ** 2 * words.length)]!)
    const { bytesWritten } = await file.write(Buffer.concat(parts).subarray(0, MIB), 0, undefined, at)
    at += bytesWritten
  }
  await file.truncate(SIZE)
  await file.close()
  const blocks = join(folder, 'blocks.raw.xz')
  const whole = join(folder, 'whole.raw.xz')
  const compress = 'out=$1 in=$2; shift 2; xz -c "$@" "$in" > "$out"'
  // Several threads write blocks.
  await run('sh', ['-c', compress, 'sh', blocks, raw, '-6', '-T2'])
  await run('sh', ['-c', compress, 'sh', whole, raw, '-1', '-T1'])
  await rm(raw)
  return { blocks, whole }
}

/** Milliseconds of an installation of the image in the machine's ramdisk, and of what is done before it. */
async function onMachine(image: string, before: () => Promise<void> = async () => {}): Promise<number> {
  await using scope = new Scope()
  const machine = await machineInRamdisk(scope, { ...defaultMachineSpec(1), metalImage: image })
  return await median(RUNS, () =>
    timed(async () => {
      await before()
      const argv = ['coreos-installer', 'install', '/dev/sda', '--offline'] as const
      const { exit, stderr } = await runToEnd(machine.executor, [...argv], { effect: 'writes' })
      if (exit.kind !== 'exited' || exit.code !== 0) throw new Error(`coreos-installer failed: ${stderr}`)
    }),
  )
}
