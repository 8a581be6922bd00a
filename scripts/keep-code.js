import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

// Runs `ironstage deploy` of the bundle, and keeps the code that V8 has compiled by then beside the files, for
// dist/bundle/load.js. Files that it does not load are compiled without being run. The package goes without it: a third
// of its size would be code that another version of Node.js throws away.

const bundle = join(import.meta.dirname, '../dist/bundle')
const { compile, load, newlyCompiled, writeCode } = await import(join(bundle, 'load.js'))

// V8 would hand its old code on.
process.env['XDG_CACHE_HOME'] = join(bundle, 'none')
for (const name of readdirSync(bundle).filter((name) => name.endsWith('.code'))) rmSync(join(bundle, name))
process.on('exit', () => {
  for (const name of readdirSync(bundle).filter((name) => name.endsWith('.cjs'))) {
    if (!newlyCompiled().has(name)) compile(name)
    writeCode(bundle, `${name}.${process.arch}`, newlyCompiled().get(name))
  }
})
process.argv = [process.execPath, join(bundle, 'ironstage.js'), 'deploy']
load('command.cjs')
