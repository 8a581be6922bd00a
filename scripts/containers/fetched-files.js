import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Files that images are made of, pinned by their digests and kept between runs.

const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ironstage-images')
const DEBIAN = 'http://deb.debian.org'
/** Keeps every version, where Debian's mirrors have the present one alone. */
const SNAPSHOTS = 'https://snapshot.debian.org/archive'

/** Gives a file of the cache; makes it the first time. An interrupted run leaves no part of it. */
export async function cachedFile(name, make) {
  const path = join(CACHE, name)
  if (existsSync(path)) return readFileSync(path)
  const bytes = await make()
  mkdirSync(CACHE, { recursive: true })
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, bytes)
  renameSync(unfinished, path)
  return bytes
}

/** A package of Debian, as its pin has it. */
export const debianPackage = ({ name, path, sha256 }, { date }) =>
  cachedFile(`${sha256}.deb`, async () => {
    const [archive, ...rest] = path.split('/')
    const urls = [`${DEBIAN}/${path}`, `${SNAPSHOTS}/${archive}/${date.replaceAll('-', '')}T000000Z/${rest.join('/')}`]
    const failures = []
    for (const url of urls) {
      const bytes = await download(url, failures)
      if (bytes && createHash('sha256').update(bytes).digest('hex') === sha256) return bytes
      if (bytes) failures.push(`${url} is another file`)
    }
    throw new Error(
      `Debian's ${name} cannot be had: ${failures.join('; ')}. node scripts/pin-containers.js pins what there is`,
    )
  })

async function download(url, failures) {
  try {
    const answer = await fetch(url.replaceAll('+', '%2B'))
    if (answer.ok) return Buffer.from(await answer.arrayBuffer())
    failures.push(`${url} was answered with ${answer.status}`)
  } catch (error) {
    failures.push(`${url}: ${error.cause?.message ?? error.message}`)
  }
  return undefined
}

/** A package of npm, as its pin has it. */
export const npmPackage = ({ name, integrity }, version) =>
  cachedFile(`${name}-${version}.tgz`, () => {
    mkdirSync(CACHE, { recursive: true })
    const folder = mkdtempSync(join(CACHE, 'packing-'))
    try {
      execFileSync('npm', ['pack', '--silent', `${name}@${version}`], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const bytes = readFileSync(join(folder, readdirSync(folder)[0]))
      const digest = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
      if (digest !== integrity) throw new Error(`npm's ${name}@${version} has ${digest}, not ${integrity}`)
      return bytes
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
