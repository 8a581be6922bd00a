import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { INVARIANTS } from '../../lab/index.js'
import { command } from '../kit/commands/command.js'
import { blocks, followTests, readersFolder, words } from '../kit/guides/guide.js'

const GUIDE = 'docs/chaos.md'
const guide = readFileSync(new URL(`../../${GUIDE}`, import.meta.url), 'utf8')
const block = (language: string) => blocks(GUIDE).find((one) => one.language === language)!.text

test('the command prints what the guide shows', async () => {
  const [program, ...argv] = words(block('sh').trim())
  expect(program).toBe('ironstage')
  const run = command(argv)
  expect(await run.ended, run.stderr).toBe(0)
  expect(run.stdout).toBe(block('text'))
})

test('the guide has every invariant', () => {
  const rows = guide.split('\n').filter((line) => line.startsWith('| '))
  for (const [name, meaning] of Object.entries(INVARIANTS)) expect(rows).toContain(`| ${name} | ${meaning} |`)
})

test("a reader's test plays a plan", async () => {
  const folder = await readersFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'chaos.test.ts'), block('ts'))
  expect(await followTests('npx vitest run chaos.test.ts', folder)).toMatchObject({ numPassedTests: 1 })
})

test('--out writes the report and the journal; --json prints the report', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-chaos-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const run = command(['chaos', '--nodes', '1', '--duration', '1m', '--json', '--out', folder])
  expect(await run.ended, run.stderr).toBe(0)
  const { files, ...report } = JSON.parse(run.stdout) as { files: string[]; entries: number }
  expect((await readdir(folder)).sort()).toEqual(['journal.ndjson', 'report.json'])
  expect(files).toEqual([join(folder, 'report.json'), join(folder, 'journal.ndjson')])
  expect(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'))).toEqual(report)
  const journal = await readFile(join(folder, 'journal.ndjson'), 'utf8')
  expect(journal.trim().split('\n')).toHaveLength(report.entries)
})

test.each([
  [['--nodes', '0'], 'chaos needs a node'],
  [['--duration', '10 minutes'], 'duration'],
  [['--out', '/dev/null/x', '--nodes', '1', '--duration', '1s'], '/dev/null/x cannot be written'],
])('chaos refuses the options %j', async (argv, message) => {
  const run = command(['chaos', ...argv])
  expect(await run.ended).toBe(2)
  expect(run.stderr).toContain(message)
})
