import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { carriedPackages } from './carried-packages.js'

// Writes LICENSES.md from what is built and package-lock.json: `npm run licences`. With --print it only prints it, for
// test/licences.test.ts.

const root = join(import.meta.dirname, '..')
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** Code in packages that is from elsewhere: neither package.json nor the lock file says so. */
const ALSO_HOLDS = {
  '@bokuweb/zstd-wasm': 'zstd, compiled: BSD-3-Clause or GPL-2.0',
  ext2fs: 'libext2fs of e2fsprogs, compiled: LGPL-2.0, some of its files GPL-2.0 (docs/dependencies.md)',
  libsql: 'in the @libsql packages: SQLite (public domain), libSQL (MIT)',
  'lzma-native': 'liblzma of XZ Utils 5.2.3, compiled: public domain; its source archive, with tools under the GPL',
  'node-liblzma': 'liblzma of XZ Utils 5.8, compiled: 0BSD',
  openpgp: 'noble, fflate: MIT',
}

const mit = readFileSync(join(root, 'scripts/mit.txt'), 'utf8').trim()

/** Packages whose licence stands in package.json in npm's old form, which the lock file leaves out. */
const OLD_FORM = { buildcheck: 'MIT', 'cpu-features': 'MIT', ssh2: 'MIT' }

if (process.argv.includes('--print')) process.stdout.write(licencesPage())
else writeFileSync(join(root, 'LICENSES.md'), licencesPage())

function licencesPage() {
  const carried = carriedPackages().map(carriedPackage)
  const beside = installedBeside(new Set(carried.map(({ name }) => name)))
  return `# Licences

ironstage is under the Apache License 2.0: [LICENSE](LICENSE), [NOTICE](NOTICE). \`npm run licences\` writes this page.

## Carried

The files in \`dist/\` carry code of these packages. The texts of their licences are below.

| package | version | licence |
| --- | --- | --- |
${carried.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`).join('\n')}

## Installed beside it

npm installs these packages from their own archives, each with its licence. ironstage carries nothing of them, and each can
be replaced by another build of it. [docs/dependencies.md](docs/dependencies.md) says what needs each.

| package | version | licence | also holds |
| --- | --- | --- | --- |
${beside.map(({ name, version, license }) => `| ${name} | ${version} | ${license} | ${ALSO_HOLDS[name] ?? ''} |`).join('\n')}

## Texts

${textsOf(carried)}
`
}

function carriedPackage(entry) {
  const [name, carriedVersion] = entry.split(' ')
  const { version, license, author } = readJson(`node_modules/${name}/package.json`)
  if (version !== carriedVersion)
    throw new Error(`dist/ carries ${entry}, and node_modules/${name} is ${version}: build again`)
  const folder = join(root, 'node_modules', name)
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (texts.length === 0) texts.push(textWithoutFile(license, author))
  return { name, version, license, text: texts.join('\n\n') }
}

/** A package without a licence file: SPDX's text of the licence that its package.json names, with the author it names. */
function textWithoutFile(license, author) {
  if (license !== 'MIT') throw new Error(`a package has no licence file, and no text of ${license} is known`)
  const holder = typeof author === 'string' ? author : author.name
  return `(The package has no licence file. Its package.json names the licence and the author; the text is SPDX's.)\n\n${mit.replace('HOLDER', holder)}`
}

/** Packages that npm installs with ironstage, on any platform, without those that are only installed for their types. */
function installedBeside(carried) {
  const found = []
  for (const [path, { version, license, dev }] of Object.entries(readJson('package-lock.json').packages)) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    if (path === '' || dev || carried.has(name)) continue
    found.push({ name, version, license: license ?? OLD_FORM[name] ?? 'not named' })
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Each text once, below the packages that have it. */
function textsOf(packages) {
  const byText = new Map()
  for (const { name, text } of packages) byText.set(text, [...(byText.get(text) ?? []), name])
  return [...byText].map(([text, names]) => `### ${names.join(', ')}\n\n${fenced(text)}`).join('\n\n')
}

/** A block that no line of the text ends. */
function fenced(text) {
  const lines = text.replace(/\r\n/g, '\n').replace(/[ \t]+$/gm, '')
  return `~~~~text\n${lines}\n~~~~`
}
