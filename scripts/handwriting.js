/**
 * Counts what makes lines hard to read: `npm run lint:report`, or with names and places `npm run lint:report -- --list`.
 * ESLint refuses what may never come back; the counts of names show where a reader who searches finds several things.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import ts from 'typescript'

const MAX_FUNCTION_LINES = 60

const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !file.endsWith('.d.ts'))
const isTest = (file) => file.startsWith('test/') || file.endsWith('.test.ts')

/** Places of every form, by its name; `FILE:LINE` each. */
const places = new Map()
/** Files that declare a name at their top level, by kind and name. */
const declarations = { type: new Map(), value: new Map() }

const addTo = (map, key, value) => map.set(key, [...(map.get(key) ?? []), value])

const isEmptyObject = (node) => ts.isObjectLiteralExpression(node) && node.properties.length === 0
const withoutParentheses = (node) => (ts.isParenthesizedExpression(node) ? withoutParentheses(node.expression) : node)

/** The form of a line that the project does not write; null for any other node. */
function packedForm(node) {
  if (ts.isSpreadAssignment(node)) {
    const spread = withoutParentheses(node.expression)
    if (ts.isObjectLiteralExpression(spread)) return 'object literals spread into a literal'
    const isConditional = ts.isConditionalExpression(spread)
    if (isConditional && (isEmptyObject(spread.whenTrue) || isEmptyObject(spread.whenFalse)))
      return 'conditional spreads'
  }
  if (
    ts.isSpreadElement(node) &&
    ts.isArrayLiteralExpression(node.parent) &&
    ts.isArrayLiteralExpression(node.expression)
  )
    return 'array literals spread into a literal'
  if (
    ts.isVariableDeclaration(node) &&
    ts.isArrayBindingPattern(node.name) &&
    node.initializer &&
    ts.isArrayLiteralExpression(node.initializer) &&
    node.name.elements.every((element) => !element.dotDotDotToken)
  )
    return 'two declarations by one array'
  return null
}

/** Suites of tests hold many functions and are no function to read at one look. */
const isSuite = (node) =>
  ts.isCallExpression(node.parent) && /^(describe|suite)\b/.test(node.parent.expression.getText())

function note(file, source, node) {
  const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line
  const form = packedForm(node)
  if (form !== null) addTo(places, `${form}, in ${isTest(file) ? 'tests' : 'source'}`, `${file}:${line + 1}`)
  if (!ts.isFunctionLike(node) || !node.body || isTest(file) || isSuite(node)) return
  const lines = source.getLineAndCharacterOfPosition(node.end).line - line + 1
  const hasReason = /max-lines-per-function -- /.test(source.text.split('\n')[line - 1] ?? '')
  if (lines > MAX_FUNCTION_LINES)
    addTo(
      places,
      `functions over ${MAX_FUNCTION_LINES} lines${hasReason ? ', with a written reason' : ''}`,
      `${file}:${line + 1} ${node.name?.getText(source) ?? ''} ${lines}`,
    )
}

function noteDeclarations(file, source) {
  if (isTest(file)) return
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
      addTo(declarations.type, statement.name.text, file)
    else if ((ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) && statement.name)
      addTo(declarations.value, statement.name.text, file)
    else if (ts.isVariableStatement(statement))
      for (const { name } of statement.declarationList.declarations)
        if (ts.isIdentifier(name)) addTo(declarations.value, name.text, file)
  }
}

for (const file of files) {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true, kind)
  const visit = (node) => {
    note(file, source, node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  noteDeclarations(file, source)
}

/** Names that stand in `least` places or more. */
function shared(map, least) {
  return [...map]
    .map(([name, where]) => [name, [...new Set(where)]])
    .filter(([, where]) => where.length >= least)
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([name, where]) => `${name} ${where.length}: ${where.join(' ')}`)
}

const fileNames = new Map()
for (const file of files) {
  if (isTest(file) || basename(file).startsWith('index.')) continue
  addTo(fileNames, basename(file), file)
}

const rows = [...places].sort(([a], [b]) => a.localeCompare(b))
rows.push(['type names declared in two files or more', shared(declarations.type, 2)])
rows.push(['function and constant names in three files or more', shared(declarations.value, 3)])
rows.push(['file names in two folders or more', shared(fileNames, 2)])

for (const [name, where] of rows) {
  process.stdout.write(`${String(where.length).padStart(6)}  ${name}\n`)
  if (process.argv.includes('--list')) for (const place of where) process.stdout.write(`          ${place}\n`)
}
