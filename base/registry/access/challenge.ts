/** Authentication that a server asks for with status 401 (RFC 9110, 11.6.1). */
export interface Challenge {
  /** Lower-case: `bearer`, `basic`. */
  scheme: string
  /** Lower-case names. */
  parameters: Readonly<Record<string, string>>
}

const TOKEN = "[!#$%&'*+.^_`|~\\w-]+"

/** The challenges of a `WWW-Authenticate` header; malformed parts are skipped. */
export function parseChallenges(header: string): Challenge[] {
  const found: { scheme: string; parameters: Record<string, string> }[] = []
  // A parameter follows a scheme or a comma; a word without `=` begins the next challenge.
  const item = new RegExp(`\\s*(?:(${TOKEN})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN}))|(${TOKEN}))\\s*,?|,`, 'gy')
  for (const [, name, quoted, plain, scheme] of header.slice(0, 8192).matchAll(item)) {
    if (scheme !== undefined) found.push({ scheme: scheme.toLowerCase(), parameters: {} })
    else if (name !== undefined && found.length > 0)
      found.at(-1)!.parameters[name.toLowerCase()] = quoted?.replace(/\\(.)/g, '$1') ?? plain!
  }
  return found
}
