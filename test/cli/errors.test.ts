import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { errorsPage } from '../kit/errors-page.js'

async function run(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const started = command(['errors', ...argv])
  const code = await started.ended
  return { code, stdout: started.stdout, stderr: started.stderr }
}

test('ironstage errors lists every code with its sentence and remedy', async () => {
  const { code, stdout } = await run()
  expect(code).toBe(0)
  expect(stdout).toMatch(/^usage\n {2}the command line is wrong\n {2}try: see the command's --help$/m)
  expect(stdout.match(/^[a-z\d-]+$/gm)!.length).toBeGreaterThan(150)
})

test('ironstage errors CODE prints that one, as JSON for programs', async () => {
  const { code, stdout } = await run('usage', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    code: 'usage',
    sentence: 'the command line is wrong',
    remedy: "see the command's --help",
  })
})

test('a code that no error has is refused with the nearest one', async () => {
  const { code, stderr } = await run('usag')
  expect(code).toBe(2)
  expect(stderr).toBe('ironstage: no error has the code usag\n  try: usage\n')
})

test('docs/errors.md lists the codes of all rooms; npm run docs writes it', async () => {
  const committed = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  expect(await errorsPage()).toBe(committed)
})
