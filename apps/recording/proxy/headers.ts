/** Headers that concern one connection only (RFC 9110, 7.6.1), and those of proxies. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]

/** Headers that say nothing about what is meant: they are passed on, and not recorded. */
const NOT_RECORDED = [...HOP_BY_HOP, 'host', 'accept-encoding', 'content-length', 'date', 'server']

/** A header as it is sent, with all its values. */
export type SentHeader = readonly [name: string, values: string[]]

/** Headers to pass on, in their order and spelling. */
export function passedHeaders(raw: readonly string[], without: readonly string[] = []): SentHeader[] {
  const all: [string, string[]][] = []
  const byName = new Map<string, string[]>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!
    const value = raw[at + 1]!
    const known = byName.get(name.toLowerCase())
    if (known) {
      known.push(value)
      continue
    }
    const values = [value]
    byName.set(name.toLowerCase(), values)
    all.push([name, values])
  }
  const named = (byName.get('connection') ?? []).flatMap((value) => value.toLowerCase().split(/\s*,\s*/))
  const left = [...HOP_BY_HOP, ...named, ...without]
  return all.filter(([name]) => !left.includes(name.toLowerCase()))
}

/** Headers as they are recorded. */
export const recordedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || NOT_RECORDED.includes(name)
        ? []
        : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
