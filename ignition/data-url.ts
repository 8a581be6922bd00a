/**
 * The bytes of a `data:` URL (RFC 2397), null for any other URL and for one that cannot be decoded. Compression is not
 * undone.
 */
export function dataUrlBytes(url: string): Uint8Array | null {
  const match = /^data:([^,]*),(.*)$/s.exec(url)
  if (!match) return null
  const [, type = '', data = ''] = match
  try {
    if (/;\s*base64\s*$/i.test(type)) return Uint8Array.from(Buffer.from(decodeURIComponent(data), 'base64'))
    return percentDecoded(data)
  } catch {
    return null
  }
}

/** Percent-encoded bytes need not be UTF-8, which decodeURIComponent would insist on. */
function percentDecoded(data: string): Uint8Array {
  if (/%(?![\da-f]{2})/i.test(data)) throw new URIError('bad escape')
  const parts = data.split(/((?:%[\da-f]{2})+)/i)
  return Uint8Array.from(
    Buffer.concat(
      parts.map((part, i) => (i % 2 ? Buffer.from(part.replaceAll('%', ''), 'hex') : Buffer.from(part, 'utf8'))),
    ),
  )
}

/** Text as a data URL in the form that the shipped install_coreos step writes: `data:,node-0`. */
export const dataUrl = (text: string): string => `data:,${encodeURIComponent(text)}`
