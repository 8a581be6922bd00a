import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isoImage, liveFiles } from '../kit/images/live-iso.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { median, memoryOf, timed, type Measured } from './measure.js'
import type { Row } from './rows.js'

const MIB = 2 ** 20
/** Bytes of the image; a real one has 800 MiB. */
const SIZE = 400 * MIB
const READERS = 200
const RANGE = 2 * MIB

/** A live ISO with an Ignition config in it, served beside the same file as it is, by one process. */
export async function servedImages(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  const file = join(folder, 'live.iso')
  await writeFile(file, isoImage({ ...liveFiles(), 'images/pxeboot/rootfs.img': Buffer.alloc(SIZE, 'rootfs ') }))
  const argv = ['--live-iso', '--live-kernel', '--live-initramfs', '--live-rootfs'].flatMap((flag) => [flag, file])
  const server = spawn(
    process.execPath,
    [IRONSTAGE, 'images', 'serve', ...argv, '--base-url', 'http://192.0.2.1', '--json'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const agent = new Agent({ keepAlive: true })
  try {
    const lines = createInterface({ input: server.stdout })
    const [line] = (await once(lines, 'line')) as [string]
    const { images } = JSON.parse(line) as { images: { iso: string; pxe: { rootfs: string } }[] }
    const { iso, pxe } = images[0]!
    const download = (url: string) => timed(() => read(url, agent))
    await Promise.all([download(iso), download(pxe.rootfs)])
    const whole = await sideBySide(
      9,
      () => download(iso),
      () => download(pxe.rootfs),
    )
    const atRest = await memoryOf(server.pid!)
    const ranges = (url: string) =>
      timed(() =>
        Promise.all(
          Array.from({ length: READERS }, (_, n) => {
            const start = (n * 1_999_993) % (SIZE - RANGE)
            return read(url, agent, { range: `bytes=${start}-${start + RANGE - 1}` })
          }),
        ),
      )
    let most = 0
    const reading = { done: false }
    const watched = (async () => {
      while (!reading.done) most = Math.max(most, await memoryOf(server.pid!))
    })()
    const ranged = await sideBySide(
      5,
      () => ranges(iso),
      () => ranges(pxe.rootfs),
    )
    reading.done = true
    await watched
    return [
      within('a customised ISO of 400 MiB downloaded', whole),
      within('200 readers of 2 MiB ranges at once', ranged),
      {
        what: 'memory while they read, over that at rest',
        ours: most - atRest,
        peer: null,
        reach: null,
        unit: 'MiB',
        runs: ranged.runs,
      },
    ]
  } finally {
    agent.destroy()
    server.kill()
    await once(server, 'close')
    await rm(folder, { recursive: true, force: true })
  }
}

interface Compared {
  ours: number
  plain: number
  runs: number
}

/** One after the other, so that both have the same machine; the medians. */
async function sideBySide(runs: number, ours: () => Promise<number>, plain: () => Promise<number>): Promise<Compared> {
  const others: number[] = []
  const own = await median(runs, async () => {
    others.push(await plain())
    return ours()
  })
  return { ours: own, plain: others.sort((a, b) => a - b)[Math.floor(runs / 2)]!, runs }
}

const within = (what: Row, { ours, plain, runs }: Compared): Measured => ({
  what,
  ours,
  peer: { name: 'the plain file', value: plain },
  reach: plain * 1.05,
  unit: 'ms',
  runs,
})

/** Reads it to its end. */
async function read(url: string, agent: Agent, headers: Record<string, string> = {}): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    request(url, { agent, headers }, (response) => {
      if (response.statusCode! >= 300) reject(new Error(`${url} answered ${response.statusCode}`))
      response.resume().on('end', resolve).on('error', reject)
    })
      .on('error', reject)
      .end()
  })
}
