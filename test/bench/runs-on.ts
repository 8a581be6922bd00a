import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { clock } from './measure.js'

/** The conditions under which figures were measured. */
export interface RunsOn {
  /** Start of the run, as ISO 8601. */
  at: string
  machine: { cpu: string; cores: number; memory_gib: number }
  /** Load average of the last minute before the run. */
  load: number
  /** Versions of Node, of this package (with its commit) and of the peers. */
  versions: Record<string, string>
}

/** Benchmarks run compiled; what they read stands beside the sources. */
const fromRoot = (path: string): string =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url.replace('/dist/test/', '/test/')))

/** Pins of the peers: the file, and where the version stands in it. */
const PEERS = {
  Ironic: ['test/real/peers/ironic.txt', /^ironic==(\S+)$/m],
  'coreos-installer': ['test/real/peers/coreos-installer.txt', /^coreos-installer (\S+)$/m],
  Ignition: ['test/real/peers/ignition/go.mod', /coreos\/ignition\/v2 v(\S+)/],
} as const

export async function runsOn(): Promise<RunsOn> {
  const processors = cpus()
  const { version } = JSON.parse(await readFile(fromRoot('package.json'), 'utf8')) as { version: string }
  const peers = Object.entries(PEERS).map(async ([name, [path, pinned]]) => [
    name,
    pinned.exec(await readFile(fromRoot(path), 'utf8'))![1]!,
  ])
  return {
    at: new Date(clock.now()).toISOString(),
    machine: {
      cpu: processors[0]?.model.trim() ?? 'unknown processor',
      cores: processors.length,
      memory_gib: Math.round(totalmem() / 2 ** 30),
    },
    load: Number(loadavg()[0]!.toFixed(1)),
    versions: {
      node: process.versions.node,
      ironstage: [version, await commit()].join(' '),
      ...Object.fromEntries(await Promise.all(peers)),
      xz: /xz.* (\d\S*)/.exec(await firstLine('xz', '--version'))?.[1] ?? 'none',
    },
  }
}

/** The machine and the versions, for the line above the table. */
export function described({ at, machine, load, versions }: RunsOn): string {
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const size = `${machine.cores} cores, ${machine.memory_gib} GiB`
  return `${machine.cpu}, ${size}; ${named.join(', ')}; ${at.slice(0, 10)}; load ${load} at the start`
}

/** Times say little when others take the processor. */
export const isBusy = ({ load, machine }: RunsOn): boolean => load > machine.cores / 4

async function commit(): Promise<string> {
  const git = (...argv: string[]) => firstLine('git', '-C', fromRoot(''), ...argv)
  const changed = (await git('status', '--porcelain')) === '' ? '' : ' with changes'
  return `(${(await git('rev-parse', '--short', 'HEAD')) || 'no commit'}${changed})`
}

const firstLine = async (program: string, ...argv: string[]): Promise<string> =>
  promisify(execFile)(program, argv).then(
    ({ stdout }) => stdout.split('\n')[0]!,
    () => '',
  )
