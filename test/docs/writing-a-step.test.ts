import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

interface Block {
  language: string
  /** File name of a source, or what is special about a command. */
  name: string
  text: string
}

const blocks = (file: string): Block[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map(
    ([, language, name, text]) => ({ language: language!, name: name!, text: text! }),
  )

/** A folder as `npm install ironstage vitest` leaves it, for the ironstage that was built here. */
async function readersFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-guide-'))
  const installed = join(folder, 'node_modules', 'ironstage')
  await mkdir(installed, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"name": "reader", "private": true}')
  for (const part of ['package.json', 'images']) await cp(join(root, part), join(installed, part), { recursive: true })
  await cp(join(root, 'dist'), join(installed, 'dist'), {
    recursive: true,
    filter: (path) => !/(\.map|\.d\.ts|\.tsbuildinfo)$/.test(path),
  })
  await symlink(join(root, 'node_modules'), join(installed, 'node_modules'))
  await symlink(join(root, 'node_modules', 'vitest'), join(folder, 'node_modules', 'vitest'))
  return folder
}

/** The words of a command line, as a shell takes them. */
const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

/** What node runs for a command of the guide, and with which arguments. */
function argvOf(line: string): string[] {
  const [program, ...rest] = words(line)
  if (program === 'ironstage') return ['node_modules/ironstage/dist/cli/main.js', ...rest]
  expect([program, rest[0]]).toEqual(['npx', 'vitest'])
  return ['node_modules/vitest/vitest.mjs', ...rest.slice(1), '--reporter=json', '--outputFile=tests.json']
}

const steady = (text: string) => text.replace(/\d+ ms/g, 'N ms')

interface TestReport {
  numPassedTests: number
  numFailedTests: number
  testResults: { assertionResults: { duration: number }[] }[]
}

test(
  'who follows the guide gets a step whose tests pass, each within a second',
  { timeout: 60_000, retry: 1 },
  async () => {
    const folder = await readersFolder()
    const tested: TestReport[] = []
    let printed = ''
    for (const { language, name, text } of blocks('docs/writing-a-step.md'))
      switch (language) {
        case 'ts':
          await writeFile(join(folder, name), text)
          break
        case 'sh':
          for (const line of text.trim().split('\n')) {
            const argv = argvOf(line)
            if (name === 'up') await upAndStop(argv, folder)
            else printed = (await run(process.execPath, argv, { cwd: folder })).stdout
            if (argv.includes('--outputFile=tests.json'))
              tested.push(JSON.parse(readFileSync(join(folder, 'tests.json'), 'utf8')) as TestReport)
          }
          break
        case 'output':
          expect(steady(printed)).toBe(steady(text))
          break
        case 'json':
          expect(JSON.parse(text)).toMatchObject({ step: 'wipe_nvme', interface: 'deploy' })
          break
        default:
          // What installs packages is what readersFolder does.
          expect(text).toBe('npm init -y && npm install ironstage vitest\n')
      }

    expect(tested).toMatchObject([
      { numPassedTests: 2, numFailedTests: 0 },
      { numPassedTests: 2, numFailedTests: 0 },
    ])
    const durations = tested.flatMap(({ testResults }) =>
      testResults.flatMap(({ assertionResults }) => assertionResults.map(({ duration }) => duration)),
    )
    expect(Math.max(...durations)).toBeLessThan(1000)
  },
)

async function upAndStop(argv: string[], cwd: string): Promise<void> {
  const up = run(process.execPath, argv, { cwd })
  await new Promise<void>((resolve, reject) => {
    up.child.stdout!.on('data', (text: Buffer | string) =>
      String(text).includes('Ironic is ready at') ? resolve() : undefined,
    )
    up.catch(reject)
  })
  up.child.kill('SIGTERM')
  await up
}
