import { X509Certificate } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { selfSigned } from '../../agent/index.js'
import { basicAuthorization } from '../../base/bytes/index.js'
import { basicAuth, type Guard, type ServiceSettings } from '../../ironic-mock/index.js'
import {
  defined,
  withClockHeld,
  hours,
  systemClock,
  systemRandom,
  urlSafeToken,
  UserError,
  type Clock,
  type Logger,
  type Scope,
  temporaryFolder,
  readNamedText,
} from '../../base/runtime/index.js'
import type { TlsIdentity, TlsOptions } from '../../base/wire/index.js'
import { isEveryAddress } from '../addresses/own-address.js'
import type { StateFolder } from '../state/state-folder.js'

/** Authentication of the API's clients, and the API's certificate. */
export interface Access {
  readonly guard?: Guard
  readonly tls?: TlsOptions
  /** Headers of the lab's own requests. */
  readonly headers: Readonly<Record<string, string>>
  /** File with the generated certificate, for clients to trust. */
  readonly caFile: string | null
}

export interface AccessOptions {
  service: ServiceSettings
  /** Listening host; null without a socket, and so without TLS. */
  host: string | null
  folder: StateFolder | null
  clock: Clock
  logger: Logger
  scope: Scope
}

/**
 * Sets up authentication and TLS of the API.
 *
 * @throws UserError for an unusable htpasswd file, certificate or key
 */
export async function openAccess(options: AccessOptions): Promise<Access> {
  const { service, host, clock, logger } = options
  const made = service.tls && host !== null ? await readServerIdentity(options, host) : null
  const tls = made && {
    ...made.identity,
    minVersion: `TLSv${service.tlsMinimum}` as const,
    ...defined({ ciphers: service.tlsCiphers ?? undefined }),
  }
  const secured = { caFile: made?.file ?? null, ...defined({ tls: tls ?? undefined }) }
  if (service.authStrategy === 'noauth') return { headers: {}, ...secured }
  // Passwords do not come from the seeded randomness: its values can be predicted.
  const own = { username: 'ironstage', password: urlSafeToken(systemRandom) }
  const guard = await basicAuth({ file: service.userFile, own, clock, logger })
  return { guard, headers: { authorization: basicAuthorization(own) }, ...secured }
}

interface ServerIdentity {
  readonly identity: TlsIdentity
  readonly file: string | null
}

export interface OwnIdentityOptions {
  /** Name of the files in the state folder, or in a temporary one without. */
  name: string
  /** Names and addresses that the certificate is for, at least one. */
  names: readonly [string, ...string[]]
  folder: StateFolder | null
  clock: Clock
  scope: Scope
}

async function readServerIdentity(options: AccessOptions, host: string): Promise<ServerIdentity> {
  const { service, clock } = options
  const { certFile, keyFile } = service
  if (certFile === null && keyFile === null) {
    const [address = host, ...also] = addresses(host, service.publicEndpoint)
    return ownIdentity({ ...options, name: 'ironic', names: [address, ...also] })
  }
  if (certFile === null || keyFile === null)
    throw new UserError('tls-identity', `[api]${certFile === null ? 'cert_file' : 'key_file'} is missing`, {
      remedy: 'give both [api]cert_file and [api]key_file, or neither for a certificate that is made',
      kind: 'usage',
    })
  const read = (path: string): Promise<string> =>
    withClockHeld(clock, `reading ${path}`, () => readNamedText(path)).catch((cause: unknown) => {
      throw new UserError('tls-identity', `${path} cannot be read`, {
        cause,
        remedy: 'name PEM files in [api]cert_file and [api]key_file',
        kind: 'usage',
      })
    })
  return { identity: { certificate: await read(certFile), key: await read(keyFile) }, file: null }
}

/** Generated certificate. It stays the same after a restart, since clients use its file. */
export async function ownIdentity({
  name,
  names: [address, ...also],
  folder,
  clock,
  scope,
}: OwnIdentityOptions): Promise<{ identity: TlsIdentity; file: string }> {
  const place = folder?.path ?? (await temporary(scope))
  const file = join(place, `${name}.crt`)
  const keyFile = join(place, `${name}.key`)
  return withClockHeld(clock, 'finding the certificate', async () => {
    const saved = await savedIdentity(file, keyFile)
    if (saved && isGood(saved.certificate, [address, ...also])) return { identity: saved, file }
    const made = await selfSigned({ hostname: hostname(), address, also, days: 365, random: systemRandom, clock })
    await writeFile(keyFile, made.key, { mode: 0o600 })
    await writeFile(file, made.certificate)
    return { identity: made, file }
  })
}

async function temporary(scope: Scope): Promise<string> {
  return scope.use(await temporaryFolder()).path
}

async function savedIdentity(file: string, keyFile: string): Promise<TlsIdentity | null> {
  try {
    return { certificate: await readNamedText(file), key: await readNamedText(keyFile) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Whether a certificate is valid for another day and for all names. Dates are in wall time, which peers use. */
function isGood(certificate: string, names: readonly string[]): boolean {
  try {
    const read = new X509Certificate(certificate)
    if (Date.parse(read.validTo) < systemClock().now() + hours(24)) return false
    return names.every((name) => (isIP(name) ? read.checkIP(name) : read.checkHost(name)) !== undefined)
  } catch {
    return false
  }
}

/** Addresses and names at which clients reach a server that listens on `host`. */
function addresses(host: string, publicEndpoint: string | null): string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const here = isEveryAddress(host) ? interfaces.map(({ address }) => address) : []
  const endpoint = publicEndpoint === null ? [] : [new URL(publicEndpoint).hostname.replace(/^\[|\]$/g, '')]
  return [...new Set([host, ...endpoint, ...here, '127.0.0.1', '::1', 'localhost', hostname()])]
}
