import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const { name, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string
  dependencies: Record<string, string>
}

/** Packages that the declarations of the library import, each with one of the files that import it. */
function importedPackages(): Map<string, string> {
  const files = new Set(
    ['index', 'steps', 'ignition', 'coreos', 'control'].map((entry) => join(root, `dist/types/${entry}.d.ts`)),
  )
  const packages = new Map<string, string>()
  // A set also walks what is added meanwhile.
  for (const file of files)
    for (const { fileName: path } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles)
      if (path.startsWith('.')) files.add(join(dirname(file), path.replace(/\.js$/, '.d.ts')))
      else packages.set(path, relative(root, file))
  return packages
}

/** True if TypeScript finds types of a package in what a user of ironstage has installed. */
function hasTypes(specifier: string): boolean {
  if (builtinModules.includes(specifier.replace(/^node:/, ''))) return '@types/node' in dependencies
  const [scope, rest] = specifier.split('/')
  const installed = scope!.startsWith('@') ? `${scope}/${rest}` : scope!
  if (installed === name) return true
  const types = `@types/${installed.replace('@', '').replace('/', '__')}`
  if (types in dependencies) return true
  if (!(installed in dependencies)) return false
  const folder = join(root, 'node_modules', installed)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    types?: string
    typings?: string
  }
  return existsSync(join(folder, manifest.types ?? manifest.typings ?? 'index.d.ts'))
}

test('the declarations of the library import only packages whose types are installed with it', () => {
  const imported = importedPackages()
  expect([...imported.keys()]).toContain('ajv')
  expect([...imported].filter(([specifier]) => !hasTypes(specifier))).toEqual([])
})
