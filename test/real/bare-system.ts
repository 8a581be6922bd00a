import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { succeeds, tool } from './peers.js'

/** Programs of every system: a shell, and those that the lines of docs/install.md run besides. */
const PLAIN_PROGRAMS = ['sh', 'env', 'cat', 'chmod', 'ls', 'mkdir', 'timeout', 'uname', 'wget']

/** Parts that a system has besides. */
export interface SystemParts {
  /** Programs of this host, by name. */
  programs?: Readonly<Record<string, string>>
  /** Folders of this host that it sees too. */
  folders?: readonly string[]
  /** Folders of this host that it may write: caches that spare it minutes. */
  caches?: readonly string[]
  /** Programs in `/usr/lib` or in these folders, by name. */
  links?: Readonly<Record<string, string>>
  /** Lines of the shell that are programs there, by name. */
  scripts?: Readonly<Record<string, string>>
  environment?: Readonly<Record<string, string>>
}

/**
 * A system in namespaces of its own that has Debian's libraries and few programs: of Node.js, Go, Python and engines of
 * containers only what its parts name. It shares the network of this host.
 */
export class BareSystem implements AsyncDisposable {
  readonly #place: string
  readonly #argv: readonly string[]

  private constructor(place: string, argv: readonly string[]) {
    this.#place = place
    this.#argv = argv
  }

  static async open({
    programs = {},
    folders = [],
    caches = [],
    links = {},
    scripts = {},
    environment = {},
  }: SystemParts = {}): Promise<BareSystem> {
    const place = await mkdtemp(join(tmpdir(), 'ironstage-system-'))
    await mkdir(join(place, 'bin'))
    await mkdir(join(place, 'home'))
    const found = { ...(await plainPrograms()), ...programs }
    for (const name of Object.keys(found)) await symlink(`/programs/${name}`, join(place, 'bin', name))
    for (const [name, path] of Object.entries(links)) await symlink(path, join(place, 'bin', name))
    for (const [name, line] of Object.entries(scripts))
      await writeFile(join(place, 'bin', name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
    const settings = { PATH: '/usr/bin:/bin', HOME: '/home/reader', LANG: 'C.UTF-8', ...environment }
    const argv = ['bwrap', '--die-with-parent', '--unshare-all', '--share-net', '--clearenv']
    for (const [name, value] of Object.entries(settings)) argv.push('--setenv', name, value)
    argv.push('--ro-bind', '/usr/lib', '/usr/lib', '--symlink', 'usr/lib', '/lib', '--symlink', 'usr/bin', '/bin')
    argv.push(
      '--ro-bind',
      '/lib64',
      '/lib64',
      '--ro-bind',
      '/etc/ssl',
      '/etc/ssl',
      '--ro-bind',
      '/etc/resolv.conf',
      '/etc/resolv.conf',
    )
    argv.push('--ro-bind', '/etc/hosts', '/etc/hosts', '--ro-bind', join(place, 'bin'), '/usr/bin')
    argv.push('--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--bind', join(place, 'home'), '/home/reader')
    for (const [name, path] of Object.entries(found))
      argv.push('--ro-bind', await realpath(path), join('/programs', name))
    for (const folder of folders) argv.push('--ro-bind', folder, folder)
    for (const folder of caches) argv.push('--bind', folder, folder)
    argv.push('--chdir', '/home/reader')
    return new BareSystem(place, argv)
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.#place, 'home', name)), { recursive: true })
    await writeFile(join(this.#place, 'home', name), text)
  }

  /** Copies a folder of this host into the reader's. */
  copy(source: string, name: string): Promise<void> {
    return cp(source, join(this.#place, 'home', name), { recursive: true })
  }

  /** Runs lines of the shell, which end at the first that fails. */
  sh(lines: string): ReturnType<typeof tool> {
    const [program, ...argv] = this.#argv
    return tool(program!, ...argv, 'sh', '-ec', lines)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Go makes the files of its modules read-only.
    await succeeds('chmod', '-R', 'u+w', this.#place)
    await rm(this.#place, { recursive: true, force: true })
  }
}

async function plainPrograms(): Promise<Record<string, string>> {
  const programs: Record<string, string> = {}
  for (const name of PLAIN_PROGRAMS) programs[name] = (await succeeds('which', name)).trim()
  return programs
}
