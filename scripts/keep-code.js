import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Runs `ironstage deploy` of the bundle, and keeps the code that V8 has compiled by then beside the files, for
// dist/bundle/load.js. Files that it does not load are compiled without being run.

const bundle = join(import.meta.dirname, '../dist/bundle')
const { compile, load } = await import(join(bundle, 'load.js'))

// V8 would hand its old code on, with the names of another folder.
for (const name of readdirSync(bundle).filter((name) => name.endsWith('.code'))) rmSync(join(bundle, name))
const scripts = new Map()
process.on('exit', () => {
  for (const name of readdirSync(bundle).filter((name) => /\.cjs$/.test(name))) {
    const path = join(bundle, name)
    const code = (scripts.get(name) ?? compile(name)).createCachedData()
    writeFileSync(`${path}.new`, code)
    renameSync(`${path}.new`, `${path}.code`)
  }
})
process.argv = [process.execPath, join(bundle, 'ironstage.js'), 'deploy']
load('command.cjs', (name, script) => scripts.set(name, script))
