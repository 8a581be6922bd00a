import { createRequire } from 'node:module'
import { UserError } from './error.js'
import { packageFile } from './package-file.js'

/** Packages beside the bundle, which an installation may lack, and what each is needed for. */
const NEEDED_FOR = {
  '@bokuweb/zstd-wasm': 'to pack the images of an image cache',
  ext2fs: 'for the boot filesystems of simulated disks',
  jiti: 'for files of steps',
  libsql: 'for state folders and image caches; a lab in memory does without',
  'lzma-native': 'for images and boot artifacts packed with xz',
  openpgp: 'for the signatures of images',
  ssh2: 'for targets behind SSH',
} as const

export type SeparatePackage = keyof typeof NEEDED_FOR

/** Loads every one of them, as their first use would. Null: it can be used. */
export function checkPackages(): { name: SeparatePackage; neededFor: string; problem: UserError | null }[] {
  const require = createRequire(packageFile('package.json'))
  return (Object.keys(NEEDED_FOR) as SeparatePackage[]).map((name) => ({
    name,
    neededFor: NEEDED_FOR[name],
    problem: problemOf(name, () => require(name) as unknown),
  }))
}

function problemOf(name: SeparatePackage, load: () => unknown): UserError | null {
  try {
    loadPackage(name, load)
    return null
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

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
  const { code, message } = cause as Partial<NodeJS.ErrnoException>
  if (NOT_FOUND.has(String(code)))
    return missing(name, 'not installed in full', 'npm install --include=optional', cause)
  // node-gyp-build has no code for what it does not find.
  if (code === 'ERR_DLOPEN_FAILED' || message?.startsWith('No native build was found'))
    return missing(name, 'not built for this computer', `npm rebuild ${name}`, cause)
  return cause
}

/** The command is part of the sentence: a step that fails hands on no more than that. */
function missing(name: SeparatePackage, problem: string, command: string, cause: unknown): UserError {
  return new UserError(
    'missing-package',
    `the package ${name} is ${problem} (${command}); it is needed ${NEEDED_FOR[name]}`,
    { cause, remedy: 'run the command where ironstage is installed' },
  )
}
