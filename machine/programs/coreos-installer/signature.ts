import { Failure } from './failure.js'
import type { ImageSource } from './source.js'

const ARMOUR = '-----BEGIN PGP SIGNATURE-----'
/** Old and new format of a packet with tag 2, a signature (RFC 4880, 4.2). */
const isSignaturePacket = (first: number | undefined): boolean =>
  first !== undefined && ((first & 0xfc) === 0x88 || first === 0xc2)

/**
 * What gpg would say once the image is on the disk. Bytes that are no signature are refused as recorded; a true one is
 * believed, since no public keys are here to check it with.
 */
export function checkSignature(signature: ImageSource['signature'], print: (line: string) => void): void {
  if (signature.kind !== 'found') return
  const { bytes } = signature
  if (isSignaturePacket(bytes[0]) || Buffer.from(bytes).includes(ARMOUR)) {
    print('Signature found; not verified, since a rehearsal has no keys')
    return
  }
  print('gpg: no valid OpenPGP data found.')
  print('gpg: the signature could not be verified.')
  print('Please remember that the signature file (.sig or .asc)')
  print('should be the first file given on the command line.')
  throw new Failure('GPG verification failure')
}
