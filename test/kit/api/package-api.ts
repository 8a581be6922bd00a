import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const BUILT = join(ROOT, 'dist/')

const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules/@types')],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
}

export interface PackageExport {
  name: string
  /** Where a program imports it from: `ironstage`, `ironstage/steps`. */
  entry: string
  /** The exported symbol itself, wherever it is declared. */
  symbol: ts.Symbol
  /** False for interfaces and for classes that are exported as types. */
  isValue: boolean
}

export interface PackageApi {
  program: ts.Program
  exports: readonly PackageExport[]
}

/** The exports of package.json with types, read from the declarations that the compiler wrote: the joined ones have the joiner's names. */
export function packageApi(): PackageApi {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    name: string
    exports: Record<string, { types?: string }>
  }
  const entries = Object.entries(exports).flatMap(([path, { types }]) =>
    types === undefined
      ? []
      : [{ entry: name + path.slice(1), file: join(ROOT, types.replace('dist/types/', 'dist/public/')) }],
  )
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    OPTIONS,
  )
  const checker = program.getTypeChecker()
  return {
    program,
    exports: entries.flatMap(({ entry, file }) =>
      checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!).map((exported) => {
        const symbol = declaredSymbol(checker, exported)
        const typeOnly = exported.declarations?.some((one) => ts.isExportSpecifier(one) && one.isTypeOnly) ?? false
        return { name: exported.name, entry, symbol, isValue: !typeOnly && (symbol.flags & ts.SymbolFlags.Value) !== 0 }
      }),
    ),
  }
}

const declaredSymbol = (checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

export const ownDeclarations = (symbol: ts.Symbol): ts.Declaration[] =>
  (symbol.declarations ?? []).filter((one) => one.getSourceFile().fileName.startsWith(BUILT))

/**
 * Types that the declarations of exports refer to and no entry exports. Types that their own file does not export are
 * parts of the type that is made with them; the types that they refer to count.
 */
export function unnamedTypes({ program, exports }: PackageApi): string[] {
  const checker = program.getTypeChecker()
  const named = new Set(exports.map(({ symbol }) => symbol))
  const constructible = new Set(exports.filter(({ isValue }) => isValue).map(({ symbol }) => symbol))
  const reached = new Set(named)
  const unnamed: string[] = []
  // The loop also visits the symbols that it adds.
  for (const symbol of reached)
    for (const declaration of ownDeclarations(symbol)) {
      const visit = (node: ts.Node): void => {
        if (ts.isConstructorDeclaration(node) && !constructible.has(symbol)) return
        const reference = typeNameIn(node)
        const found = reference && checker.getSymbolAtLocation(reference)
        const target = found && declaredSymbol(checker, found)
        if (target && !reached.has(target) && target.flags & ts.SymbolFlags.Type && ownDeclarations(target).length > 0)
          if (!(target.flags & ts.SymbolFlags.TypeParameter)) {
            reached.add(target)
            if (isExported(target)) unnamed.push(`${target.name}, of ${symbol.name}`)
          }
        ts.forEachChild(node, visit)
      }
      visit(declaration)
    }
  return unnamed
}

function typeNameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName
  if (ts.isExpressionWithTypeArguments(node)) return node.expression
  return ts.isImportTypeNode(node) ? node.qualifier : undefined
}

const isExported = (symbol: ts.Symbol): boolean =>
  ownDeclarations(symbol).some((one) => ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Export)

export interface Example {
  name: string
  text: string
}

/** Texts of an export's docstring. */
export interface ExportDoc {
  text: string
  examples: string[]
  /** `clock by which it waits` */
  params: string[]
  throws: string[]
  /** Empty if the docstring does not say. */
  returns: string
}

export function docOf({ program }: PackageApi, { symbol }: PackageExport): ExportDoc {
  const checker = program.getTypeChecker()
  const tags = symbol.getJsDocTags(checker)
  const textsOf = (tag: string): string[] =>
    tags.filter(({ name }) => name === tag).map(({ text }) => ts.displayPartsToString(text))
  return {
    text: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
    examples: textsOf('example'),
    params: textsOf('param'),
    throws: textsOf('throws'),
    returns: textsOf('returns').join(' '),
  }
}

/** Compiles examples, each a module of its own that can import the package, and returns the errors of the compiler. */
export function problemsOf({ program }: PackageApi, examples: readonly Example[]): string[] {
  const host = ts.createCompilerHost(OPTIONS)
  const files = new Map(examples.map(({ name, text }, n) => [join(ROOT, `example-${n}.ts`), { name, text }]))
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (file) => files.has(file) || fileExists(file)
  host.readFile = (file) => files.get(file)?.text ?? readFile(file)
  host.getSourceFile = (file, language, ...rest) => {
    const example = files.get(file)
    return example
      ? ts.createSourceFile(file, `${example.text}\nexport {}\n`, language)
      : (program.getSourceFile(file) ?? getSourceFile(file, language, ...rest))
  }
  return ts
    .getPreEmitDiagnostics(ts.createProgram([...files.keys()], OPTIONS, host))
    .filter(({ file }) => file && files.has(file.fileName))
    .map(
      ({ file, messageText }) =>
        `${files.get(file!.fileName)!.name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    )
}
