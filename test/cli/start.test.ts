import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { allCommands } from '../kit/commands/all-commands.js'
import { command } from '../kit/commands/command.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { roomOf } from '../kit/source-tree.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Files and packages that a source file loads at once, with all that those load. */
function loadedBy(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file)) return loaded
  loaded.add(file)
  const statements = /^(?:import|export)(?! type\b)(?:\s[^;'"]*?\sfrom)?\s*'([^']+)'/gms
  for (const [, name = ''] of withoutComments(readFileSync(file, 'utf8')).matchAll(statements))
    if (name.startsWith('.')) loadedBy(resolve(file, '..', name.replace(/\.js$/, '.ts')), loaded)
    else loaded.add(name)
  return loaded
}

/** Examples in comments import the package. */
const withoutComments = (text: string): string => text.replace(/\/\*[^]*?\*\//g, '')

test('the definitions of all commands need no room but cli and runtime', () => {
  const loaded = [...loadedBy(join(root, 'apps/cli/main.ts'))].map((name) =>
    name.startsWith('/') ? roomOf(relative(root, name)) : name,
  )
  expect([...new Set(loaded)].filter((name) => !name!.startsWith('node:')).sort()).toEqual([
    'apps/cli',
    'base/runtime',
    'commander',
    'fastest-levenshtein',
    'pure-rand',
  ])
})

/** Prints the address of each file that is loaded, CommonJS modules at the end. */
const LISTING_HOOK = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'
   import Module, { register } from 'node:module'
   process.on('exit', () => {
     for (const path of Object.keys(Module._cache)) writeSync(2, 'file://' + path + '\\n')
   })
   register('data:text/javascript,' + encodeURIComponent(
     "import { writeSync } from 'node:fs'; export const load = (url, context, next) => (writeSync(2, url + '\\\\n'), next(url, context))"
   ))`,
)}`

test.each([[['--version']], [['--help']], [['deploy', '--help']], [['deploy', '--no-such-option']]])(
  'ironstage %j loads no other room, and few modules',
  async (argv) => {
    const run = promisify(execFile)(process.execPath, ['--import', LISTING_HOOK, IRONSTAGE, ...argv])
    const { stderr } = await run.catch((error: { stderr: string }) => error)
    const files = stderr.split('\n').filter((line) => line.startsWith('file://'))
    expect(files.length).toBeLessThan(10)
    expect(files.filter((url) => url.endsWith('.cjs')).length).toBeGreaterThan(0)
    const modules = modulesOf(files.map((url) => fileURLToPath(url)))
    expect(
      modules.filter((path) =>
        /dist\/(?!apps\/cli|base\/runtime)|node_modules\/(?!commander|fastest-levenshtein|pure-rand)/.test(path),
      ),
    ).toEqual([])
    expect(modules.length).toBeGreaterThan(10)
    expect(modules.length).toBeLessThan(100)
  },
)

test.each(allCommands().map(({ path }) => [path.join(' ')]))('the help of "%s" fits 80 columns', async (path) => {
  const run = command([...path.split(' ').filter(Boolean), '--help'])
  expect(await run.ended).toBe(0)
  expect(run.stdout).toMatch(/^Usage: ironstage/)
  expect(run.stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test('COLUMNS says how wide help is', async () => {
  const widest = async (columns: string) => {
    const run = command(['deploy', '--help'], { variables: { COLUMNS: columns } })
    await run.ended
    return Math.max(...run.stdout.split('\n').map(({ length }) => length))
  }
  expect(await widest('60')).toBeLessThanOrEqual(60)
  expect(await widest('120')).toBeGreaterThan(100)
  expect(await widest('nonsense')).toBeLessThanOrEqual(80)
})

/** Prints the processor time of the process, in microseconds, when it ends. */
const TIMING_HOOK = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'
   process.on('exit', () => {
     const { userCPUTime, systemCPUTime } = process.resourceUsage()
     writeSync(2, 'processor ' + (userCPUTime + systemCPUTime) + '\\n')
   })`,
)}`

/** The modules that files of the bundle have: rolldown writes the path of each above its code. */
const modulesOf = (files: readonly string[]): string[] =>
  files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^\/\/ ((?:dist|node_modules)\/\S+\.js)$/gm)].map(([, path]) => path!),
  )

/** The processor time of one run, in milliseconds. */
async function processorTime(...argv: string[]): Promise<number> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', TIMING_HOOK, ...argv])
  return Number(/^processor (\d+)$/m.exec(stderr)![1]) / 1000
}

/**
 * The least processor time of some runs: what others do on this machine only adds to it. Ends as soon as a run is below
 * `enough`, since the least of all is too.
 */
async function leastProcessorTime(argv: readonly string[], { enough = 0, runs = 5 } = {}): Promise<number> {
  let least = Infinity
  for (let run = 0; run < runs && least >= enough; run++) least = Math.min(least, await processorTime(...argv))
  return least
}

test('--version and --help take little more than Node.js alone', async () => {
  const most = 4 * (await leastProcessorTime(['--eval', '0']))
  for (const argument of ['--version', '--help'])
    expect(await leastProcessorTime([IRONSTAGE, argument], { enough: most })).toBeLessThan(most)
  // As much as they would take with all that a deployment loads.
  const lab = `await import('${root}/dist/lab/index.js')`
  expect(await leastProcessorTime(['--input-type=module', '--eval', lab], { runs: 2 })).toBeGreaterThan(most)
})
