import { format, resolveConfig } from 'prettier'
import ts from 'typescript'
import { ownDeclarations, packageApi, type PackageApi, type PackageExport } from './package-api.js'

const INTRODUCTION = `# API report

Every export of the package with its declaration, made from the built declarations by \`npm run docs\`. A change of this
page is a change for users. Comments are left out: an editor shows them, with an example for each value.
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
      ...code('Values', values),
      ...code('Types', types),
    )
  }
  return format(parts.join('\n'), { ...(await resolveConfig('docs/api.md')), parser: 'markdown' })
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function sameAs({ name, symbol }: PackageExport, first: ReadonlyMap<ts.Symbol, PackageExport>): string {
  const before = first.get(symbol)!
  return before.name === name ? `\`${name}\`` : `\`${name}\` (${before.entry}'s \`${before.name}\`)`
}

const code = (title: string, exports: readonly PackageExport[]): string[] =>
  exports.length === 0 ? [] : [`### ${title}\n`, '```ts', ...exports.map(declarationText), '```', '']

function declarationText({ name, symbol }: PackageExport): string {
  const printer = ts.createPrinter({ removeComments: true })
  const text = ownDeclarations(symbol)
    .map((one) => {
      const node = ts.isVariableDeclaration(one) ? one.parent.parent : one
      return printer.printNode(ts.EmitHint.Unspecified, node, one.getSourceFile())
    })
    .join('\n')
    .replace(/^export (declare )?/gm, '')
    .replace(/^\s*#private;\n/gm, '')
  return name === symbol.name ? text : `// ${name}\n${text}`
}
