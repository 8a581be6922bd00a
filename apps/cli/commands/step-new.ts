import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { standardManagers } from '../../../steps/index.js'
import { makeFolder, packageToInstall, UserError } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { stepSource, testSource, type StepNames } from './step-template.js'
import type { STEP_NEW_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'

/** `ironstage step new NAME`: a step and its test, which passes at once. */
export async function stepNew(
  { dir = '.' }: CommandOptionValues<(typeof STEP_NEW_OPTIONS)[number]>,
  { stdout, variables }: Environment,
  name: string,
): Promise<number> {
  const names = namesOf(name)
  const file = join(dir, `${names.file}.ts`)
  const test = join(dir, `${names.file}.test.ts`)
  try {
    await makeFolder(dir)
  } catch (cause) {
    throw new UserError('step-new', `the folder ${dir} cannot be made`, {
      cause,
      kind: 'usage',
      remedy: 'name a folder that you may write with --dir',
    })
  }
  for (const path of [file, test]) if (existsSync(path)) throw stepExists(path)
  const written: string[] = []
  for (const [path, text] of [
    [file, stepSource(names)],
    [test, testSource(names)],
  ] as const) {
    await writeStepFile(path, text, written)
    written.push(path)
  }
  const shown = /^[./]/.test(file) ? file : `./${file}`
  const program = variables['npm_command'] === 'exec' ? 'npx ironstage' : 'ironstage'
  const needed = missingPackages(dir)
  stdout.lines([
    `${file} is the step, ${test} its test.`,
    '',
    ...(needed.length === 0 ? [] : [`  first:     npm install --save-dev --ignore-scripts ${needed.join(' ')}`]),
    `  test it:   npx vitest run ${test}`,
    `  run it:    ${program} step run ${names.step} --steps ${shown} \\`,
    `               --target sim --args '{"note": "hello"}'`,
    `  serve it:  ${program} up --nodes 1 --steps ${shown}`,
  ])
  return 0
}

/** Packages that the test imports and its folder does not find, as npm installs them. */
function missingPackages(dir: string): string[] {
  const require = createRequire(join(resolve(dir), 'step.js'))
  const isFound = (name: string): boolean => {
    try {
      return require.resolve(name) !== ''
    } catch {
      return false
    }
  }
  return [...(isFound('ironstage') ? [] : [packageToInstall()]), ...(isFound('vitest/package.json') ? [] : ['vitest'])]
}

/** Writes without replacing: the file system refuses an existing file, also one made at the same moment. */
async function writeStepFile(path: string, text: string, before: readonly string[]): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    const also = before.length > 0 ? `; ${before.join(', ')} was made before` : ''
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw stepExists(path, also)
    throw new UserError('step-new', `${path} cannot be written${also}`, {
      kind: 'usage',
      remedy: 'name a folder that you may write with --dir',
      cause: error,
    })
  }
}

/** Words that cannot name a variable, and names that the step's file or its test uses already. */
const TAKEN = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
    'false finally for function if implements import in instanceof interface let new null package private protected ' +
    'public return static super switch this throw true try typeof undefined var void while with yield ' +
    'asked createLab defineStep expect managersWith runCommand test'
  ).split(' '),
)

/**
 * @throws UserError (usage) for a name that files, steps and variables cannot all have, or that a step has already
 */
function namesOf(name: string): StepNames {
  const wrong = (message: string, remedy: string) => usageError(message, remedy, 'step-name')
  if (!/^[a-z][a-z0-9]*([-_][a-z0-9]+)*$/.test(name) || name.length > 60)
    throw wrong(
      `${JSON.stringify(name)} cannot be the name of a step`,
      'use up to 60 lower-case letters and digits, in words joined by - or _, a letter first: wipe-nvme',
    )
  const words = name.split(/[-_]/)
  const step = words.join('_')
  const owner = standardManagers.find(({ steps }) => steps.some((known) => known.name === step))
  if (owner) throw wrong(`there is a step ${step} already, in ${owner.className}`, 'choose another name')
  const joined = words.map((word, index) => (index === 0 ? word : capital(word))).join('')
  return { file: words.join('-'), step, variable: TAKEN.has(joined) ? `my${capital(joined)}` : joined }
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const stepExists = (path: string, also = ''): UserError =>
  new UserError('step-new', `${path} exists${also}`, {
    kind: 'usage',
    remedy: 'choose another name, or another folder with --dir',
  })
