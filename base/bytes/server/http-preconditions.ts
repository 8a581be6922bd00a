/** Validators by which a client's own copy is judged. */
export interface FileValidators {
  /** Strong, with its quotes. */
  etag: string
  /** Milliseconds since the epoch; HTTP knows whole seconds. */
  modified: number
}

export type ConditionalHeaders = Readonly<Record<string, string | string[] | undefined>>

const joinHeader = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value

/** Conditions of a GET or HEAD in their order (RFC 9110, 13.2.2). */
export function checkPreconditions(
  headers: ConditionalHeaders,
  { etag, modified }: FileValidators,
): 'go on' | 'not modified' | 'failed' {
  const match = joinHeader(headers['if-match'])
  const unmodified = dateOf(joinHeader(headers['if-unmodified-since']))
  if (match !== undefined) {
    if (match.trim() !== '*' && !tagsIn(match).includes(etag)) return 'failed'
  } else if (unmodified !== undefined && inSeconds(modified) > unmodified) return 'failed'
  const noneMatch = joinHeader(headers['if-none-match'])
  if (noneMatch !== undefined) {
    const weakly = tagsIn(noneMatch).map((tag) => tag.replace(/^W\//, ''))
    return noneMatch.trim() === '*' || weakly.includes(etag) ? 'not modified' : 'go on'
  }
  const since = dateOf(joinHeader(headers['if-modified-since']))
  return since !== undefined && inSeconds(modified) <= since ? 'not modified' : 'go on'
}

/** Whether a range may be sent of it: what the client has a part of is still this (RFC 9110, 13.1.5). */
export function rangeApplies(headers: ConditionalHeaders, { etag, modified }: FileValidators): boolean {
  const condition = joinHeader(headers['if-range'])?.trim()
  if (condition === undefined) return true
  if (/^(W\/)?"/.test(condition)) return condition === etag
  return dateOf(condition) === inSeconds(modified)
}

const tagsIn = (list: string): string[] => list.match(/(?:W\/)?"[^"]*"/g) ?? []

/** Milliseconds since the epoch; undefined for an invalid date. */
function dateOf(text: string | undefined): number | undefined {
  const date = text === undefined ? NaN : Date.parse(text)
  return Number.isNaN(date) ? undefined : date
}

const inSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000
