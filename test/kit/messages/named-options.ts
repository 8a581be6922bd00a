import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { sourceFiles } from '../source-tree.js'

/** An option that a text for people names. */
export interface NamedOption {
  file: string
  text: string
  option: string
}

/** A declaration at the top of a file, and what it refers to. */
interface Declaration {
  texts: NamedOption[]
  /** `file symbol` of everything that it uses. */
  uses: Set<string>
}

/** Name of the catalogue of a room's errors. */
const CATALOGUE = 'ERRORS'
/** Functions and classes whose arguments are texts for people. */
const SAYS = /Error|[uU]sage|refus|problem|wrong|lost|otherAccount/
/** Properties with such texts. */
const SAYING = new Set(['remedy', 'sentence', 'message'])

/**
 * Finds which texts for people can be reached from which function: each top-level declaration of the sources with the
 * declarations that it uses, over files and the doors of rooms. A type reaches nothing.
 */
export class ReachableTexts {
  readonly #declarations = new Map<string, Declaration>()
  /** Exports of a file that stand in another one. */
  readonly #forwarded = new Map<string, string>()

  constructor(private readonly root: string) {
    for (const file of sourceFiles(root).filter((name) => !/\.test\.ts$|^(test|scripts|docs|examples)\//.test(name)))
      this.#read(file)
  }

  /** @returns the options that texts name which a function of a file can give */
  from(file: string, name: string): NamedOption[] {
    const seen = new Set<string>()
    const found: NamedOption[] = []
    const visit = (key: string): void => {
      const at = this.#resolved(key)
      if (seen.has(at)) return
      seen.add(at)
      const declaration = this.#declarations.get(at)
      if (!declaration) return
      found.push(...declaration.texts)
      for (const use of declaration.uses) visit(use)
    }
    visit(`${file} ${name}`)
    return found
  }

  /** Options that the catalogues of errors name. */
  inCatalogues(): NamedOption[] {
    return [...this.#declarations].flatMap(([key, { texts }]) => (key.includes(` ${CATALOGUE}.`) ? texts : []))
  }

  #resolved(key: string): string {
    let at = key
    for (let next = this.#forwarded.get(at); next !== undefined; next = this.#forwarded.get(at)) at = next
    return at
  }

  #read(file: string): void {
    const source = ts.createSourceFile(file, readFileSync(join(this.root, file), 'utf8'), ts.ScriptTarget.Latest, true)
    const imported = new Map<string, string>()
    for (const statement of source.statements) {
      if (ts.isImportDeclaration(statement)) this.#import(file, statement, imported)
      else if (ts.isExportDeclaration(statement)) this.#export(file, statement)
    }
    const own = new Set(source.statements.flatMap(namesOf))
    const target = (name: string): string | undefined =>
      imported.get(name) ?? (own.has(name) ? `${file} ${name}` : undefined)
    for (const statement of source.statements)
      for (const name of namesOf(statement)) {
        const declaration: Declaration = { texts: [], uses: new Set() }
        this.#declarations.set(`${file} ${name}`, declaration)
        if (name === CATALOGUE) this.#readCatalogue(file, statement)
        else this.#look(file, statement, declaration, target)
      }
  }

  #readCatalogue(file: string, catalogue: ts.Statement): void {
    const visit = (node: ts.Node): void => {
      const isEntry = ts.isPropertyAssignment(node) && ts.isObjectLiteralExpression(node.initializer)
      if (!isEntry) return ts.forEachChild(node, visit)
      const declaration: Declaration = { texts: [], uses: new Set() }
      this.#declarations.set(`${file} ${CATALOGUE}.${node.name.getText().replaceAll("'", '')}`, declaration)
      this.#look(file, node.initializer, declaration, () => undefined)
    }
    visit(catalogue)
  }

  #import(file: string, { importClause, moduleSpecifier }: ts.ImportDeclaration, imported: Map<string, string>): void {
    const from = this.#fileOf(file, moduleSpecifier)
    const bindings = importClause?.namedBindings
    if (from === undefined || importClause?.isTypeOnly || !bindings || !ts.isNamedImports(bindings)) return
    for (const { isTypeOnly, name, propertyName } of bindings.elements)
      if (!isTypeOnly) imported.set(name.text, `${from} ${(propertyName ?? name).text}`)
  }

  #export(file: string, { exportClause, moduleSpecifier }: ts.ExportDeclaration): void {
    const from = moduleSpecifier && this.#fileOf(file, moduleSpecifier)
    if (from === undefined || !exportClause || !ts.isNamedExports(exportClause)) return
    for (const { name, propertyName } of exportClause.elements)
      this.#forwarded.set(`${file} ${name.text}`, `${from} ${(propertyName ?? name).text}`)
  }

  #look(file: string, node: ts.Node, into: Declaration, target: (name: string) => string | undefined): void {
    const visit = (at: ts.Node, says: boolean): void => {
      if (ts.isTypeNode(at)) return
      const speaks = says || isSaying(at)
      if (speaks && (ts.isStringLiteralLike(at) || ts.isTemplateHead(at) || ts.isTemplateMiddleOrTemplateTail(at)))
        for (const [option] of at.text.matchAll(/(?<![\w-])--[a-z][a-z-]*[a-z](?![\w-])/g))
          into.texts.push({ file, text: at.text, option })
      // A use of a catalogue is one of the entry that is named.
      const entry = entryOf(at)
      const use = entry ?? (ts.isIdentifier(at) ? at.text : undefined)
      const key = use === undefined ? undefined : target(entry === undefined ? use : CATALOGUE)
      if (key !== undefined && use !== CATALOGUE) into.uses.add(entry === undefined ? key : `${key}.${entry}`)
      ts.forEachChild(at, (child) => visit(child, speaks))
    }
    visit(node, false)
  }

  #fileOf(file: string, specifier: ts.Expression): string | undefined {
    if (!ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return undefined
    const path = join(this.root, dirname(file), specifier.text.replace(/\.js$/, '.ts'))
    return existsSync(path) ? relative(this.root, path) : undefined
  }
}

/** The entry of a catalogue that an expression takes: `ERRORS['no-disk']`. */
function entryOf(node: ts.Node): string | undefined {
  if (ts.isElementAccessExpression(node) && node.expression.getText() === CATALOGUE)
    return ts.isStringLiteral(node.argumentExpression) ? node.argumentExpression.text : undefined
  return ts.isPropertyAccessExpression(node) && node.expression.getText() === CATALOGUE ? node.name.text : undefined
}

/** True if the texts in a node are for people. */
function isSaying(node: ts.Node): boolean {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) return SAYS.test(node.expression.getText())
  return ts.isPropertyAssignment(node) && SAYING.has(node.name.getText())
}

/** Names that a statement declares at the top of a file. */
function namesOf(statement: ts.Statement): string[] {
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
    return statement.name ? [statement.name.text] : []
  if (!ts.isVariableStatement(statement)) return []
  return statement.declarationList.declarations.flatMap(({ name }) =>
    ts.isIdentifier(name)
      ? [name.text]
      : name.elements.flatMap((one) => ('name' in one && ts.isIdentifier(one.name) ? [one.name.text] : [])),
  )
}
