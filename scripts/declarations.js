import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

// Joins the declarations that users reach into the few files of dist/types/: `tsc -b` makes one a source file, 1,700 of them.

const root = join(import.meta.dirname, '..')
const entries = readdirSync(join(root, 'public'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.replace(/\.ts$/, ''))
const built = (entry) => join(root, `dist/public/${entry}.d.ts`)
const types = join(root, 'dist/types')
const isPublic = (id) => id.startsWith(join(root, 'dist/public/'))
/** Without it, declarations would need the user's project to name the types of Node.js. */
const NODE_TYPES = '/// <reference types="node" preserve="true" />\n'

if (isFresh()) process.exit()

const bundle = await rollup({
  input: Object.fromEntries(entries.map((entry) => [entry, built(entry)])),
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  logLevel: 'warn',
  plugins: [dts()],
  onwarn(warning) {
    // The warning names every type of a signature that users need no name for.
    if (!warning.message.includes('private shared type exports')) throw new Error(warning.message)
  },
})
rmSync(types, { recursive: true, force: true })
const { output } = await bundle.write({
  dir: types,
  entryFileNames: '[name].d.ts',
  // Only the entries of MSW and Vitest may import packages that a user need not have.
  manualChunks: (id) => (isPublic(id) ? undefined : 'shared'),
  chunkFileNames: '[name].d.ts',
  minifyInternalExports: false,
})
await bundle.close()
for (const { fileName, isEntry } of output) {
  if (!isEntry) continue
  const path = join(types, fileName)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.startsWith(NODE_TYPES) ? text : NODE_TYPES + text)
}

/** True if no declaration was built after those that are there. `tsc -b` writes one only when it changes. */
function isFresh() {
  const made = join(types, 'index.d.ts')
  if (!existsSync(made)) return false
  const { mtimeMs: since } = statSync(made)
  const folder = join(root, 'dist')
  const inputs = readdirSync(folder, { recursive: true }).filter(
    (path) => path.endsWith('.d.ts') && !/^(test|types)\//.test(path),
  )
  return [import.meta.filename, ...inputs.map((path) => join(folder, path))].every(
    (path) => statSync(path).mtimeMs < since,
  )
}
