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
  /** Whether it has parts in C. */
  cgo?: boolean
  /** Flags of `go build`. */
  flags?: readonly string[]
}

/**
 * A program of one of the Go modules here, cached by the hash of its sources. The Go on the PATH may be too old to build
 * it; it fetches {@link TOOLCHAIN} through the module proxy, which the checksum database verifies.
 *
 * @param folder the module: go.mod, go.sum and sources
 * @throws when it cannot be built: a missing peer is a failure, never a skip
 */
export async function goPeer(folder: string, options: GoBuild = {}): Promise<string> {
  const { main = '.', cgo = false, flags = [] } = options
  const names = (await readdir(folder)).sort()
  const hash = createHash('sha256').update(TOOLCHAIN)
  if (Object.keys(options).length > 0) hash.update(JSON.stringify(options))
  for (const name of names) hash.update(name).update(await readFile(join(folder, name)))
  return cachedPeer(`go-${hash.digest('hex').slice(0, 16)}`, async (building) => {
    await debianProgram('go', 'golang-go')
    const caches = [`GOMODCACHE=${building}/mod`, `GOCACHE=${building}/cache`, 'GOFLAGS=-modcacherw']
    const env = ['env', '-C', building, ...caches] as [string, ...string[]]
    const go = await toolchain(env)
    const source = join(building, 'source')
    await mkdir(source)
    for (const name of names) await copyFile(join(folder, name), join(source, name))
    const program = join(building, 'program')
    const settings = ['GOTOOLCHAIN=local', `CGO_ENABLED=${cgo ? 1 : 0}`]
    await succeeds(...env, ...settings, go, 'build', '-C', source, '-o', program, ...flags, main)
    return program
  })
}

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
