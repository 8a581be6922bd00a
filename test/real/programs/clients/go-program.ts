import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { debianProgram } from '../../peers.js'

const run = promisify(execFile)

/** Where peers are kept over runs and over checkouts. */
const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ironstage-peers')

const PINNED = fileURLToPath(new URL('../../peers/go.txt', import.meta.url))

/** Where Go's own instructions put it. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/local/go/bin`

/**
 * The program that the Go of a folder makes, built the first time and named after what it is built of.
 *
 * @throws when it cannot be built: a missing peer is a failure, never a skip
 */
export async function goProgram(folder: string): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(folder)).sort()) hash.update(name).update(await readFile(join(folder, name)))
  return once(`go-${hash.digest('hex').slice(0, 16)}`, 'program', async (building) => {
    const go = await goCommand(await readFile(join(folder, 'go.mod'), 'utf8'))
    const output = ['-o', join(building, 'program')]
    // What go.sum does not name is not built.
    const env = { ...process.env, PATH, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local' }
    await run(go, ['build', '-trimpath', ...output, '.'], { cwd: folder, env })
  })
}

/** One that is there and new enough for a module, or the pinned one. */
async function goCommand(module: string): Promise<string> {
  const wanted = /^go (\d+)\.(\d+)/m.exec(module)!.slice(1).map(Number) as [number, number]
  const said = await run('go', ['env', 'GOVERSION'], { env: { ...process.env, PATH } }).catch(() => ({ stdout: '' }))
  const [, major, minor] = (/^go(\d+)\.(\d+)/.exec(said.stdout) ?? []).map(Number)
  if (major === wanted[0] && minor! >= wanted[1]) {
    const { stdout } = await run('go', ['env', 'GOROOT'], { env: { ...process.env, PATH } })
    return join(stdout.trim(), 'bin/go')
  }
  return fetchedGo()
}

/** Go as its own module proxy has it. */
async function fetchedGo(): Promise<string> {
  const pinned = await readFile(PINNED, 'utf8')
  const [, module, version, sum] = /^(golang\S+) (\S+) ([0-9a-f]{64})$/m.exec(pinned)!
  if (process.arch !== 'x64') throw new Error(`only Go for x64 is pinned: put one for ${process.arch} on the PATH`)
  const top = join(`${module}@${version}`, 'bin/go')
  return once(version!, top, async (building) => {
    const proxy = (process.env['GOPROXY'] ?? '').split(/[,|]/).find((url) => /^https?:/.test(url))
    const url = `${proxy ?? 'https://proxy.golang.org'}/${module}/@v/${version}.zip`
    const response = await fetch(url)
    if (!response.ok) throw new Error(`${url} was answered by ${response.status}`)
    const bytes = Buffer.from(await response.arrayBuffer())
    const found = createHash('sha256').update(bytes).digest('hex')
    if (found !== sum) throw new Error(`${url} has the SHA-256 ${found}, and not ${sum}`)
    const zip = join(building, 'go.zip')
    await writeFile(zip, bytes)
    await debianProgram('python3', 'python3')
    await run('python3', ['-m', 'zipfile', '-e', zip, building])
    await rm(zip)
    // A module's zip has no modes.
    for (const part of ['bin', 'pkg/tool/linux_amd64']) {
      const programs = join(building, `${module}@${version}`, part)
      for (const name of await readdir(programs)) await chmod(join(programs, name), 0o755)
    }
  })
}

/** Built aside and moved when it is whole, so a run that was cut short leaves nothing that looks complete. */
async function once(name: string, result: string, build: (building: string) => Promise<void>): Promise<string> {
  const at = join(CACHE, name, result)
  if (await exists(at)) return at
  await mkdir(CACHE, { recursive: true })
  const building = await mkdtemp(join(CACHE, 'building-'))
  try {
    await build(building)
    await rename(building, join(CACHE, name)).catch(async (error: unknown) => {
      // Another run was faster.
      if (!(await exists(at))) throw error
    })
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return at
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
