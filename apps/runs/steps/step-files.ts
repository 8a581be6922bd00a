import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defined, errorChain, importPackage, isObject, UserError } from '../../../base/runtime/index.js'
import { managersWith, type HardwareManager, type Step } from '../../../steps/index.js'

/**
 * Hardware managers that offer the exports of step files, in addition to the standard ones. A file in TypeScript or
 * JavaScript, or a package, exports steps, hardware managers, or lists of them, as default or by name; other exports are
 * ignored. `import ... from 'ironstage'` in a file, and the package's other entries, resolve to the running ironstage,
 * independent of where it is installed.
 *
 * @param folder folder that paths and packages are resolved from
 * @throws UserError (usage) for a file that is missing, cannot be loaded or exports no step; for names used twice
 */
export async function loadManagers(
  files: readonly string[],
  folder = process.cwd(),
): Promise<readonly HardwareManager[]> {
  const found: (Step | HardwareManager)[] = []
  for (const file of files) found.push(...(await loadFile(file, folder)))
  // The set removes duplicates: of a file named twice, and of an export that two files share.
  return managersWith(...new Set(found))
}

async function loadFile(file: string, folder: string): Promise<(Step | HardwareManager)[]> {
  const path = resolve(folder, file)
  const isFile = existsSync(path)
  if (!isFile && (/^[./~]/.test(file) || /\.[cm]?[jt]s$/.test(file)))
    throw stepsFileError(
      `the steps file ${file} does not exist`,
      `its path is ${path}; create one with ironstage step new`,
    )
  // The compiler loads slowly, so it is imported only when there are step files.
  const { createJiti } = await importPackage('jiti', () => import('jiti'))
  const jiti = createJiti(join(folder, 'steps'), {
    virtualModules: await packageEntries(),
    fsCache: false,
    interopDefault: false,
  })
  let exported: unknown
  try {
    exported = await jiti.import(isFile ? path : file)
  } catch (error) {
    throw notLoaded(file, isFile, error)
  }
  return usable(file, exported)
}

const packageEntries = async (): Promise<Record<string, unknown>> => ({
  ironstage: await import('../../../public/index.js'),
  'ironstage/steps': await import('../../../public/steps.js'),
  'ironstage/ignition': await import('../../../public/ignition.js'),
  'ironstage/coreos': await import('../../../public/coreos.js'),
})

function notLoaded(file: string, isFile: boolean, error: unknown): UserError {
  if (error instanceof UserError) return stepsFileError(`${file}: ${error.message}`, error.remedy ?? 'correct the file')
  const [first = '', ...causes] = errorChain(error)
  if (!isFile && first.startsWith(`Cannot find module '${file}'`))
    return stepsFileError(
      `there is neither a steps file nor a package ${file}`,
      'name a file as in ./my-steps.ts, or install the package in this folder',
    )
  // The compiler and the module loader print several lines; the first ones have the error and its position.
  const lines = first.split('\n').map((line) => line.trim())
  const message = lines[0]!.replace(/^ParseError: /, '')
  const at = /^\S+:\d+:\d+$/.exec(lines[1] ?? '')?.[0] ?? errorPositionOf(error)
  return stepsFileError(
    `the steps file ${file} cannot be loaded`,
    at === undefined ? 'correct the file' : `look at ${at}`,
    new Error([message, ...causes].join(': ')),
  )
}

/** Position in the user's file at which an error was thrown: `FILE:LINE:COLUMN`. */
export function errorPositionOf(error: unknown): string | undefined {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n') : []
  return frames
    .flatMap((frame) => /^\s+at .*?\(?((?:file:\/\/)?\/[^()]+:\d+:\d+)\)?$/.exec(frame)?.[1] ?? [])
    .filter((place) => !/\/node_modules\/|\/dist\//.test(place))[0]
    ?.replace(/^file:\/\//, '')
}

function usable(file: string, exported: unknown): (Step | HardwareManager)[] {
  const named = Object.entries(exported as Record<string, unknown>)
  const found = named.flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((one) => {
      if (isStep(one) || isManager(one)) return [one]
      if (looksLikeStep(one))
        throw stepsFileError(
          `${file}: its export ${name} looks like a step, but is not one`,
          'make it with defineStep({ ... })',
        )
      return []
    }),
  )
  if (found.length === 0)
    throw stepsFileError(
      `the steps file ${file} exports neither a step nor a hardware manager`,
      "export what defineStep returns: export const wipe = defineStep({ name: 'wipe', ... })",
    )
  return found
}

const isStep = (value: unknown): value is Step =>
  isObject(value) &&
  typeof value['name'] === 'string' &&
  typeof value['run'] === 'function' &&
  typeof value['advertise'] === 'function' &&
  Array.isArray(value['on'])

const isManager = (value: unknown): value is HardwareManager =>
  isObject(value) &&
  ['className', 'name', 'version'].every((key) => typeof value[key] === 'string') &&
  typeof value['support'] === 'function' &&
  Array.isArray(value['steps']) &&
  value['steps'].every(isStep)

/** Whether a value is a definition that was not passed to `defineStep`, or an incomplete manager. */
const looksLikeStep = (value: unknown): boolean =>
  isObject(value) && (typeof value['run'] === 'function' || Array.isArray(value['steps']))

const stepsFileError = (message: string, remedy: string, cause?: unknown): UserError =>
  new UserError('steps-file', message, { remedy, kind: 'usage', ...defined({ cause }) })
