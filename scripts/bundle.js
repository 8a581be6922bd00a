import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { carriedBanner } from './carried-packages.js'

// Joins what `tsc -b` has built, and the packages that are plain JavaScript, into the few files of dist/bundle/ that
// users run: hundreds of modules take longer to find than to run. Parts that not every command needs are files of their own.

const root = join(import.meta.dirname, '..')
const built = (path) => join(root, 'dist', path)

/** What package.json names. Each is a file in dist/bundle/ with the name of its key. */
const LIBRARY = {
  index: built('public/index.js'),
  steps: built('public/steps.js'),
  ignition: built('public/ignition.js'),
  coreos: built('public/coreos.js'),
  control: built('public/control.js'),
  vitest: built('public/vitest.js'),
}

/** The command, and the threads of a lab. */
const PROGRAMS = {
  command: built('apps/cli/main.js'),
  'lab-worker': built('lab/threads/lab-worker.js'),
}

/** ES modules as they are: one that a test's own copy of MSW has to be imported into, and a program that is started by path. */
const MODULES = {
  msw: built('public/msw.js'),
  'pty-runner': built('targets/local/pty-runner.js'),
}

/** Packages with native code or WebAssembly, which find their files by path; and large ones that are loaded on first use. */
const SEPARATE = ['@bokuweb/zstd-wasm', 'ext2fs', 'jiti', 'libsql', 'lzma-native', 'msw', 'node-pty', 'openpgp', 'ssh2']

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
  `#!/usr/bin/env node\nimport { keepCompiledCode, load } from './load.js'\n\nkeepCompiledCode()\nload('command.cjs')\n`,
)

/** The program that loads the other files. It knows which build it belongs to: code that V8 kept of another one is wrong. */
function loader() {
  const hash = createHash('sha256')
  for (const { code } of files) hash.update(code)
  const text = readFileSync(join(root, 'scripts/bundle-loader.js'), 'utf8')
  return text.replace(/(?<=^const BUILD = ')(?='$)/m, hash.digest('hex').slice(0, 16))
}

/** @returns the files that were written */
async function write(input, output) {
  const bundle = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external: (id) => SEPARATE.some((name) => id === name || id.startsWith(`${name}/`)),
    onLog: (level, log, next) => next(level === 'warn' ? 'error' : level, log),
    // Names in the files the modules that a part has; test/cli/start.test.ts reads them.
    experimental: { attachDebugInfo: 'simple' },
  })
  const { output: files } = await bundle.write({
    dir: built('bundle'),
    banner: ({ moduleIds }) => carriedBanner(moduleIds),
    ...output,
  })
  await bundle.close()
  return files
}

function isFresh() {
  const made = built('bundle/ironstage.js')
  if (!existsSync(made)) return false
  // The page is no part of the bundle. What else is below dist/: the bundle, a record of the type check, and rooms that a rename has left behind.
  const rooms = ROOM_FOLDERS.flatMap((folder) => readdirSync(built(folder)).map((name) => join(folder, name))).filter(
    (room) => room !== 'apps/ui' && existsSync(join(root, room, 'tsconfig.json')),
  )
  const modules = rooms.flatMap((room) =>
    readdirSync(built(room), { recursive: true }).map((path) => join(built(room), path)),
  )
  const inputs = [
    ...['bundle.js', 'carried-packages.js', 'keep-code.js', 'bundle-loader.js'].map((name) =>
      join(import.meta.dirname, name),
    ),
    join(root, 'package-lock.json'),
    ...modules.filter((path) => path.endsWith('.js')),
  ]
  const { mtimeMs: since } = statSync(made)
  return inputs.every((path) => statSync(path).mtimeMs < since)
}
