import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The rehearsal image that comes with ironstage: a CoreOS-layout metal image of a few KiB. */
export const REHEARSAL_IMAGE = packageFile('images/coreos-metal.raw.xz')

/** A live ISO in CoreOS's layout, which only simulated machines boot. */
export const REHEARSAL_LIVE_ISO = packageFile('images/coreos-live.iso')

/** An Ignition config with a user, a file and a unit, for who has none at hand. */
export const EXAMPLE_IGNITION = packageFile('images/example.ign')

export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}

/** A file of the package, found from the sources (`lab/`) as well as from the build (`dist/lab/`). */
function packageFile(path: string): string {
  const here = import.meta.url
  return fileURLToPath(new URL(here.includes('/dist/lab/') ? `../../${path}` : `../${path}`, here))
}
