import { RE2JS, RE2JSSyntaxException } from 're2js'

/** An expression that is looked for anywhere in a text. */
export interface TextPattern {
  test(text: string): boolean
}

/**
 * An expression of Go (RE2, https://github.com/google/re2/wiki/Syntax) with Go's refusals (regexp/syntax). No text makes it
 * slow: expressions come from objects of users.
 *
 * @throws SyntaxError for a pattern that Go does not have
 */
export function goPattern(source: string): TextPattern {
  const compiled = compile(source)
  return { test: (text) => compiled.matcher(text).find() }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    if (!(cause instanceof RE2JSSyntaxException)) throw cause
    const { error, input } = cause
    throw new SyntaxError(`error parsing regexp: ${error}: \`${input ?? ''}\``, { cause })
  }
}
