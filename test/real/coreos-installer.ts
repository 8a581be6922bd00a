import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { debianProgram, tool } from './peers.js'

const run = promisify(execFile)
const peer = (name: string): string => fileURLToPath(new URL(`./peers/${name}`, import.meta.url))

/** What is built, and with what; its hash names the folder that it is kept in. */
const PINNED = peer('coreos-installer.txt')
const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ironstage-peers')

/** A real coreos-installer that may write to one file, which it takes for a disk. */
export interface RealInstaller extends AsyncDisposable {
  /**
   * Installs to `disk`, a file, as `coreos-installer install /dev/loopN ...args`.
   *
   * @returns what it printed, with `/dev/DISK` for the disk's name
   */
  install(disk: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }>
}

/**
 * Builds the real one, about nine minutes the first time. Needs root, for loop devices.
 *
 * @throws when it cannot be built: a missing peer is a failure, never a skip
 */
export async function realInstaller(): Promise<RealInstaller> {
  const pinned = await readFile(PINNED, 'utf8')
  const packages = [...pinned.matchAll(/^debian (.*)$/gm)].flatMap(([, names]) => names!.split(' '))
  await debianPackages(packages)
  const folder = join(CACHE, createHash('sha256').update(pinned).digest('hex').slice(0, 16))
  const binary = join(folder, 'bin/coreos-installer')
  if (!(await exists(binary))) await build(/^coreos-installer (\S+)$/m.exec(pinned)![1]!, folder)
  const preload = await compile()
  return {
    install: (disk, args) => install(binary, preload, disk, args),
    [Symbol.asyncDispose]: () => rm(dirname(preload), { recursive: true, force: true }),
  }
}

async function debianPackages(names: readonly string[]): Promise<void> {
  const known = await tool('dpkg-query', '-W', '-f', '${Package} ${Status}\\n', ...names)
  const there = new Set([...known.stdout.matchAll(/^(\S+) install ok installed$/gm)].map(([, name]) => name))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length === 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = ['-o', 'DPkg::Lock::Timeout=300']
  await run('apt-get', [...apt, 'update'], { env })
  await run('apt-get', [...apt, 'install', '-y', '--no-install-recommends', ...missing], { env })
}

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
async function install(binary: string, preload: string, disk: string, args: readonly string[]) {
  const { stdout } = await run('losetup', ['--partscan', '--find', '--show', disk])
  const device = stdout.trim()
  if (!/^\/dev\/loop\d+$/.test(device)) throw new Error(`losetup said ${JSON.stringify(stdout)}`)
  try {
    const own = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'] as const
    const beside = ['sh', peer('beside-udevd.sh'), device, preload] as const
    const ended = await tool('unshare', ...own, ...beside, binary, 'install', device, ...args)
    const named = (text: string) => text.replaceAll(device, '/dev/DISK')
    return { code: ended.code, stdout: named(ended.stdout), stderr: named(ended.stderr) }
  } finally {
    await run('losetup', ['--detach', device])
  }
}

/** Every file of an ext4 partition with its bytes and mode, as e2fsprogs' debugfs reads it. */
export async function filesIn(disk: string, { offset, length }: { offset: number; length: number }) {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-files-'))
  try {
    const partition = join(folder, 'partition')
    await writePart(disk, offset, length, partition)
    const ask = async (command: string) => (await tool('debugfs', '-R', command, partition)).stdout
    const files: Record<string, { mode: string; bytes: string }> = {}
    const walk = async (path: string): Promise<void> => {
      // Of a listing: /inode/mode/uid/gid/name/size/
      for (const [, mode, name] of (await ask(`ls -p ${path || '/'}`)).matchAll(
        /^\/\d+\/(\d+)\/\d+\/\d+\/([^/]*)\//gm,
      )) {
        if (name === '.' || name === '..' || name === 'lost+found') continue
        const at = `${path}/${name}`
        const isFolder = mode!.startsWith('04')
        files[at] = { mode: mode!, bytes: isFolder ? '' : await ask(`cat ${at}`) }
        if (isFolder) await walk(at)
      }
    }
    await walk('')
    return files
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writePart(disk: string, offset: number, length: number, to: string): Promise<void> {
  const [source, target] = [await open(disk), await open(to, 'w')]
  const bytes = Buffer.alloc(length)
  await source.read(bytes, 0, length, offset)
  await target.write(bytes)
  await Promise.all([source.close(), target.close()])
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
