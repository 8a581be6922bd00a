import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

// What `npm ci` makes in a checkout: the command and its dashboard, from the sources. The type check and the declarations
// of the library take minutes, and nobody needs them to run the demo: `npm run build`, which the tests begin with, makes
// them. npm runs this before it packs too, after a build: then nothing is left to do.

const run = (script, ...argv) =>
  execFileSync(process.execPath, [join(import.meta.dirname, script), ...argv], { stdio: 'inherit' })

process.stdout.write('ironstage: building the command and the dashboard from the sources, in some seconds ...\n')
run('bundle.js', '--from-sources')
run('build-page.js', '--from-sources')
process.stdout.write('ironstage: built; npm run demo shows it, and npm run build checks types and makes the library\n')
