import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { DISK, realInstaller } from '../real/coreos-installer.js'
import { largeImage } from '../real/large-image.js'
import { beside, localTools } from '../real/local-host.js'
import { succeeds } from '../real/peers.js'
import { confinedCommands } from './confined-command.js'
import { childrenOf, clock, median, pssOf, timed, type Measured } from './measure.js'

const IMAGE = 256
const RUNS = 3
/** Between two looks at memory, in milliseconds. */
const SAMPLING_INTERVAL = 20

/** One deployment, in milliseconds. */
interface Deployed {
  /** From the start of the command to its end: with the comparison of the disk with the image. */
  whole: number
  installer: number
}

/** A deployment to a file on this host by the real coreos-installer, against the installer alone. Needs root. */
export async function localTarget(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  try {
    const tools = await localTools(folder)
    const { xz } = await largeImage(IMAGE)
    const config = join(folder, 'c.ign')
    await writeFile(config, JSON.stringify({ ignition: { version: '3.4.0' } }))
    const freshDisk = async (): Promise<string> => {
      const disk = join(folder, 'target.img')
      await rm(disk, { force: true })
      await succeeds('truncate', '-s', `${2 * IMAGE}M`, disk)
      return disk
    }
    const deploy = async (): Promise<string> => {
      const script = `disk=${await freshDisk()} image=${xz} config=${config}\n${DEPLOY}`
      return succeeded(await beside({ folder }, tools, script))
    }
    await using real = await realInstaller()
    const alone = async (...argv: string[]): Promise<number> => {
      const disk = await freshDisk()
      return timed(async () => {
        const { code, stdout, stderr } = await real.install(disk, argv)
        succeeded({ code, out: stdout + stderr })
      })
    }
    const all: Deployed[] = []
    const bare = await median(RUNS, async () => {
      all.push(timesOf(await deploy()))
      const install = ['install', DISK, '--image-file', xz, '--ignition-file', config, '--insecure']
      // Not counted: its device, and the udevd beside it.
      return (await alone(...install)) - (await alone('--version'))
    })
    const middle = (of: (one: Deployed) => number): number => all.map(of).sort((a, b) => a - b)[Math.floor(RUNS / 2)]!
    const peer = { name: 'coreos-installer', value: bare }
    const installer = middle((one) => one.installer)
    const whole = middle((one) => one.whole)
    const each = { unit: 'ms', runs: RUNS } as const
    return [
      { what: 'local target, whole deployment', ours: whole, peer, reach: null, ...each },
      { what: 'local target, the installer in it', ours: installer, peer, reach: 1.05 * bare, ...each },
      { what: 'local target, all but the installer', ours: whole - installer, peer: null, reach: 2000, ...each },
      {
        what: 'memory of a local installation, at most',
        ours: await mostMemory(deploy),
        peer: null,
        reach: 120,
        unit: 'MiB',
        runs: 1,
      },
      ...(await confinedCommands(folder)),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const DEPLOY = `began=$(date +%s%3N)
$ironstage deploy --target "local:$disk" --ignition "$config" --image "$image" --no-cache --json || exit
echo "took $(($(date +%s%3N) - began))"`

function succeeded({ code, out }: { code: number | null; out: string }): string {
  if (code !== 0) throw new Error(`a local installation ended with ${code}: ${out.slice(-2000)}`)
  return out
}

/** Times of a deployment, from the lines of its command. */
function timesOf(out: string): Deployed {
  const stages: { stage: string; at: number }[] = []
  for (const line of out.split('\n').filter((text) => text.startsWith('{'))) {
    const { event, stage, elapsed } = JSON.parse(line) as { event: string; stage?: string; elapsed?: number }
    if (event === 'progress' && stage !== undefined && elapsed !== undefined) stages.push({ stage, at: elapsed * 1000 })
  }
  const end = stages.findIndex(({ stage }) => stage === 'reading the disk back')
  const whole = /^took (\d+)$/m.exec(out)?.[1]
  if (end < 1 || whole === undefined) throw new Error(`no stage of the installer in ${JSON.stringify(stages)}`)
  return { whole: Number(whole), installer: stages[end]!.at - stages[end - 1]!.at }
}

/** The most memory of the command while it deploys, in MiB. Not measured while it is timed: each look stops it for a moment. */
async function mostMemory(deploy: () => Promise<string>): Promise<number> {
  let most = 0
  const running = { done: false }
  const watched = (async () => {
    while (!running.done) {
      const pid = await ownProcess(process.pid)
      if (pid !== undefined) most = Math.max(most, await pssOf(pid))
      await clock.sleep(SAMPLING_INTERVAL)
    }
  })()
  await deploy().finally(() => (running.done = true))
  await watched
  return most
}

/** The id of ironstage's process among the descendants of a process. */
async function ownProcess(pid: number): Promise<number | undefined> {
  for (const child of await childrenOf(pid)) {
    const argv = (await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')).split('\0')
    const found = argv[1] === IRONSTAGE ? child : await ownProcess(child)
    if (found !== undefined) return found
  }
  return undefined
}
