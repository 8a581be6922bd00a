import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// Each built file that has code of other packages names them in its first lines: scripts/licences.js reads that.

const root = join(import.meta.dirname, '..')
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/** The comment that names the packages of some modules; empty when there are none. */
export function carriedBanner(moduleIds) {
  const folders = new Set(moduleIds.flatMap(folderOf))
  const names = [...folders].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return `${name} ${version}`
  })
  return names.length === 0 ? '' : `/*! Carries ${names.join(', ')}. Their licences: LICENSES.md of the package */`
}

function folderOf(id) {
  // The bundler's own helpers become part of what it makes.
  if (id.startsWith('\0rolldown/')) return [join(root, 'node_modules/rolldown')]
  return PACKAGE_FOLDER.exec(id)?.[0] ?? []
}

/** The packages that files of the build carry, each as `NAME VERSION`, sorted. */
export function carriedPackages() {
  const found = new Set()
  for (const folder of ['dist/bundle', 'dist/page/assets'])
    for (const file of readdirSync(join(root, folder)).filter((name) => /\.c?js$/.test(name))) {
      const text = readFileSync(join(root, folder, file), 'utf8')
      const [, list = ''] = /^\/\*! Carries (.*)\. Their licences: /m.exec(text) ?? []
      for (const entry of list.split(', ').filter(Boolean)) found.add(entry)
    }
  return [...found].sort()
}
