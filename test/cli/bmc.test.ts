import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { BMC_DIALECTS } from '../../bmc/dialects/index.js'

async function run(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const started = command(['bmc', ...argv])
  const code = await started.ended
  return { code, stdout: started.stdout, stderr: started.stderr }
}

async function fileWith(text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-bmc-')), 'my-bmc.yaml')
  await writeFile(file, text)
  return file
}

test('ironstage bmc list names every record', async () => {
  const { code, stdout } = await run('list')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^idrac9 +Dell iDRAC 9, firmware 6 and 7$/m)
  expect(stdout.trimEnd().split('\n')).toHaveLength(Object.keys(BMC_DIALECTS).length)
})

test('ironstage bmc show prints all values of one, by its name or its file', async () => {
  expect((await run('show', 'xcc')).stdout).toContain('insertBy: patch')
  const file = await fileWith('base: xcc\npower: {repeat: 400}\n')
  const { code, stdout } = await run('show', file, '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ media: { insertBy: 'patch' }, power: { repeat: 400 } })
  const unknown = await run('show', 'idrac11')
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain('there is no BMC idrac11; did you mean idrac10?')
})

test('ironstage bmc check says what a file changes, or what is wrong with it', async () => {
  const file = await fileWith('base: ilo5\netags: {match: any}\n')
  expect((await run('check', file)).stdout).toContain(`${file} is good: it is as ilo5, but for etags`)
  const wrong = await fileWith('etags: {mach: any}\n')
  const { code, stderr } = await run('check', wrong)
  expect(code).toBe(2)
  expect(stderr).toContain(`the BMC file ${wrong} cannot be used: there is no etags.mach; did you mean match?`)
})
