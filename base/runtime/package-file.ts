import { existsSync, readFileSync } from 'node:fs'
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
export const packageVersion = (): string => packageManifest().version

interface PackageManifest {
  version: string
  /** Written by `npm run facts` for an owner, in whose name the package is published. */
  ironstage?: { installAs: string }
}

/**
 * Argument of `npm install` that installs this ironstage under the name that all imports have: that name on a registry may be
 * another owner's. What no owner has published, and a checkout, is installed by its path.
 */
export function packageToInstall(): string {
  if (existsSync(packageFile('tsconfig.base.json'))) return packageFile('')
  return packageManifest().ironstage?.installAs ?? packageFile('')
}

const packageManifest = (): PackageManifest =>
  JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as PackageManifest
