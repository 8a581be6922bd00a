import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { LoopDevice } from './loop-device.js'
import { cachedPeer, exists } from './peer-cache.js'
import { debianPackages, debianProgram, peer, quoted, tool } from './peers.js'

const run = promisify(execFile)

/** The version and its build dependencies; the hash of this file is the name in the cache. */
const PINNED = peer('coreos-installer.txt')

export interface RealRun {
  /** Bytes in a sector of the disk; default 512. */
  sectorSize?: number
  /** True if stdout and stderr are a terminal; all output is then in `stdout`. */
  tty?: boolean
  /** Called with the disk's name before it runs. */
  prepare?: (device: string) => Promise<void>
}

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** A real coreos-installer whose only disk is a loop device over a file. */
export interface RealInstaller extends AsyncDisposable {
  /** Runs it without a disk. */
  run(args: readonly string[]): Promise<Ended>
  /**
   * Runs it with {@link DISK} in its arguments standing for a loop device over `disk`, a file. Kept away from every
   * other disk, but it looks at all of them: one at a time.
   *
   * @returns what it printed, with {@link DISK} for the device's name
   */
  install(disk: string, args: readonly string[], options?: RealRun): Promise<Ended>
}

/** A disk's name in arguments and in what was printed. */
export const DISK = '/dev/DISK'

/**
 * Builds the real one, about nine minutes the first time. Needs root, for loop devices.
 *
 * @throws when it cannot be built: a missing peer is a failure, never a skip
 */
export async function realInstaller(): Promise<RealInstaller> {
  const binary = await realBinary()
  const preload = await compile()
  return {
    run: (args) => tool('env', ...NO_BACKTRACE_ENV, binary, ...args),
    install: (disk, args, options = {}) => install(binary, preload, disk, args, options),
    [Symbol.asyncDispose]: () => rm(dirname(preload), { recursive: true, force: true }),
  }
}

/** The path of the real program. Callers have to keep it away from this host's disks. */
export async function realBinary(): Promise<string> {
  const pinned = await readFile(PINNED, 'utf8')
  const packages = [...pinned.matchAll(/^debian (.*)$/gm)].flatMap(([, names]) => names!.split(' '))
  await debianPackages(packages)
  const hash = createHash('sha256').update(pinned).digest('hex')
  const folder = await cachedPeer(hash.slice(0, 16), async (building) => {
    const version = /^coreos-installer (\S+)$/m.exec(pinned)![1]!
    // Debian's cargo is too old; rustup installs a newer one into the home folder.
    const rustup = join(homedir(), '.cargo/bin/cargo')
    const argv = ['install', 'coreos-installer', '--locked', '--version', version, '--root', building]
    await run((await exists(rustup)) ? rustup : 'cargo', argv, { maxBuffer: 64 * 2 ** 20 })
    return building
  })
  return join(folder, 'bin/coreos-installer')
}

/** Backtraces are for developers of coreos-installer. */
const NO_BACKTRACE_ENV = ['-u', 'RUST_BACKTRACE', '-u', 'RUST_LIB_BACKTRACE'] as const

async function compile(): Promise<string> {
  await debianProgram('gcc', 'gcc')
  const library = join(await mkdtemp(join(tmpdir(), 'ironstage-reread-')), 'reread.so')
  await run('gcc', ['-O2', '-Wall', '-shared', '-fPIC', '-o', library, peer('reread.c'), '-ldl'])
  return library
}

/** Attaches a loop device to the caller's file, and detaches it when the program has ended; it names no other device. */
async function install(
  binary: string,
  preload: string,
  disk: string,
  args: readonly string[],
  { sectorSize = 512, tty = false, prepare }: RealRun,
): Promise<Ended> {
  await using loop = await LoopDevice.attach(disk, { sectorSize })
  const { device } = loop
  await prepare?.(device)
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'] as const
  const beside = ['sh', peer('beside-udevd.sh'), device, preload] as const
  const argv = [binary, ...args.map((arg) => arg.replaceAll(DISK, device))]
  // The shell is the first process of the PID namespace and so adopts orphans, for which `script` would wait.
  const script = ['script', '-qefc', argv.map(quoted).join(' '), '/dev/null']
  const command = tty ? ['sh', '-c', '"$@" </dev/null; exit $?', 'sh', ...script] : argv
  // A program that hangs must not hold the loop device for ever.
  const ended = await tool('timeout', '--kill-after=5', '60', 'unshare', ...namespaces, ...beside, ...command)
  const named = (text: string) => text.replaceAll(device, DISK)
  return { code: ended.code, stdout: named(ended.stdout), stderr: named(ended.stderr) }
}
