import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'
import { Visitor } from 'rolldown/utils'
import { carriedBanner } from './carried-packages.js'

// Joins what `tsc -b` has built, and the packages that are plain JavaScript, into the few files of dist/bundle/ that
// users run: hundreds of modules take longer to find than to run. Parts that not every command needs are files of their own.
//
//   --from-sources  joins the sources, without a type check: what `npm ci` makes in seconds. A build replaces it.

const root = join(import.meta.dirname, '..')
const built = (path) => join(root, 'dist', path)
const isFromSources = process.argv.includes('--from-sources')
const input = (path) => (isFromSources ? join(root, path.replace(/\.js$/, '.ts')) : built(path))

/** Says that the bundle is made from the sources. */
const SOURCES_MARK = built('bundle/from-sources')

/** What package.json names. Each is a file in dist/bundle/ with the name of its key. */
const LIBRARY = {
  index: input('public/index.js'),
  steps: input('public/steps.js'),
  ignition: input('public/ignition.js'),
  coreos: input('public/coreos.js'),
  control: input('public/control.js'),
  vitest: input('public/vitest.js'),
}

/** The command, and the threads of a lab. */
const PROGRAMS = {
  command: input('apps/cli/main.js'),
  'lab-worker': input('lab/threads/lab-worker.js'),
}

/** ES modules as they are: one that a test's own copy of MSW has to be imported into, and a program that is started by path. */
const MODULES = {
  msw: input('public/msw.js'),
  'pty-runner': input('targets/local/pty-runner.js'),
}

/**
 * Packages with native code or WebAssembly, which find their files by path; large ones that are loaded on first use; and one
 * that threads load by its path too.
 */
const SEPARATE = [
  '@bokuweb/zstd-wasm',
  'bcryptjs',
  'ext2fs',
  'jiti',
  'libsql',
  'lzma-native',
  'msw',
  'node-liblzma',
  'node-pty',
  'openpgp',
  'ssh2',
]

/** Where rooms are. */
const ROOM_FOLDERS = ['', 'base', 'bmc', 'apps']

// Processes may run from the bundle meanwhile, and load parts of it later: it is written only when there is a change.
if (isFresh()) process.exit()

await write(MODULES, {
  cleanDir: true,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'module-[name]-[hash].js',
})
// The library and the command share their files. They are CommonJS: only of that can Node 20 take code that V8 has
// compiled before, and without import().
const files = await write(
  { ...LIBRARY, ...PROGRAMS },
  {
    format: 'cjs',
    dynamicImportInCjs: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'part-[name]-[hash].cjs',
    // Modules of some lines without imports, which no start of the command needs: each would be a file of its own.
    codeSplitting: { groups: [{ name: 'texts', test: /\/(?:effect-text|pacer|patterns|shared-texts)\.[jt]s$/ }] },
  },
)
writeFileSync(built('bundle/load.js'), loader())
execFileSync(process.execPath, [join(root, 'scripts/keep-code.js')], { stdio: ['ignore', 'ignore', 'inherit'] })
for (const name of Object.keys(LIBRARY)) {
  const { exports } = files.find(({ fileName }) => fileName === `${name}.cjs`)
  const names = exports.map((exported) => `  ${exported},\n`).join('')
  writeFileSync(
    built(`bundle/${name}.js`),
    `import { load } from './load.js'\n\nexport const {\n${names}} = load('${name}.cjs')\n`,
  )
}
writeFileSync(built('bundle/lab-worker.js'), `import { load } from './load.js'\n\nload('lab-worker.cjs')\n`)
writeFileSync(
  built('bundle/ironstage.js'),
  `#!/usr/bin/env node\nimport { loadCommand } from './load.js'\n\nloadCommand()\n`,
)

if (isFromSources) writeFileSync(SOURCES_MARK, '')

/** The program that loads the other files. It knows which build it belongs to: code that V8 kept of another one is wrong. */
function loader() {
  const hash = createHash('sha256')
  for (const { code } of files) hash.update(code)
  const text = readFileSync(join(root, 'scripts/bundle-loader.js'), 'utf8')
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return text
    .replace(/(?<=^const BUILD = ')(?='$)/m, hash.digest('hex').slice(0, 16))
    .replace(/(?<=^const NEEDED_NODE = ')(?='$)/m, engines.node.replace('>=', ''))
}

/** @returns the files that were written */
async function write(entries, output) {
  const bundle = await rolldown({
    input: entries,
    cwd: root,
    platform: 'node',
    // The sources name each other as they are called once they are built.
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    transform: { target: 'es2022' },
    external: (id) => SEPARATE.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [{ name: 'large-json', transform: { filter: { id: /\.json$/ }, handler: parsedAtUse } }],
    onLog: (level, log, next) => next(level === 'warn' ? 'error' : level, log),
    // Names in the files the modules that a part has; test/cli/start.test.ts reads them.
    experimental: { attachDebugInfo: 'simple' },
  })
  const { output: files } = await bundle.write({
    dir: built('bundle'),
    banner: ({ moduleIds }) => carriedBanner(moduleIds),
    // Comments are for those who read the sources, and are a tenth of the package; licences stay.
    comments: { jsdoc: false },
    ...output,
  })
  await bundle.close()
  for (const { fileName, code } of files) writeFileSync(join(built('bundle'), fileName), withoutIndentation(code))
  return files
}

/**
 * A file of JSON as one text that is parsed: written out as an object it would have a line and an indentation for each of its
 * values, twice its size, and V8 reads JSON faster than its own literals.
 */
function parsedAtUse(json) {
  const text = JSON.stringify(JSON.stringify(JSON.parse(json)))
  return { code: `module.exports = JSON.parse(${text})`, moduleType: 'js' }
}

/** Indentation is a twentieth of the package; lines and names stay, for the stacks of errors. */
function withoutIndentation(code) {
  const texts = []
  const noteLines = ({ start, end }) => {
    if (code.slice(start, end).includes('\n')) texts.push({ start, end })
  }
  new Visitor({ TemplateElement: noteLines }).visit(parseAst(code, { astType: 'js' }))
  const isInText = (place) => texts.some(({ start, end }) => start <= place && place < end)
  return code.replace(/(?<=\n)\t+/g, (tabs, place) => (isInText(place) ? tabs : ''))
}

function isFresh() {
  const made = built('bundle/ironstage.js')
  if (!existsSync(made)) return false
  if (!isFromSources && existsSync(SOURCES_MARK)) return false
  const base = isFromSources ? root : join(root, 'dist')
  // The page is no part of the bundle. What else is below dist/: the bundle, a record of the type check, and rooms that a rename has left behind.
  const rooms = ROOM_FOLDERS.flatMap((folder) =>
    readdirSync(join(base, folder)).map((name) => join(folder, name)),
  ).filter((room) => room !== 'apps/ui' && existsSync(join(root, room, 'tsconfig.json')))
  const modules = rooms.flatMap((room) =>
    readdirSync(join(base, room), { recursive: true }).map((path) => join(base, room, path)),
  )
  const inputs = [
    ...['bundle.js', 'carried-packages.js', 'keep-code.js', 'bundle-loader.js'].map((name) =>
      join(import.meta.dirname, name),
    ),
    join(root, 'package-lock.json'),
    ...modules.filter((path) => path.endsWith(isFromSources ? '.ts' : '.js')),
  ]
  const { mtimeMs: since } = statSync(made)
  return inputs.every((path) => statSync(path).mtimeMs < since)
}
