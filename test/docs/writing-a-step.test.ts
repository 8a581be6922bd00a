import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { command } from '../kit/command.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = process.cwd()

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

/** Runs a command line of the guide to its successful end; gives what it printed. */
async function follow(line: string, { name }: Block, folder: string): Promise<string> {
  const [program, ...rest] = words(line)
  if (program === 'npx') {
    expect(rest.shift()).toBe('vitest')
    const argv = ['node_modules/vitest/vitest.mjs', ...rest, '--reporter=json', '--outputFile=tests.json']
    return (await promisify(execFile)(process.execPath, argv, { cwd: folder })).stdout
  }
  expect(program).toBe('ironstage')
  const started = command(rest)
  if (name === 'up') {
    await started.printed(/Ironic is ready at/)
    started.stop()
  }
  expect(await started.ended, started.stderr).toBe(0)
  return started.stdout
}

const steady = (text: string) => text.replace(/\d+ ms/g, 'N ms')

interface TestReport {
  numPassedTests: number
  numFailedTests: number
  testResults: { assertionResults: { duration: number }[] }[]
}

afterEach(() => process.chdir(here))

test('who follows the guide gets a step whose test passes in less than a second', { timeout: 60_000 }, async () => {
  const folder = await readersFolder()
  process.chdir(folder)
  const tested: TestReport[] = []
  let printed = ''
  for (const block of blocks('docs/writing-a-step.md')) {
    const { language, name, text } = block
    switch (language) {
      case 'ts':
        await writeFile(join(folder, name), text)
        break
      case 'sh':
        for (const line of text.trim().split('\n')) {
          printed = await follow(line, block, folder)
          if (line.startsWith('npx vitest'))
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
  }

  expect(tested).toMatchObject([
    { numPassedTests: 2, numFailedTests: 0 },
    { numPassedTests: 2, numFailedTests: 0 },
  ])
  for (const { testResults } of tested) {
    const durations = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ duration }) => duration))
    // The first one of a file also loads what a lab is made of, which takes long where other tests run at the same time.
    expect(Math.min(...durations)).toBeLessThan(1000)
  }
})
