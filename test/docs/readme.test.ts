import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

const fromRoot = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Removes from a transcript what changes between runs: times, ids, ports, paths, and states that a poll may miss. */
const steady = (transcript: string): string[] =>
  transcript
    .trimEnd()
    .split('\n')
    .filter((line) => !/^ +[\d.]+s {4}[a-z -]+(, power o(n|ff))?$/.test(line))
    .map((line) =>
      line
        .replace(/^ +[\d.]+s/, 'TIME')
        .replace(/\b[\d.]+ m?s\b/g, 'SECONDS')
        .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
        .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
        .replace(/\S*ironstage-\w{6}\//g, 'FOLDER/'),
    )

test('the transcript of the first deployment is what the demo prints', async () => {
  const [, shown] = /```text demo\n([\s\S]*?)```/.exec(fromRoot('docs/first-deployment.md'))!
  const { scripts } = JSON.parse(fromRoot('package.json')) as { scripts: { demo: string } }
  const argv = scripts.demo.split(' ').slice(2)
  const demo = command(argv)
  expect(await demo.ended, demo.stderr).toBe(0)
  expect(steady(demo.stdout)).toEqual(steady(shown!))
})

test('the scenario in the README is one of the tests', () => {
  const [, shown] = /```ts\n([\s\S]*?)```/.exec(fromRoot('README.md'))!
  const body = shown!.slice(shown!.indexOf('test('))
  expect(fromRoot('test/scenarios/silent-agent.test.ts')).toContain(body)
})

test('the README has its two commands, and is three screens long', () => {
  const lines = fromRoot('README.md').split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'npm ci && npm run demo    # one machine, from enroll to a booted CoreOS',
      'npm ci && npm test        # every test',
    ]),
  )
  // A screen of a browser has some 35 of these lines.
  expect(lines.length).toBeLessThan(105)
})

test.each(['docs/tasks.md', 'docs/commands.md'])('the tables of %s fit a screen of 120 columns', (page) => {
  const rows = fromRoot(page)
    .split('\n')
    .filter((line) => line.startsWith('|'))
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter((line) => line.length > 120)).toEqual([])
})

/** The commands below one that its help lists, by the title above them. */
async function listed(...above: string[]): Promise<Map<string, string>> {
  const help = command([...above, '--help'])
  expect(await help.ended).toBe(0)
  const found = new Map<string, string>()
  let title = ''
  for (const line of help.stdout.split('\n')) {
    title = /^([A-Z].*:)$/.exec(line)?.[1] ?? title
    const name = /^ {2}([a-z][a-z-]*)(?= |$)/.exec(line)?.[1]
    if (name !== undefined && name !== 'help') found.set(name, title)
  }
  return found
}

test('the page of commands and the groups of the help have every command', async () => {
  const rows = fromRoot('docs/commands.md').split('\n')
  const commands = await listed()
  expect([...commands].filter(([, title]) => title === 'Commands:')).toEqual([])
  for (const name of commands.keys()) {
    const row = rows.find((line) => new RegExp(`^\\| \`${name}( |\`)`).test(line))
    expect(row, name).toBeDefined()
    if (name === 'coreos-installer') continue
    const below = [...(await listed(name)).keys()]
    expect(below.filter((other) => !new RegExp(`[\` ]${other}\``).test(row!))).toEqual([])
  }
})
