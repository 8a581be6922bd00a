import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { zipSync } from 'fflate'
import { carriedPackages } from './carried-packages.js'
import { makeImages, sourceTime } from './containers.js'
import { programTrees } from './containers/program-tree.js'
import { makeSingleFiles } from './single-file.js'
import { factFiles, goModuleOf, imageName, readFacts } from './project-facts.js'

// Makes a release: `node scripts/release.js VERSION`. It sets the version, gives the CHANGELOG's section its heading, makes
// everything that is published, commits, and tags. It publishes nothing: at its end it prints the commands that do.
//
//   --dry-run         changes nothing in the checkout: makes everything from a copy
//   --out DIR         where what is published goes; default: dist/release
//   --facts FILE      facts in place of project.json, for a dry run
//   --without-python  makes no wheel, which needs python3 and the registry of Python packages
//   --without-images  makes no images and no single files, which need the registry of npm and Debian's packages
//   --without-site    makes no documentation site, which takes half a minute
//   --site DIR        takes the documentation site from a folder, which build-site.js has made before

const root = join(import.meta.dirname, '..')
const UNRELEASED = '## Unreleased\n'
const VERSION_FORM = /^(\d+)\.(\d+)\.(\d+)(-[0-9a-z.-]+)?$/

/** What the copy has: what npm packs, and files in which a version or a fact stands. */
const COPIED = [
  'package.json',
  'package-lock.json',
  'project.json',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
  'LICENSES.md',
  'NOTICE',
  '.github',
  'ci',
  'templates',
  'clients',
  'docs',
  'containers',
  'deploy',
  'examples',
  'images',
  'dist/bundle',
  'dist/page',
  'dist/types',
]

/** Facts without which a release would lead nowhere. */
const NEEDED_FACTS = ['repository', 'bugs', 'security', 'goModule', 'npmPackage']

const run = (cwd, command, ...argv) => execFileSync(command, argv, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      'without-python': { type: 'boolean', default: false },
      'without-images': { type: 'boolean', default: false },
      'without-site': { type: 'boolean', default: false },
      site: { type: 'string' },
      out: { type: 'string', default: join(root, 'dist/release') },
      facts: { type: 'string' },
    },
  })
  if (values.help) return writeLine(usage())
  const [version] = positionals
  if (positionals.length !== 1 || !VERSION_FORM.test(version))
    throw new Error('node scripts/release.js VERSION: the version is three numbers, as in 1.2.3 or 1.2.3-rc.1')
  const dryRun = values['dry-run']
  checkVersion(version)
  if (values.site) checkSite(values.site)
  if (values.facts && !dryRun) throw new Error('--facts is for a dry run: a release takes project.json')
  const facts = readFacts(values.facts)
  checkGoMajor(version, facts)
  if (dryRun) writeLine('a dry run: nothing of the checkout changes')
  else {
    checkCheckout(version, facts)
    run(root, 'npm', 'run', 'build')
  }
  checkLicences()
  const folder = mkdtempSync(join(tmpdir(), 'ironstage-release-'))
  try {
    for (const path of COPIED) cpSync(join(root, path), join(folder, path), { recursive: true })
    if (values.facts) cpSync(values.facts, join(folder, 'project.json'))
    const changed = setVersion(folder, version)
    makeFiles(folder, version, { out: values.out, withPython: !values['without-python'] })
    if (!values['without-images']) await makePrograms(folder, version, values.out)
    if (!values['without-site']) packSite(values.site ?? buildSite(folder), version, values.out)
    writeSums(values.out)
    if (!dryRun) keepRelease(folder, changed, version)
    printNextCommands(folder, version, values.out)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What stands above. */
const usage = () =>
  readFileSync(import.meta.filename, 'utf8')
    .match(/^\/\/ .*(\n\/\/.*)+/m)[0]
    .replaceAll(/^\/\/ ?/gm, '')

const writeLine = (line) => process.stdout.write(`${line}\n`)
const readJson = (folder, path) => JSON.parse(readFileSync(join(folder, path), 'utf8'))

function checkVersion(version) {
  const { version: current } = readJson(root, 'package.json')
  const [, ...wanted] = VERSION_FORM.exec(version)
  const [, ...had] = VERSION_FORM.exec(current)
  const differing = [0, 1, 2].find((part) => wanted[part] !== had[part])
  if (differing !== undefined && Number(wanted[differing]) < Number(had[differing]))
    throw new Error(`version ${version} is before ${current}, which package.json has`)
}

/** From version 2 on, the path of a Go module ends with its major version (https://go.dev/ref/mod#major-version-suffixes). */
function checkGoMajor(version, { goModule }) {
  const major = Number(version.split('.')[0])
  const suffix = /\/v\d+$/.exec(goModule)?.[0] ?? ''
  const wanted = major < 2 ? '' : `/v${major}`
  if (goModule && suffix !== wanted)
    throw new Error(
      `version ${version} needs a goModule ${wanted ? `that ends with ${wanted}` : 'without a major version'}: it is ${goModule}`,
    )
}

function checkCheckout(version, facts) {
  if (run(root, 'git', 'status', '--porcelain') !== '') throw new Error('the checkout has changes: commit them first')
  const tags = run(root, 'git', 'tag', '--list', ...tagsOf(version)).trim()
  if (tags !== '') throw new Error(`version ${version} is released: there is the tag ${tags}`)
  const empty = NEEDED_FACTS.filter((name) => facts[name] === '')
  if (empty.length > 0)
    throw new Error(`project.json lacks ${empty.join(', ')}: its owner writes them, then npm run facts`)
}

/** The tag of a Go module in a folder begins with the folder. */
const tagsOf = (version) => [`v${version}`, `clients/go/v${version}`]

function checkLicences() {
  const page = run(root, process.execPath, 'scripts/licences.js', '--print')
  if (page !== readFileSync(join(root, 'LICENSES.md'), 'utf8'))
    throw new Error('LICENSES.md is not what the build carries: npm run licences')
}

/** Sets the version everywhere in a copy; gives the paths that are another now. */
function setVersion(folder, version) {
  const changed = new Map()
  const change = (path, text) => {
    const file = join(folder, path)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return
    changed.set(path, text)
    writeFileSync(file, text)
  }
  const changeJson = (path, edit) => change(path, `${JSON.stringify(edit(readJson(folder, path)), null, 2)}\n`)
  changeJson('package.json', (document) => ({ ...document, version }))
  change('CHANGELOG.md', releasedChangelog(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'), version))
  for (const [path, text] of factFiles(folder)) change(path, text)
  const { name } = readJson(folder, 'package.json')
  changeJson('package-lock.json', (document) => {
    const { '': own, ...packages } = document.packages
    return { ...document, name, version, packages: { '': { ...own, name, version }, ...packages } }
  })
  return [...changed.keys()]
}

function releasedChangelog(text, version) {
  const [before, after] = text.split(UNRELEASED)
  if (after === undefined) throw new Error('CHANGELOG.md has no heading "## Unreleased"')
  if (after.split('\n## ')[0].trim() === '') throw new Error('CHANGELOG.md says nothing of this release')
  const day = new Date().toISOString().slice(0, 10)
  return `${before}${UNRELEASED}\n## ${version} - ${day}\n${after}`
}

/** Makes what is published. */
function makeFiles(folder, version, { out, withPython }) {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  // The build is there: npm's scripts would make it again.
  run(folder, 'npm', 'pack', '--silent', '--silent', '--ignore-scripts', '--pack-destination', out)
  makeGoModule(folder, version, join(out, 'go'))
  if (withPython)
    run(folder, 'python3', '-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', out, 'clients/python')
  writeFileSync(join(out, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(folder), null, 2)}\n`)
  writeFileSync(join(out, 'NOTES.md'), notesOf(folder, version))
  for (const path of ['LICENSE', 'LICENSES.md', 'NOTICE']) cpSync(join(folder, path), join(out, path))
}

/** Makes the images and the single files, from what npm has packed. */
async function makePrograms(folder, version, out) {
  const programs = programTrees(join(out, tarballIn(out)), join(folder, 'package-lock.json'))
  const { containerImage } = readJson(folder, 'project.json')
  await makeImages({ out: join(out, 'images'), programs, version, name: containerImage, time: sourceTime(root) })
  await makeSingleFiles({ out: join(out, 'bin'), programs, version })
}

function checkSite(site) {
  if (!existsSync(join(site, 'index.html'))) throw new Error(`--site ${site} has no documentation site: no index.html`)
}

/** Builds the documentation site of a release; gives its folder. */
function buildSite(folder) {
  run(root, process.execPath, 'scripts/build-site.js', '--release', folder)
  return join(root, 'dist/site')
}

/** Packs the documentation site as one archive for a server of files: the same site gives the same bytes. */
function packSite(site, version, out) {
  const archive = resolve(out, `ironstage-${version}-site.tar.gz`)
  const same = ['--format=gnu', '--owner=0', '--group=0', '--numeric-owner', '--sort=name', '--mode=u=rwX,go=rX']
  const time = `--mtime=@${sourceTime(root)}`
  run(resolve(site), 'tar', '--create', '--use-compress-program=gzip -n', '--file', archive, ...same, time, '.')
}

const tarballIn = (out) => readdirSync(out).find((path) => path.endsWith('.tgz'))

function writeSums(out) {
  const sums = filesUnder(out).map((path) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(out, path)))
      .digest('hex')
    return `${digest}  ${path}\n`
  })
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
}

const filesUnder = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

/** The Go module as a module proxy serves it (https://go.dev/ref/mod#goproxy-protocol): a folder for GOPROXY=file://. */
function makeGoModule(folder, version, out) {
  const source = join(folder, 'clients/go')
  const module = goModuleOf(folder)
  const served = join(out, escapedPath(module), '@v')
  mkdirSync(served, { recursive: true })
  const files = { LICENSE: readFileSync(join(folder, 'LICENSE')) }
  for (const path of filesUnder(source)) files[path] = readFileSync(join(source, path))
  const entries = Object.entries(files).map(([path, bytes]) => [`${module}@v${version}/${path}`, bytes])
  writeFileSync(join(served, `v${version}.zip`), zipSync(Object.fromEntries(entries)))
  writeFileSync(join(served, `v${version}.mod`), files['go.mod'])
  writeFileSync(
    join(served, `v${version}.info`),
    JSON.stringify({ Version: `v${version}`, Time: new Date().toISOString() }),
  )
  writeFileSync(join(served, 'list'), `v${version}\n`)
}

/** Module proxies write a capital as ! and the small letter. */
const escapedPath = (module) => module.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`)

/**
 * What npm knows of the packages that the release carries or brings, in CycloneDX. npm counts a package that is joined into
 * the build as one of development.
 */
function billOfMaterials(folder) {
  const all = JSON.parse(
    run(folder, 'npm', 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'),
  )
  const carried = new Set(carriedPackages())
  const isDevelopment = ({ properties }) => properties.some(({ name }) => name === 'cdx:npm:package:development')
  const isReleased = (component) => !isDevelopment(component) || carried.has(`${component.name} ${component.version}`)
  const components = all.components.filter(isReleased)
  const own = all.metadata.component
  // npm takes the name of the folder.
  own.name = readJson(folder, 'package.json').name
  const refs = new Set([own, ...components].map((component) => component['bom-ref']))
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }))
  return { ...all, components: [...components, ...imageComponents(folder)], dependencies }
}

/** What the images have besides; the single files have Node.js alone. */
function imageComponents(folder) {
  const { node, debian } = readJson(folder, 'containers/pins.json')
  const component = (name, version, purl) => ({ type: 'library', 'bom-ref': purl, name, version, purl })
  const packages = Object.entries(debian.packages).flatMap(([architecture, parts]) =>
    Object.values(parts)
      .flat()
      .map(({ name, version }) => {
        const query = `arch=${architecture}&distro=${debian.suite}`
        return component(
          name,
          version,
          `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${query}`,
        )
      }),
  )
  return [component('node', node.version, `pkg:generic/node@${node.version}`), ...packages]
}

/** The release's section of the CHANGELOG. */
function notesOf(folder, version) {
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
  const [, from] = changelog.split(`\n## ${version} - `)
  const [day] = from.split('\n', 1)
  const section = from.slice(day.length).split('\n## ')[0]
  return `# ironstage ${version}, ${day}\n${section.trimEnd()}\n`
}

/** Takes over what the copy has changed, commits and tags it. */
function keepRelease(folder, changed, version) {
  for (const path of changed) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    cpSync(join(folder, path), join(root, path))
  }
  run(root, 'git', 'add', ...changed)
  run(root, 'git', 'commit', '--quiet', '--message', `Release ${version}`)
  for (const tag of tagsOf(version)) run(root, 'git', 'tag', '--annotate', tag, '--message', `ironstage ${version}`)
}

function printNextCommands(folder, version, out) {
  writeLine(`made in ${out}:`)
  for (const path of filesUnder(out)) writeLine(`  ${path}`)
  const tarball = tarballIn(out)
  const wheel = filesUnder(out).find((path) => path.endsWith('.whl'))
  writeLine('to publish it:')
  writeLine(`  git push origin HEAD ${tagsOf(version).join(' ')}`)
  writeLine(`  npm publish ${join(out, tarball)}`)
  if (wheel) writeLine(`  twine upload ${join(out, basename(wheel))}`)
  const { containerImage } = readJson(folder, 'project.json')
  if (containerImage && existsSync(join(out, 'images')))
    for (const image of ['ironstage', 'ironic-agent']) {
      const source = `oci:${join(out, 'images/layout')}:${image}-${version}`
      writeLine(`  skopeo copy --all ${source} docker://${imageName(containerImage, image)}:${version}`)
    }
  const files = existsSync(join(out, 'bin'))
    ? ', the SBOM, the sums, and the single files of bin/'
    : ', the SBOM and the sums'
  writeLine(`  a release of ${tagsOf(version)[0]} with the notes of ${join(out, 'NOTES.md')}${files}`)
}

try {
  await main()
} catch (error) {
  const detail = error.stderr ? `\n${error.stderr}` : ''
  process.stderr.write(`release: ${error.message}${detail}\n`)
  process.exitCode = 1
}
