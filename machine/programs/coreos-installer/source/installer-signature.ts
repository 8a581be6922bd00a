import { Failure } from '../installer-error.js'
import { NoSignature, readSignatures, type PgpSignature } from './openpgp.js'
import type { ImageSource } from './source.js'

/** Signing keys of CoreOS that 0.27.0 includes, by fingerprint (from `gpg --show-keys` of its keys). */
const KNOWN_KEYS = new Map([
  ['36F612DCF27F7D1A48A835E4DBFCF71C6D9F90A6', 'Fedora (44) <fedora-44-primary@fedoraproject.org>'],
  ['4F50A6114CD5C6976A7F1179655A4B02F577861E', 'Fedora (45) <fedora-45-primary@fedoraproject.org>'],
  ['D924B10D3E810DABDD8B56B596E7E91491211FCE', 'Fedora (46) <fedora-46-primary@fedoraproject.org>'],
  ['567E347AD0044ADE55BA8A5F199E2F91FD431D51', 'Red Hat, Inc. (release key 2) <security@redhat.com>'],
])

/**
 * Prints gpg's lines after the image was written. There is no key to verify a signature with: one by a key that
 * coreos-installer knows is accepted with a note, and any other is refused as by gpg without its key.
 *
 * @throws Failure
 */
export function checkSignature(signature: ImageSource['signature'], print: (line: string) => void): void {
  if (signature.kind !== 'found') return
  try {
    const signatures = readSignatures(signature.bytes)
    const unknown = signatures.filter((one) => knownKey(one) === undefined)
    for (const one of signatures) tell(one, print)
    if (unknown.length === 0) return
  } catch (error) {
    if (!(error instanceof NoSignature)) throw error
    for (const line of error.lines) print(line)
  }
  throw new Failure('GPG verification failure')
}

function tell(signature: PgpSignature, print: (line: string) => void): void {
  const { made, algorithm, key, issuer } = signature
  print(`gpg: Signature made ${gpgTime(made)}`)
  print(`gpg:                using ${algorithm} key ${key}`)
  if (issuer !== undefined) print(`gpg:                issuer "${issuer}"`)
  const name = knownKey(signature)
  if (name === undefined) print("gpg: Can't check signature: No public key")
  else print(`Signature by "${name}" not verified, since a simulation has no keys`)
}

/** Name of a known key. Older signatures have only the key id, which is the end of the fingerprint. */
function knownKey({ key }: PgpSignature): string | undefined {
  for (const [fingerprint, name] of KNOWN_KEYS) if (fingerprint.endsWith(key)) return name
  return undefined
}

/** `Sat Nov 21 15:21:46 2026 UTC` */
function gpgTime(seconds: number): string {
  const [weekday, day, month, year, time] = new Date(seconds * 1000).toUTCString().replace(',', '').split(' ')
  return `${weekday} ${month} ${day!.replace(/^0/, ' ')} ${time} ${year} UTC`
}
