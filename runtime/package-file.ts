import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Path of a file that the package ships, found from the sources (`runtime/`) as well as from the build (`dist/runtime/`,
 * `dist/bundle/`).
 */
export function packageFile(path: string): string {
  const here = import.meta.url
  return fileURLToPath(new URL(/\/dist\/(runtime|bundle)\//.test(here) ? `../../${path}` : `../${path}`, here))
}

/** Version of ironstage, as its package.json has it. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}
