import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** A fenced block of a guide. */
export interface Block {
  language: string
  /** File name of a source, or what is special about a command. */
  name: string
  text: string
  /** False if a comment above it says why it is not run. */
  isRun: boolean
}

const BLOCK = /^(<!-- not run: .+ -->\n)?```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm

export const blocks = (file: string): Block[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(BLOCK)].map(([, reason, language, name, text]) => ({
    language: language!,
    name: name!,
    text: text!,
    isRun: reason === undefined,
  }))

/** A folder as npm leaves it with ironstage and vitest, for the ironstage that was built here. */
export async function readersFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-guide-'))
  const installed = join(folder, 'node_modules', 'ironstage')
  await mkdir(installed, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"name": "reader", "private": true}')
  for (const part of ['package.json', 'images', 'dist/bundle'])
    await cp(join(root, part), join(installed, part), { recursive: true })
  await symlink(join(root, 'node_modules'), join(installed, 'node_modules'))
  for (const name of ['vitest', 'msw'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  return folder
}

/** The words of a command line, as a shell takes them. */
export const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

export interface TestReport {
  numPassedTests: number
  numFailedTests: number
  testResults: { assertionResults: { duration: number }[] }[]
}

/** Runs `npx vitest run FILE` in a reader's folder, where it must pass. */
export async function followTests(line: string, folder: string): Promise<TestReport> {
  const [npx, vitest, ...rest] = words(line)
  if (npx !== 'npx' || vitest !== 'vitest') throw new Error(`this runs no tests: ${line}`)
  // On a machine that is busy otherwise, the five seconds that Vitest gives a test are few.
  const ours = ['--reporter=json', '--outputFile=tests.json', '--testTimeout=60000']
  const argv = ['node_modules/vitest/vitest.mjs', ...rest, ...ours]
  await promisify(execFile)(process.execPath, argv, { cwd: folder })
  return JSON.parse(readFileSync(join(folder, 'tests.json'), 'utf8')) as TestReport
}
