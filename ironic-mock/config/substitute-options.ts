import type { OptionPlace } from './known-options.js'

/** `$$` or `\\$`, `$name`, `${name}`; a name may have a section before a dot. */
const REFERENCE = /\$\$|\\\$|\$([_a-z][._a-z0-9]*)|\$\{([_a-z][._a-z0-9]*)\}/gi
/** References in what references lead to: oslo.config ends at Python's depth of recursion. */
const MAX_REFERENCES = 50

/**
 * Puts the values of other options in the place of their names, as oslo.config 10.7.0 cfg.py does; a name that is no option
 * stays as it is.
 *
 * @param section of the option whose text it is
 * @param lookUp gives the text of another option, or of its default
 */
export function substituteOptions(
  text: string,
  section: string,
  lookUp: (place: OptionPlace) => string | undefined,
  depth = 0,
): string {
  if (depth > MAX_REFERENCES) return text
  return text.replace(REFERENCE, (written, plain: string | undefined, braced: string | undefined) => {
    const name = plain ?? braced
    if (name === undefined) return '$'
    for (const place of placesMeant(name, section)) {
      const value = lookUp(place)
      if (value !== undefined) return substituteOptions(value, place.section, lookUp, depth + 1)
    }
    return written
  })
}

/** An option of the same section goes before one of `DEFAULT`. */
function placesMeant(name: string, section: string): OptionPlace[] {
  const dot = name.indexOf('.')
  if (dot > 0) return [{ section: name.slice(0, dot), name: name.slice(dot + 1) }]
  return [
    { section, name },
    { section: 'DEFAULT', name },
  ]
}
