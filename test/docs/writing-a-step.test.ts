import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { blocks, followTests, readersFolder, words, type Block, type TestReport } from '../kit/guides/guide.js'

const here = process.cwd()

/** Runs a command line of the guide to its successful end; gives what it printed. */
async function follow(line: string, { name }: Block): Promise<string> {
  const [program, ...rest] = words(line)
  expect(program).toBe('ironstage')
  const started = command(rest)
  if (name === 'up') {
    await started.printed(/Ironic is ready at/)
    started.stop()
  }
  expect(await started.ended, started.stderr).toBe(0)
  return started.stdout
}

/** The step runs in a deployment only once it has the priority that the guide gives it. */
async function followDeployment(line: string, folder: string): Promise<void> {
  const without = command(['deploy', '--steps', './wipe-nvme.ts', '--disk-size', '1GiB'])
  expect(await without.ended, without.stderr).toBe(0)
  expect(without.stdout).not.toContain('wiping /dev/sda')
  expect(without.stderr).toContain('note: wipe_nvme has no priority, so this deployment does not run it')
  const file = join(folder, 'wipe-nvme.ts')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace("interface: 'deploy',", "interface: 'deploy',\n  priority: { deploy: 90 },"))
  // A process of its own: this one keeps the step as it has read it.
  const { stdout } = await promisify(execFile)(process.execPath, [IRONSTAGE, ...words(line).slice(1)], { cwd: folder })
  expect(stdout).toContain('wipe_nvme: wiping /dev/sda')
}

const steady = (text: string) => text.replace(/\d+ ms/g, 'N ms')

afterEach(() => process.chdir(here))

test('the guide makes a step whose test passes within seconds', { timeout: 60_000 }, async () => {
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
          if (line.startsWith('npx')) tested.push(await followTests(line, folder))
          else if (line.startsWith('ironstage deploy')) await followDeployment(line, folder)
          else printed = await follow(line, block)
        }
        break
      case 'output':
        expect(steady(printed)).toBe(steady(text))
        break
      case 'json':
        expect(JSON.parse(text)).toMatchObject({ step: 'wipe_nvme', interface: 'deploy' })
        break
      default:
        // `readersFolder` installs the packages instead.
        expect(text).toMatch(/^npm init -y\nnpm install --save-dev --ignore-scripts ironstage@\S+ vitest\n$/)
    }
  }

  expect(tested).toMatchObject([
    { numPassedTests: 2, numFailedTests: 0 },
    { numPassedTests: 2, numFailedTests: 0 },
  ])
  for (const { testResults } of tested) {
    const durations = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ duration }) => duration))
    // The first one of a file also loads what a lab is made of, which takes long where other tests run at the same time.
    expect(Math.min(...durations)).toBeLessThan(5000)
  }
})
