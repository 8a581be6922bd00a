import { createHash } from 'node:crypto'
import { access, chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { debianProgram, tool } from './peers.js'

const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ironstage-peers')

/** What Go's standard library says and accepts differs between releases, so programs are built with this one. */
const TOOLCHAIN = `golang.org/toolchain@v0.0.1-go1.26.8.linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`

export interface GoBuild {
  /** The package to build; the module's own unless told otherwise. */
  main?: string
  /** Whether it has parts in C. */
  cgo?: boolean
  /** Of `go build`. */
  flags?: readonly string[]
}

/**
 * A program of a Go module of ours, built the first time and kept under the hash of its sources. Debian's Go is too old
 * to build with; it fetches, through the module proxy and checked by the checksum database, the Go that builds.
 *
 * @param folder holds the module: go.mod, go.sum and sources
 * @throws when it cannot be built: a missing peer is a failure, never a skip
 */
export async function goPeer(folder: string, options: GoBuild = {}): Promise<string> {
  const { main = '.', cgo = false, flags = [] } = options
  const names = (await readdir(folder)).sort()
  const hash = createHash('sha256').update(TOOLCHAIN)
  if (Object.keys(options).length > 0) hash.update(JSON.stringify(options))
  for (const name of names) hash.update(name).update(await readFile(join(folder, name)))
  const program = join(CACHE, `go-${hash.digest('hex').slice(0, 16)}`)
  if (
    await access(program).then(
      () => true,
      () => false,
    )
  )
    return program
  await debianProgram('go', 'golang-go')
  await mkdir(CACHE, { recursive: true })
  const building = await mkdtemp(join(CACHE, 'building-'))
  try {
    const goEnv = [
      'env',
      '-C',
      building,
      `GOMODCACHE=${building}/mod`,
      `GOCACHE=${building}/cache`,
      'GOFLAGS=-modcacherw',
    ]
    const go = await toolchain(goEnv)
    const source = join(building, 'source')
    await mkdir(source)
    for (const name of names) await copyFile(join(folder, name), join(source, name))
    const build = [
      'GOTOOLCHAIN=local',
      `CGO_ENABLED=${cgo ? 1 : 0}`,
      go,
      'build',
      '-C',
      source,
      '-o',
      join(building, 'program'),
      ...flags,
      main,
    ]
    await done(`building ${folder}`, [...goEnv, ...build])
    await rename(join(building, 'program'), program)
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return program
}

/** The `go` of {@link TOOLCHAIN}. Modules carry no file modes: what is to be run is made so. */
async function toolchain(goEnv: readonly string[]): Promise<string> {
  const { stdout } = await done(`fetching ${TOOLCHAIN}`, [...goEnv, 'go', 'mod', 'download', '-json', TOOLCHAIN])
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string }
  for (const part of ['bin', 'pkg/tool']) {
    const entries = await readdir(join(folder, part), { recursive: true, withFileTypes: true })
    for (const entry of entries) if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
  return join(folder, 'bin/go')
}

async function done(what: string, [program = '', ...argv]: readonly string[]): Promise<{ stdout: string }> {
  const { code, stdout, stderr } = await tool(program, ...argv)
  if (code !== 0) throw new Error(`${what} failed with ${code}: ${stderr.slice(-4000)}`)
  return { stdout }
}
