import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Tests start the command from the bundle: it is made again when what `tsc -b` has built is newer. */
export default function setup(): void {
  if (!existsSync(join(root, 'dist/apps/cli/main.js'))) return
  execFileSync(process.execPath, [join(root, 'scripts/bundle.js')], { stdio: 'inherit' })
}
