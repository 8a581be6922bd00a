/**
 * Milliseconds to wait by a `Retry-After` header, in seconds or as a date (RFC 9110, 10.2.3); undefined without one, and
 * for one of another form.
 *
 * @param now milliseconds since the epoch; a date that has passed is no wait
 */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined
}
