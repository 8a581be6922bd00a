import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { debianPackages, debianProgram, tool } from './peers.js'

const run = promisify(execFile)
const here = import.meta.url.replace('/dist/test/real/', '/test/real/')
const peer = (name: string): string => fileURLToPath(new URL(`./peers/${name}`, here))

/** What is built, and with what; its hash names the folder that it is kept in. */
const PINNED = peer('coreos-installer.txt')
const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ironstage-peers')

/** How a real coreos-installer is run. */
export interface RealRun {
  /** Of the disk; 512 unless said otherwise. */
  sectorSize?: number
  /** Whether it has a terminal for stdout and stderr, which then come together as stdout. */
  tty?: boolean
  /** Called with the disk's name before it runs. */
  prepare?: (device: string) => Promise<void>
}

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** A real coreos-installer that may write to one file, which it takes for a disk. */
export interface RealInstaller extends AsyncDisposable {
  /** Runs it as it is, without a disk. */
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
    run: (args) => tool('env', ...QUIET, binary, ...args),
    install: (disk, args, options = {}) => install(binary, preload, disk, args, options),
    [Symbol.asyncDispose]: () => rm(dirname(preload), { recursive: true, force: true }),
  }
}

/** Its path, once it is built. Who runs it has to keep it away from this host's disks. */
export async function realBinary(): Promise<string> {
  const pinned = await readFile(PINNED, 'utf8')
  const packages = [...pinned.matchAll(/^debian (.*)$/gm)].flatMap(([, names]) => names!.split(' '))
  await debianPackages(packages)
  const folder = join(CACHE, createHash('sha256').update(pinned).digest('hex').slice(0, 16))
  const binary = join(folder, 'bin/coreos-installer')
  if (!(await exists(binary))) await build(/^coreos-installer (\S+)$/m.exec(pinned)![1]!, folder)
  return binary
}

/** A backtrace belongs to whoever debugs the real one. */
const QUIET = ['-u', 'RUST_BACKTRACE', '-u', 'RUST_LIB_BACKTRACE'] as const

/** Built aside and moved when it is whole, so a run that was cut short leaves nothing that looks complete. */
async function build(version: string, folder: string): Promise<void> {
  // Debian's own is too old for it; rustup puts its into the home folder.
  const cargo = (await exists(join(homedir(), '.cargo/bin/cargo'))) ? join(homedir(), '.cargo/bin/cargo') : 'cargo'
  await mkdir(CACHE, { recursive: true })
  const building = await mkdtemp(join(CACHE, 'building-'))
  try {
    const argv = ['install', 'coreos-installer', '--locked', '--version', version, '--root', building]
    await run(cargo, argv, { maxBuffer: 64 * 2 ** 20 })
    await rename(building, folder).catch(async (error: unknown) => {
      // Another run was faster.
      if (!(await exists(join(folder, 'bin/coreos-installer')))) throw error
    })
  } finally {
    await rm(building, { recursive: true, force: true })
  }
}

async function compile(): Promise<string> {
  await debianProgram('gcc', 'gcc')
  const library = join(await mkdtemp(join(tmpdir(), 'ironstage-reread-')), 'reread.so')
  await run('gcc', ['-O2', '-Wall', '-shared', '-fPIC', '-o', library, peer('reread.c'), '-ldl'])
  return library
}

/** The loop device is made here over the caller's file, and is gone when this has ended; no other device is named. */
async function install(
  binary: string,
  preload: string,
  disk: string,
  args: readonly string[],
  { sectorSize = 512, tty = false, prepare }: RealRun,
): Promise<Ended> {
  const attach = ['--partscan', '--find', '--show', '--sector-size', String(sectorSize), disk]
  const { stdout } = await run('losetup', attach)
  const device = stdout.trim()
  if (!/^\/dev\/loop\d+$/.test(device)) throw new Error(`losetup said ${JSON.stringify(stdout)}`)
  try {
    await prepare?.(device)
    const own = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'] as const
    const beside = ['sh', peer('beside-udevd.sh'), device, preload] as const
    const argv = [binary, ...args.map((arg) => arg.replaceAll(DISK, device))]
    // A shell in between: the first process of a PID namespace gets other's children, which `script` waits for.
    const script = ['script', '-qefc', argv.map(quoted).join(' '), '/dev/null']
    const command = tty ? ['sh', '-c', '"$@" </dev/null; exit $?', 'sh', ...script] : argv
    // One that hangs must not hold the loop device for ever.
    const ended = await tool('timeout', '--kill-after=5', '60', 'unshare', ...own, ...beside, ...command)
    const named = (text: string) => text.replaceAll(device, DISK)
    return { code: ended.code, stdout: named(ended.stdout), stderr: named(ended.stderr) }
  } finally {
    await run('losetup', ['--detach', device])
  }
}

/** As one word of a shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
