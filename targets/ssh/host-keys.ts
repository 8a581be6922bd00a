import { UserError } from '../../runtime/index.js'
import { certificateFault, type HostCertificate } from './host-certificate.js'
import {
  fingerprint,
  judgeAuthority,
  judgeHostKey,
  keyType,
  knownAs,
  type HostName,
  type KnownHostsFile,
} from './known-hosts.js'

/**
 * Which of a machine's systems is spoken to. Their host keys differ: a live image makes itself new ones at every boot,
 * what was installed makes its own at its first.
 */
export type BootPhase = 'live' | 'installed'

/**
 * Keys that were told beforehand, by phase. `proven` takes any key of an installed system that nobody knows, on the
 * condition that it shows the secret that was installed with it, and until then gives away no password.
 */
export interface HostKeyPins {
  live: readonly string[]
  installed: readonly string[] | 'proven'
}

export const NO_PINS: HostKeyPins = { live: [], installed: [] }

/**
 * Of `--host-key`: `SHA256:...` (the system that is there), `live=SHA256:...`, `installed=SHA256:...`,
 * `installed=proven`.
 *
 * @throws UserError (usage)
 */
export function parsePins(given: readonly string[]): HostKeyPins {
  const pins = { live: [] as string[], installed: [] as string[] }
  let proven = false
  for (const text of given) {
    const [, phase = 'live', value] = /^(?:(live|installed)=)?(.*)$/.exec(text)!
    if (phase === 'installed' && value === 'proven') proven = true
    else if (/^SHA256:[A-Za-z0-9+/]{43}=?$/.test(value!)) pins[phase as BootPhase].push(value!.replace(/=$/, ''))
    else
      throw new UserError('host-key-pin', `--host-key ${text} is no fingerprint of a host key`, {
        kind: 'usage',
        remedy:
          'give one as ssh-keygen -l prints it, SHA256:..., if need be after live= or installed=; or installed=proven',
      })
  }
  if (proven && pins.installed.length > 0)
    throw new UserError('host-key-pin', '--host-key installed=proven and a fingerprint exclude each other', {
      kind: 'usage',
      remedy: 'leave one of them out',
    })
  return proven ? { live: pins.live, installed: 'proven' } : pins
}

/** A host whose key is not the right one. */
export class HostKeyRefused extends UserError {
  override readonly name = 'HostKeyRefused'

  constructor(
    code: 'host-key-changed' | 'host-key-revoked' | 'host-key-unknown',
    message: string,
    /** Of the key that it showed. */
    readonly fingerprint: string,
    remedy: string,
  ) {
    super(code, message, { remedy })
  }
}

export interface HostKeyCheck {
  name: HostName
  files: readonly KnownHostsFile[]
  /** For the host that is the target; hosts on the way to it are known by files only. */
  pins: HostKeyPins | null
  phase: BootPhase
  /** Milliseconds since 1970. */
  now: number
}

/**
 * Whether to go on with a host that shows this key.
 *
 * @param certificate what the key came in, where it did
 * @returns `provisional` where the host must prove itself before it is told any secret
 * @throws HostKeyRefused when the key is unknown, changed or revoked; it says how to accept it
 */
export function checkHostKey(
  { name, files, pins, phase, now }: HostKeyCheck,
  key: Uint8Array,
  certificate: HostCertificate | null = null,
): 'trusted' | 'provisional' {
  const shown = fingerprint(key)
  const host = knownAs(name)
  const what = `the host key of ${host}, ${shown} (${keyType(key)}),`
  const verdict = judgeHostKey(files, name, key)
  if (verdict.kind === 'revoked')
    throw new HostKeyRefused(
      'host-key-revoked',
      `${what} is revoked in ${verdict.where}`,
      shown,
      'do not use this host until it has another key',
    )
  const pinned = pins?.[phase] ?? []
  if (pinned !== 'proven' && pinned.length > 0) {
    if (pinned.includes(shown)) return 'trusted'
    throw new HostKeyRefused(
      'host-key-changed',
      `${what} is not the one that was pinned: ${pinned.join(' or ')}`,
      shown,
      `if the machine was booted again and ${shown} is what its console shows, use ${pinOption(phase, shown)}`,
    )
  }
  if (verdict.kind === 'known') return 'trusted'
  const doubt = certificate && certificateDoubt(certificate, name, files, now)
  if (certificate && doubt === null) return 'trusted'
  if (pinned === 'proven') return 'provisional'
  const accept = pins ? `use ${pinOption(phase, shown)}` : `add it with ssh-keyscan${portOption(name)} ${name.host}`
  if (verdict.kind === 'changed')
    throw new HostKeyRefused(
      'host-key-changed',
      `${what} is another one than in ${verdict.where}, ${verdict.known}: another machine may answer in its place, or the machine was installed or booted again`,
      shown,
      `compare ${shown} with what the machine's console shows; if it is the same, ${accept}, or replace the entry: ssh-keygen -R ${quotedHost(host)}`,
    )
  const authority = doubt
    ? `, and its certificate ${doubt}`
    : verdict.authority
      ? ` (${verdict.authority} names a certificate authority, and the host shows no certificate that can be used here: one of an Ed25519 or ECDSA key)`
      : ''
  throw new HostKeyRefused(
    'host-key-unknown',
    `${what} is not known${authority}`,
    shown,
    `compare it with what the machine's console shows; if it is the same, ${accept}, or log in once with ssh to add it to known_hosts`,
  )
}

/** Why a certificate is not believed; null when it is. */
function certificateDoubt(
  certificate: HostCertificate,
  name: HostName,
  files: readonly KnownHostsFile[],
  now: number,
): string | null {
  const verdict = judgeAuthority(files, name, certificate.authority)
  const authority = fingerprint(certificate.authority)
  if (verdict.kind === 'revoked') return `is of an authority, ${authority}, that is revoked in ${verdict.where}`
  if (verdict.kind === 'unknown') return `is of an authority, ${authority}, that is not known for this host`
  return certificateFault(certificate, name.host, now)
}

const pinOption = (phase: BootPhase, shown: string): string =>
  phase === 'live' ? `--host-key ${shown}` : `--host-key installed=${shown}`

const portOption = ({ port }: HostName): string => (port === 22 ? '' : ` -p ${port}`)
const quotedHost = (host: string): string => (host.startsWith('[') ? `'${host}'` : host)
