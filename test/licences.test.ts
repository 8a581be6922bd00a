import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface LockedPackage {
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}
const installed = Object.entries(
  (JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, LockedPackage>> }).packages,
).filter(([path, { dev }]) => path !== '' && !dev)

const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** A section of a page, without its heading. */
function sectionOf(path: string, heading: string): string {
  const [, from] = read(path).split(`\n## ${heading}\n`)
  return from!.split('\n## ')[0]!
}

/** The first cells of the rows of a table, and the others. */
const rowsOf = (text: string): string[][] =>
  [...text.matchAll(/^\| (?!---|package )(.*) \|$/gm)].map(([, row]) => row!.split(' | '))

const carried = new Map(rowsOf(sectionOf('LICENSES.md', 'Carried')).map(([name, , licence]) => [name!, licence!]))
const beside = rowsOf(sectionOf('LICENSES.md', 'Installed beside it')).map(([name]) => name!)

test('LICENSES.md is what the build and the lock file say', () => {
  const page = execFileSync(process.execPath, [join(root, 'scripts/licences.js'), '--print'], { encoding: 'utf8' })
  expect(read('LICENSES.md').split('\n'), 'write it with `npm run licences`').toEqual(page.split('\n'))
})

test('each package with a module in the bundle is listed, and so is what the page is made of', () => {
  const found = new Set<string>()
  for (const file of readdirSync(join(root, 'dist/bundle')).filter((name) => /\.c?js$/.test(name)))
    for (const [, name] of read(`dist/bundle/${file}`).matchAll(/^\/\/ node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\/\S+$/gm))
      found.add(name!)
  expect(found.size).toBeGreaterThan(50)
  expect([...found, 'preact', 'rolldown'].filter((name) => !carried.has(name))).toEqual([])
})

test('what the package carries is under licences that ask for no more than their text', () => {
  const permissive = ['Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT']
  expect([...carried].filter(([, licence]) => !permissive.includes(licence))).toEqual([])
  for (const name of carried.keys())
    expect(sectionOf('LICENSES.md', 'Texts')).toMatch(new RegExp(`^### (.*, )?${name}(, .*)?$`, 'm'))
})

test('packages under the LGPL, and those that hold such code, are installed beside ironstage', () => {
  expect(beside).toEqual(expect.arrayContaining(['ext2fs', 'openpgp']))
})

test('each package that npm installs is listed once', () => {
  const listed = [...carried.keys(), ...beside]
  expect(installed.map(([path]) => nameOf(path)).filter((name) => !listed.includes(name))).toEqual([])
  expect(beside.filter((name) => carried.has(name))).toEqual([])
})

test('each package that runs a script when it is installed is named where users look for it', () => {
  const running = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path))
  const named = rowsOf(sectionOf('docs/dependencies.md', 'What runs at installation')).map(([name]) =>
    name!.replaceAll('`', ''),
  )
  expect(named.sort()).toEqual([...new Set(running)].sort())
  for (const name of running) expect(sectionOf('README.md', 'Installation')).toContain(`\`${name}\``)
})
