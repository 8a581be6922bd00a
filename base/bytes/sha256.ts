import { createHash } from 'node:crypto'

/** SHA-256 in hexadecimal digits. */
export const sha256Hex = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
