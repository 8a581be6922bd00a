import type { ImageReference } from '../../../base/registry/index.js'
import { isObject } from '../../../base/runtime/index.js'
import type { FileTree } from '../../file-tree.js'
import { PodmanFailure } from './podman-failure.js'
import { nameOf, type PullCredentials } from './podman-registry.js'

/** Files that podman of root reads without --authfile (containers-auth.json(5)). */
const USUAL_FILES = ['/run/containers/0/auth.json', '/root/.config/containers/auth.json', '/root/.docker/config.json']

/**
 * The account for a repository: of the longest namespace in the first file that has one.
 *
 * @throws PodmanFailure for a file that is missing or damaged, and for an entry that is not base64
 */
export function pullCredentials(
  files: FileTree,
  image: ImageReference,
  authFile: string | undefined,
): PullCredentials | null {
  if (authFile !== undefined && !files.exists(authFile))
    throw new PodmanFailure(`credential file is not accessible: stat ${authFile}: no such file or directory`)
  const paths = authFile === undefined ? USUAL_FILES.filter((path) => files.exists(path)) : [authFile]
  for (const path of paths) {
    const found = accountIn(path, Buffer.from(files.read(path)).toString(), image)
    if (found) return found
  }
  return null
}

function accountIn(path: string, text: string, image: ImageReference): PullCredentials | null {
  const parts = nameOf(image).split('/')
  const keys = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'))
  const auths = authsOf(path, text)
  const key = keys.find((one) => Object.hasOwn(auths, one))
  const entry = key === undefined ? undefined : auths[key]
  const auth: unknown = isObject(entry) ? entry['auth'] : undefined
  if (typeof auth !== 'string' || auth === '') return null
  const decoded = decodeStrictly(auth)
  const colon = decoded.indexOf(':')
  // containers/image passes over an entry without a colon with a warning.
  if (colon < 0) return null
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1).replace(/^\0+|\0+$/g, '') }
}

function authsOf(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    const auths: unknown = isObject(value) ? (value['auths'] ?? {}) : undefined
    if (isObject(auths)) return auths
  } catch {
    // Reported below, as of any other text.
  }
  throw new PodmanFailure(`getting username and password: reading JSON file ${JSON.stringify(path)}: unmarshaling JSON`)
}

/** Go's base64.StdEncoding refuses what Node passes over. */
function decodeStrictly(text: string): string {
  const lines = text.replace(/[\r\n]/g, '')
  const body = lines.replace(/={0,2}$/, '')
  const bad = /[^A-Za-z\d+/]/.exec(body)?.index
  const isPadded = lines.length % 4 === 0
  if (bad === undefined && isPadded) return Buffer.from(lines, 'base64').toString()
  const at = bad ?? lines.length - (lines.length % 4)
  throw new PodmanFailure(`getting username and password: illegal base64 data at input byte ${at}`)
}
