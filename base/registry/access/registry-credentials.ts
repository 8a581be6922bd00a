import { join } from 'node:path'
import {
  defined,
  type Clock,
  withClockHeld,
  isObject,
  UserError,
  readNamedText,
  readJson,
} from '../../runtime/index.js'
import { ERRORS } from '../errors.js'

export type RegistryCredentials =
  | { kind: 'password'; user: string; password: string }
  /** A refresh token, which `docker login` keeps for some registries. */
  | { kind: 'identity token'; token: string }

export interface FoundCredentials {
  credentials: RegistryCredentials | null
  /** Where a credential helper would be asked, which is not done here: the file that names it. */
  helper?: { name: string; file: string }
}

export interface AuthFiles {
  /** Named by the user: the only one that is read, and it has to exist. */
  named?: string
  /** Read in order until one has credentials. */
  usual: readonly { path: string; form: 'auth.json' | 'dockercfg' }[]
}

/**
 * The files with credentials that podman, skopeo and oc read: `REGISTRY_AUTH_FILE` alone, or else the usual ones, in the order
 * of containers-auth.json(5).
 */
export function authFiles(
  variables: Readonly<Record<string, string | undefined>>,
  named: string | undefined,
): AuthFiles {
  const { REGISTRY_AUTH_FILE, XDG_RUNTIME_DIR, XDG_CONFIG_HOME, DOCKER_CONFIG, HOME } = variables
  const only = named ?? REGISTRY_AUTH_FILE
  if (only) return { named: only, usual: [] }
  const config = XDG_CONFIG_HOME || (HOME ? join(HOME, '.config') : '')
  const docker = DOCKER_CONFIG || (HOME ? join(HOME, '.docker') : '')
  const paths = [
    XDG_RUNTIME_DIR ? join(XDG_RUNTIME_DIR, 'containers/auth.json') : '',
    config ? join(config, 'containers/auth.json') : '',
    docker ? join(docker, 'config.json') : '',
  ]
  return {
    usual: [
      ...paths.filter(Boolean).map((path) => ({ path, form: 'auth.json' as const })),
      ...(HOME ? [{ path: join(HOME, '.dockercfg'), form: 'dockercfg' as const }] : []),
    ],
  }
}

/**
 * Finds the credentials for a repository: the longest namespace that a file has counts, and the first file that has one.
 *
 * @param name registry and repository: `quay.io/openshift/release`
 * @throws UserError `registry-auth-file` for a file that cannot be read
 */
export async function findCredentials(
  name: string,
  { named, usual }: AuthFiles,
  clock: Clock,
): Promise<FoundCredentials> {
  let helper: FoundCredentials['helper']
  const files = named === undefined ? usual : [{ path: named, form: 'auth.json' as const }]
  for (const { path, form } of files) {
    const text = await withClockHeld(clock, `reading ${path}`, () => readAuthFile(path, named !== undefined))
    if (text === null) continue
    const found = inFile(name, parseAuthFile(text, path, form), path, form)
    if (found.credentials) return found
    helper ??= found.helper
  }
  return { credentials: null, ...defined({ helper }) }
}

async function readAuthFile(path: string, mustExist: boolean): Promise<string | null> {
  try {
    return await readNamedText(path)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (!mustExist && (code === 'ENOENT' || code === 'ENOTDIR')) return null
    throw authFileError(path, 'cannot be read', cause)
  }
}

interface AuthDocument {
  auths: Readonly<Record<string, unknown>>
  credHelpers: Readonly<Record<string, unknown>>
  credsStore?: unknown
}

/** The text may hold secrets, so no message quotes any of it. */
function parseAuthFile(text: string, path: string, form: 'auth.json' | 'dockercfg'): AuthDocument {
  let value: unknown
  try {
    value = readJson(text, 'the file with credentials')
  } catch {
    throw authFileError(path, 'is not JSON')
  }
  if (!isObject(value)) throw authFileError(path, 'is not a JSON object')
  if (form === 'dockercfg') return { auths: value, credHelpers: {} }
  const { auths = {}, credHelpers = {}, credsStore } = value
  if (!isObject(auths) || !isObject(credHelpers)) throw authFileError(path, 'has no object at auths or credHelpers')
  return { auths, credHelpers, credsStore }
}

function inFile(
  name: string,
  { auths, credHelpers, credsStore }: AuthDocument,
  path: string,
  form: string,
): FoundCredentials {
  const [registry = ''] = name.split('/')
  const named = credHelpers[registry]
  if (typeof named === 'string') return { credentials: null, helper: { name: named, file: path } }
  const keys = form === 'dockercfg' ? [registry] : namespaces(name)
  const exact = keys.find((key) => Object.hasOwn(auths, key))
  // `docker login` wrote URLs for years, and still writes Docker Hub's.
  const key = exact ?? Object.keys(auths).find((one) => hostOfKey(one) === hubAlias(registry))
  const credentials = key === undefined ? null : decodeCredentials(auths[key], key, path)
  if (credentials) return { credentials }
  return typeof credsStore === 'string' && credsStore !== ''
    ? { credentials: null, helper: { name: credsStore, file: path } }
    : { credentials: null }
}

/** `a/b/c`, `a/b`, `a` */
const namespaces = (name: string): string[] => {
  const parts = name.split('/')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/'))
}

const hostOfKey = (key: string): string | undefined => {
  const [, host] = /^(?:https?:\/\/([^/]+).*|[^/]+)$/.exec(key) ?? []
  return host === undefined && key.includes('/') ? undefined : hubAlias(host ?? key)
}

const hubAlias = (host: string): string =>
  host === 'docker.io' || host === 'registry-1.docker.io' ? 'index.docker.io' : host

/** Null for the empty entry that `docker login` leaves when a helper keeps the credentials. */
function decodeCredentials(entry: unknown, key: string, path: string): RegistryCredentials | null {
  if (!isObject(entry)) throw authFileError(path, `has no object at auths of ${key}`)
  const { auth, identitytoken } = entry
  if (typeof identitytoken === 'string' && identitytoken !== '') return { kind: 'identity token', token: identitytoken }
  if (auth === undefined || auth === '') return null
  const text = typeof auth === 'string' ? Buffer.from(auth, 'base64').toString() : ''
  const colon = text.indexOf(':')
  if (colon < 0) throw authFileError(path, `has no USER:PASSWORD in base64 at auth of ${key}`)
  return { kind: 'password', user: text.slice(0, colon), password: text.slice(colon + 1).replace(/^\0+|\0+$/g, '') }
}

const authFileError = (path: string, what: string, cause?: unknown): UserError =>
  new UserError('registry-auth-file', `the file with credentials of registries, ${path}, ${what}`, {
    kind: 'usage',
    remedy: ERRORS['registry-auth-file'].remedy,
    ...defined({ cause }),
  })
