import { UserError } from '../../base/runtime/index.js'
import { certificateFault, type HostCertificate } from './host-certificate.js'
import {
  formatFingerprint,
  judgeAuthority,
  judgeHostKey,
  keyType,
  knownAs,
  type HostName,
  type KnownHostsFile,
} from './known-hosts.js'

/**
 * System of a machine that answers. Host keys differ between them: a live image generates new ones at every boot, an
 * installed system at its first.
 */
export type BootPhase = 'live' | 'installed'

/**
 * Fingerprints of expected host keys, by phase. `proven` accepts an unknown key of an installed system on condition that
 * the system shows the secret that was installed with it; until then it gets no password.
 */
export interface HostKeyPins {
  live: readonly string[]
  installed: readonly string[] | 'proven'
}

/**
 * Parses `--host-key`: `SHA256:...` (the current system), `live=SHA256:...`, `installed=SHA256:...`, `installed=proven`.
 *
 * @throws UserError (usage)
 */
export function parsePins(values: readonly string[]): HostKeyPins {
  const pins = { live: [] as string[], installed: [] as string[] }
  let proven = false
  for (const text of values) {
    const [, phase = 'live', value] = /^(?:(live|installed)=)?(.*)$/.exec(text)!
    if (phase === 'installed' && value === 'proven') proven = true
    else if (/^SHA256:[A-Za-z0-9+/]{43}=?$/.test(value!)) pins[phase as BootPhase].push(value!.replace(/=$/, ''))
    else
      throw new UserError('host-key-pin', `--host-key ${text} is not the fingerprint of a host key`, {
        kind: 'usage',
        remedy:
          'give one as ssh-keygen -l prints it, SHA256:..., optionally after live= or installed=; or installed=proven',
      })
  }
  if (proven && pins.installed.length > 0)
    throw new UserError('host-key-pin', '--host-key installed=proven and a fingerprint exclude each other', {
      kind: 'usage',
      remedy: 'leave one of them out',
    })
  return proven ? { live: pins.live, installed: 'proven' } : pins
}

/** The host key is unknown, changed or revoked. */
export class HostKeyRefused extends UserError {
  override readonly name = 'HostKeyRefused'

  constructor(
    code: 'host-key-changed' | 'host-key-revoked' | 'host-key-unknown',
    message: string,
    /** Fingerprint of the host's key. */
    readonly fingerprint: string,
    remedy: string,
  ) {
    super(code, message, { remedy })
  }
}

export interface HostKeyCheck {
  name: HostName
  files: readonly KnownHostsFile[]
  /** Null for jump hosts, whose keys must be in known_hosts. */
  pins: HostKeyPins | null
  phase: BootPhase
  /** Milliseconds since 1970. */
  now: number
}

/**
 * Checks the key of a host.
 *
 * @param certificate certificate that contained the key; null for a bare key
 * @returns `provisional` when the host must prove its identity before it gets any secret
 * @throws HostKeyRefused when the key is unknown, changed or revoked, with how to accept it
 */
export function checkHostKey(
  { name, files, pins, phase, now }: HostKeyCheck,
  key: Uint8Array,
  certificate: HostCertificate | null,
): 'trusted' | 'provisional' {
  const shown = formatFingerprint(key)
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
      `${what} differs from the one in ${verdict.where}, ${verdict.known}: another machine may answer, or the machine was installed or booted again`,
      shown,
      `compare ${shown} with what the machine's console shows; if it is the same, ${accept}, or replace the entry: ssh-keygen -R ${quotedHost(host)}`,
    )
  const authority = doubt
    ? `, and its certificate ${doubt}`
    : verdict.authority
      ? ` (${verdict.authority} names a certificate authority, and the host shows no usable certificate, which is one of an Ed25519 or ECDSA key)`
      : ''
  throw new HostKeyRefused(
    'host-key-unknown',
    `${what} is not known${authority}`,
    shown,
    `compare it with what the machine's console shows; if it is the same, ${accept}, or log in once with ssh to add it to known_hosts`,
  )
}

/** Reason why a certificate is not trusted; null when it is. */
function certificateDoubt(
  certificate: HostCertificate,
  name: HostName,
  files: readonly KnownHostsFile[],
  now: number,
): string | null {
  const verdict = judgeAuthority(files, name, certificate.authority)
  const authority = formatFingerprint(certificate.authority)
  if (verdict.kind === 'revoked') return `is signed by ${authority}, an authority that is revoked in ${verdict.where}`
  if (verdict.kind === 'unknown') return `is signed by ${authority}, an authority that is not known for this host`
  return certificateFault(certificate, name.host, now)
}

const pinOption = (phase: BootPhase, shown: string): string =>
  phase === 'live' ? `--host-key ${shown}` : `--host-key installed=${shown}`

const portOption = ({ port }: HostName): string => (port === 22 ? '' : ` -p ${port}`)
const quotedHost = (host: string): string => (host.startsWith('[') ? `'${host}'` : host)
