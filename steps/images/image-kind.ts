import { UserError } from '../../base/runtime/index.js'
import { ERRORS } from '../errors.js'

export type ImageKind = 'raw' | 'gz' | 'xz' | 'zst'

/** Bytes that {@link imageKind} and {@link refusePages} need. */
export const KIND_BYTES = 4104

/** Bytes that coreos-installer reads of an image before it reads the disk. */
const MIN_RAW_IMAGE_BYTES = 2 ** 20

/** Recognises the format of an image by its first bytes, as coreos-installer does, never by a name. */
export function imageKind(start: Uint8Array): ImageKind {
  const begins = (...magic: number[]) => magic.every((byte, index) => start[index] === byte)
  if (begins(0x1f, 0x8b)) return 'gz'
  if (begins(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00)) return 'xz'
  // A frame or a skippable frame (RFC 8878, 3.1).
  if (begins(0x28, 0xb5, 0x2f, 0xfd) || (((start[0] ?? 0) & 0xf0) === 0x50 && begins(start[0]!, 0x2a, 0x4d, 0x18)))
    return 'zst'
  return 'raw'
}

/**
 * Refuses a web page, which login portals send with status 200.
 *
 * @param start the first {@link KIND_BYTES}, or the whole of a shorter file
 * @throws UserError (image-is-page)
 */
export function refusePages(start: Uint8Array, contentType: string | undefined, shownUrl: string): void {
  if (imageKind(start) !== 'raw') return
  const words = Buffer.from(start.subarray(0, 512)).toString('latin1').trimStart()
  const page = /^(<!doctype\s|<html[\s>]|<\?xml\s|<head[\s>])/i.test(words)
  const text = /^text\/html\b/i.test(contentType ?? '') && !/\0/.test(words)
  if (!page && !text) return
  throw new UserError('image-is-page', `${shownUrl} is a web page and no image`, {
    remedy: 'open it in a browser: it may ask for a login, or say that the image has moved',
  })
}

/** @throws UserError (image-too-short) for a file too short for an image of a disk */
export function refuseShort(kind: ImageKind, size: number, shownUrl: string): void {
  if (size > 0 && (kind !== 'raw' || size >= MIN_RAW_IMAGE_BYTES)) return
  throw new UserError('image-too-short', `${shownUrl} has ${size} bytes, which is no image of a disk`, {
    remedy: ERRORS['image-too-short'].remedy,
  })
}
