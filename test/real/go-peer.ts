import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedPeer } from './peer-cache.js'
import { debianProgram, succeeds } from './peers.js'

/** All programs are built with this release: the standard library's behaviour and messages differ between releases. */
const TOOLCHAIN = `golang.org/toolchain@v0.0.1-go1.26.8.linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`

export interface GoBuild {
  /** The package to build; default: the module's own. */
  main?: string
  /** True if it has parts in C. */
  cgo?: boolean
  /** Flags of `go build`. */
  flags?: readonly string[]
  /** Builds the package's tests, as `go test` does. */
  tests?: boolean
  /** Folders of other modules, which stand beside this one under these names. */
  modules?: Readonly<Record<string, string>>
}

/**
 * A program of one of the Go modules here, cached by the hash of its sources. The Go on the PATH may be too old to build
 * it; it fetches {@link TOOLCHAIN} through the module proxy, which the checksum database verifies.
 *
 * @param folder the module: go.mod, go.sum and sources
 * @throws when it cannot be built: a missing peer is a failure, never a skip
 */
export async function goPeer(folder: string, options: GoBuild = {}): Promise<string> {
  const { main = '.', cgo = false, flags = [], tests = false, modules = {} } = options
  const hash = createHash('sha256').update(TOOLCHAIN)
  const { modules: _, ...how } = options
  if (Object.keys(how).length > 0) hash.update(JSON.stringify(how))
  const places = { source: folder, ...modules }
  for (const place of Object.values(places))
    for (const name of await sourcesIn(place)) hash.update(name).update(await readFile(join(place, name)))
  return cachedPeer(`go-${hash.digest('hex').slice(0, 16)}`, async (building) => {
    await debianProgram('go', 'golang-go')
    const caches = [`GOMODCACHE=${building}/mod`, `GOCACHE=${building}/cache`, 'GOFLAGS=-modcacherw']
    const env = ['env', '-C', building, ...caches] as [string, ...string[]]
    const go = await toolchain(env)
    for (const [name, place] of Object.entries(places)) {
      await mkdir(join(building, name))
      for (const file of await sourcesIn(place)) await copyFile(join(place, file), join(building, name, file))
    }
    const program = join(building, 'program')
    const settings = ['GOTOOLCHAIN=local', `CGO_ENABLED=${cgo ? 1 : 0}`]
    const build = tests ? ['test', '-C', join(building, 'source'), '-c'] : ['build', '-C', join(building, 'source')]
    await succeeds(...env, ...settings, go, ...build, '-o', program, ...flags, main)
    return program
  })
}

const sourcesIn = async (folder: string): Promise<string[]> => (await readdir(folder)).sort()

/** The `go` of {@link TOOLCHAIN}. The zip file of a module has no file modes, so its programs become executable here. */
async function toolchain(env: [string, ...string[]]): Promise<string> {
  const stdout = await succeeds(...env, 'go', 'mod', 'download', '-json', TOOLCHAIN)
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string }
  for (const part of ['bin', 'pkg/tool']) {
    const entries = await readdir(join(folder, part), { recursive: true, withFileTypes: true })
    for (const entry of entries) if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
  return join(folder, 'bin/go')
}
