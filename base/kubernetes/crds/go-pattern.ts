/**
 * An expression of Go (RE2) as one of this language, for those patterns that definitions have: flags before the pattern,
 * anchors of a text, named classes.
 *
 * @throws SyntaxError for a pattern that this language does not have
 */
export function goPattern(source: string): RegExp {
  const [, flags = '', rest = source] = /^\(\?([ims]+)\)(.*)$/s.exec(source) ?? []
  const translated = rest
    .replaceAll(String.raw`\A`, '^')
    .replaceAll(String.raw`\z`, '$')
    .replaceAll(/\(\?P</g, '(?<')
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => CLASSES[name] ?? whole)
  try {
    return new RegExp(translated, `${flags}u`)
  } catch {
    // An escape of a character that needs none is wrong only with that flag.
    return new RegExp(translated, flags)
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  space: String.raw`\s`,
  upper: 'A-Z',
  word: String.raw`\w`,
  xdigit: 'A-Fa-f0-9',
}
