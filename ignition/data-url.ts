import { readDataUrl } from './rules/data-url-syntax.js'

/**
 * The bytes of a `data:` URL (RFC 2397), null for any other URL and for one that Ignition cannot decode. Compression is
 * not undone.
 *
 * @example
 * import { dataUrlBytes } from 'ironstage/ignition'
 *
 * const bytes = dataUrlBytes('data:;base64,aGVsbG8=')
 */
export function dataUrlBytes(url: string): Uint8Array | null {
  const reading = readDataUrl(url)
  return 'bytes' in reading ? reading.bytes : null
}

/**
 * Text as a data URL in the form that the shipped install_coreos step writes: `data:,node-0`.
 *
 * @example
 * import { dataUrl } from 'ironstage/ignition'
 *
 * const file = { path: '/etc/motd', contents: { source: dataUrl('hello\n') } }
 */
export const dataUrl = (text: string): string => `data:,${encodeURIComponent(text)}`
