import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** Titles that a test file gives to its tests, and the strings in it that may fill the placeholders of a table's title. */
interface Titles {
  /** Titles without placeholders. */
  readonly fixed: ReadonlySet<string>
  /** Titles of tables, as patterns whose groups are the placeholders. */
  readonly tables: readonly RegExp[]
  readonly strings: ReadonlySet<string>
}

const TESTS = new Set(['test', 'it', 'describe'])
const PLACEHOLDER = /%[sdifjo#]|\$\{[^}]*\}|\$[\w.]+/
const ALL_PLACEHOLDERS = new RegExp(PLACEHOLDER, 'g')

const known = new Map<string, Titles>()

/**
 * True if a file has a test, or a row of a table of tests, with exactly this title. A row is named by its title with the
 * placeholders filled by strings of the file, or by a sentence of its own, which must be a whole string of the file.
 */
export function hasTest(file: URL, title: string): boolean {
  const { fixed, tables, strings } = titlesIn(file)
  if (fixed.has(title)) return true
  if (isSentence(title) && strings.has(title)) return true
  return tables.some((pattern) => {
    const filled = pattern.exec(title)?.slice(1)
    return filled?.every((value) => strings.has(value) || /^\d+$/.test(value)) ?? false
  })
}

const isSentence = (text: string): boolean => text.replaceAll(ALL_PLACEHOLDERS, '').split(/[^a-z]+/i).length >= 3

function titlesIn(file: URL): Titles {
  const had = known.get(file.href)
  if (had) return had
  const source = ts.createSourceFile(file.pathname, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const fixed = new Set<string>()
  const strings = new Set<string>()
  const tables: RegExp[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) strings.add(node.text)
    if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) strings.add(node.name.text)
    if (ts.isCallExpression(node) && TESTS.has(rootOf(node.expression))) {
      const title = node.arguments[0] && textOf(node.arguments[0])
      if (title !== undefined && PLACEHOLDER.test(title)) tables.push(patternOf(title))
      else if (title !== undefined) fixed.add(title)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  const titles = { fixed, tables, strings }
  known.set(file.href, titles)
  return titles
}

/** `test` of `test.each(rows)`, `test.skipIf(x)` and the like. */
function rootOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return rootOf(node.expression)
  if (ts.isTaggedTemplateExpression(node)) return rootOf(node.tag)
  return ''
}

function textOf(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.head.text + node.templateSpans.map(({ literal }) => '${}' + literal.text).join('')
}

const patternOf = (title: string): RegExp =>
  new RegExp(
    `^${title
      .split(ALL_PLACEHOLDERS)
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('(.+)')}$`,
    's',
  )
