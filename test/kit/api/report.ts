import { format, resolveConfig } from 'prettier'
import ts from 'typescript'
import { docOf, ownDeclarations, packageApi, type PackageApi, type PackageExport } from './package-api.js'

const INTRODUCTION = `# API reference

Every export of the package: what it is, its declaration, and for each value an example that a test compiles. \`npm run
docs\` makes this page from the docstrings in the built declarations. A change of this page is a change for users.
`

/** The text of docs/api.md. */
export async function apiReport(api: PackageApi = packageApi()): Promise<string> {
  const first = new Map<ts.Symbol, PackageExport>()
  const parts = [INTRODUCTION]
  for (const entry of new Set(api.exports.map((one) => one.entry))) {
    const names = api.exports.filter((one) => one.entry === entry).sort((a, b) => order(a.name, b.name))
    const again = names.filter(({ symbol }) => first.has(symbol))
    const own = names.filter(({ symbol }) => !first.has(symbol))
    for (const one of own) first.set(one.symbol, one)
    const values = own.filter(({ isValue }) => isValue)
    const types = own.filter(({ isValue }) => !isValue)
    parts.push(
      `## ${entry}\n`,
      ...(again.length > 0 ? [`Also here: ${again.map((one) => sameAs(one, first)).join(', ')}.\n`] : []),
      ...[...values, ...types].flatMap((one) => section(api, one)),
    )
  }
  return format(parts.join('\n'), { ...(await resolveConfig('docs/api.md')), parser: 'markdown' })
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function sameAs({ name, symbol }: PackageExport, first: ReadonlyMap<ts.Symbol, PackageExport>): string {
  const before = first.get(symbol)!
  return before.name === name ? `\`${name}\`` : `\`${name}\` (${before.entry}'s \`${before.name}\`)`
}

/** The docstring of an export in front of its declaration, and its examples behind it. */
function section(api: PackageApi, one: PackageExport): string[] {
  const { text, examples, params, throws, returns } = docOf(api, one)
  const list = [
    ...params.map((param) => `- ${param.replace(/^(\S+)/, '`$1`:')}`),
    ...(returns === '' ? [] : [`- returns ${returns}`]),
    ...throws.map((thrown) => `- throws ${thrown}`),
  ]
  return [
    `### ${one.name}\n`,
    `${prose(text)}\n`,
    ...(list.length > 0 ? [`${list.map(prose).join('\n')}\n`] : []),
    '```ts',
    declarationText(one),
    '```\n',
    ...examples.flatMap((example) => ['Example:\n', '```ts', example, '```\n']),
  ]
}

/** Text of a docstring as Markdown: links between declarations are names, and nothing outside code is HTML. */
const prose = (text: string): string =>
  text
    .replace(/\{@link ([^}\s]+)[^}]*\}/g, '`$1`')
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '\\<').replaceAll('{{', '{\u200b{')))
    .join('')

function declarationText({ name, symbol }: PackageExport): string {
  const printer = ts.createPrinter()
  const text = ownDeclarations(symbol)
    .map((one) => {
      const node = ts.isVariableDeclaration(one) ? one.parent.parent : one
      return withoutOwnComment(printer.printNode(ts.EmitHint.Unspecified, node, one.getSourceFile()))
    })
    .join('\n')
    .replace(/^export (declare )?/gm, '')
    .replace(/^\s*#private;\n/gm, '')
  return name === symbol.name ? text : `// ${name}\n${text}`
}

/** The comment of an export is the text above its declaration; those of its members stay. */
const withoutOwnComment = (declaration: string): string => declaration.replace(/^(\s*(\/\*[^]*?\*\/|\/\/.*\n))+\s*/, '')
