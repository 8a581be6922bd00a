import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Path of a file that the package ships, found from the sources (`base/runtime/`) as well as from the build
 * (`dist/base/runtime/`, `dist/bundle/`).
 */
export function packageFile(path: string): string {
  const here = import.meta.url
  return fileURLToPath(new URL(here.includes('/dist/base/runtime/') ? `../../../${path}` : `../../${path}`, here))
}

/** Version of ironstage, as its package.json has it. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}
