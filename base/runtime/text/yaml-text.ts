import { checkNesting, readNested } from '../json.js'
import { yamlPlace, type YamlDocument, type YamlLines } from './yaml-place.js'
import { wrongLineClause, yamlProblem, type YamlError } from './yaml-problem.js'

/** As much of the package yaml as is needed: users of the library do not have its types, and commands load it late. */
interface YamlPackage<Lines extends YamlLines> {
  readonly LineCounter: new () => Lines
  parseDocument(
    text: string,
    options: { lineCounter: Lines; prettyErrors: false; logLevel: 'error' },
  ): YamlDocument & {
    readonly errors: readonly YamlError[]
    toJS(options: { maxAliasCount: number }): unknown
  }
}

/** Aliases that a document may resolve: more of them are an attack by a small file that is large in memory. */
const MAX_YAML_ALIASES = 100

/** The value of a YAML text, and the line of each of its keys as the end of a sentence. */
export interface YamlText {
  readonly value: unknown
  /** `, in line 7: cpu: 3`; empty in an empty document. */
  readonly lineOf: (path: readonly (string | number)[]) => string
}

/**
 * Reads YAML or JSON.
 *
 * @param name of the text, for errors
 * @param wrong makes the error of a text that is not YAML, of a sentence that ends with the line
 */
export function readYamlText<Lines extends YamlLines>(
  yaml: YamlPackage<Lines>,
  text: string,
  name: string,
  wrong: (message: string) => Error,
): YamlText {
  const lines = new yaml.LineCounter()
  const document = readNested(text, name, (each) =>
    yaml.parseDocument(each, { lineCounter: lines, prettyErrors: false, logLevel: 'error' }),
  )
  const [broken] = document.errors
  if (broken) {
    const problem = yamlProblem(text, broken)
    throw wrong(`${name}: ${problem.message}${wrongLineClause(text, problem)}`)
  }
  const value = readNested(text, name, () => document.toJS({ maxAliasCount: MAX_YAML_ALIASES }))
  checkNesting(value, name)
  return {
    value,
    lineOf: (path) => {
      const place = yamlPlace(document, path, lines)
      return place ? wrongLineClause(text, place) : ''
    },
  }
}
