/** A part of a path without its escapes; undefined where these are wrong. */
export function decodePathPart(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
