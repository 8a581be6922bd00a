/** The part that an answer with status 206 holds; `last` is inclusive, `size` null when the server does not know it. */
export interface ContentRange {
  first: number
  last: number
  size: number | null
}

/** Reads a `Content-Range` header (RFC 9110, 14.4); undefined for one that names no part. */
export function contentRange(header: string | undefined): ContentRange | undefined {
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(header ?? '') ?? []
  if (first === undefined) return undefined
  return { first: Number(first), last: Number(last), size: size === '*' ? null : Number(size) }
}

/** The size of the whole file in the `Content-Range` header of status 416; undefined when it has none. */
export function unsatisfiedSize(header: string | undefined): number | undefined {
  const size = /^bytes \*\/(\d+)$/.exec(header ?? '')?.[1]
  return size === undefined ? undefined : Number(size)
}
