import { UserError } from './error.js'

/** Packages beside the bundle, which an installation may lack, and who needs each. */
const NEEDED_FOR = {
  '@bokuweb/zstd-wasm': 'disks in files need it, and boot artifacts packed with zstd',
  ext2fs: 'the boot filesystems of simulated disks need it',
  jiti: 'files of steps need it',
  libsql: 'state folders and image caches need it; a lab in memory does without',
  'lzma-native': 'images and boot artifacts packed with xz need it',
  openpgp: 'signatures of images need it',
  ssh2: 'targets behind SSH need it',
} as const

export type SeparatePackage = keyof typeof NEEDED_FOR

/**
 * Loads a package on first use.
 *
 * @param load requires or imports it, by its name as a literal: the bundler and the compiler read it
 * @throws UserError (missing-package) when npm has left it out, or its native code is not built
 */
export function loadPackage<T>(name: SeparatePackage, load: () => T): T {
  try {
    return load()
  } catch (cause) {
    throw loadFailure(name, cause)
  }
}

/** {@link loadPackage} for a package that is imported. */
export async function importPackage<T>(name: SeparatePackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw loadFailure(name, cause)
  }
}

const NOT_FOUND = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'])

/** Errors other than those of an incomplete installation stay as they are. */
function loadFailure(name: SeparatePackage, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (NOT_FOUND.has(code))
    return new UserError('missing-package', `the package ${name} is not installed in full; ${NEEDED_FOR[name]}`, {
      cause,
      remedy: 'run npm install --include=optional where ironstage is installed',
    })
  // node-gyp-build has no code for what it does not find.
  if (code === 'ERR_DLOPEN_FAILED' || /^No native build was found/.test(String((cause as Error | undefined)?.message)))
    return new UserError('missing-package', `the package ${name} is not built for this computer; ${NEEDED_FOR[name]}`, {
      cause,
      remedy: `run npm rebuild ${name} --ignore-scripts=false where ironstage is installed`,
    })
  return cause
}
