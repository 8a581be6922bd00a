import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readOneMachine } from '../../apps/cli/options/hardware-file.js'
import { dumpFolder, writtenFace } from '../kit/bmc-dumps/dumped-faces.js'
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

test('ironstage bmc import writes a machine that a hardware file is read of, and says what it guessed', async () => {
  const dump = await writtenFace('openbmc-gb200', 'zip')
  const out = join(await dumpFolder(), 'a machine')
  const { code, stdout, stderr } = await run('import', dump, '--out', out)
  expect(code).toBe(0)
  expect(stdout).toContain(`wrote ${out}/hardware.yaml, and ${out}/bmc.yaml: a BMC as nvidia-gb200, with`)
  expect(stderr).toContain('the system has no EthernetInterfaces: Ironic finds no ports by Redfish')
  expect(await readOneMachine(join(out, 'hardware.yaml'))).toMatchObject({ architecture: 'aarch64' })
  expect((await run('check', join(out, 'bmc.yaml'))).stdout).toContain('is good: it is as nvidia-gb200')
  const again = await run('import', dump, '--out', out)
  expect(again.code).toBe(2)
  expect(again.stderr).toContain(`${out} is there already, and is no empty folder`)
})

test('ironstage bmc import refuses what is no dump, and leaves nothing', async () => {
  const folder = await dumpFolder()
  const { code, stderr } = await run('import', folder, '--out', join(folder, 'machine'))
  expect(code).toBe(2)
  expect(stderr).toContain(`${folder} is no dump of a Redfish service`)
  expect(await readdir(folder)).toEqual([])
  const unknown = await run(
    'import',
    await writtenFace('ami-dgx'),
    '--system',
    'Zork',
    '--out',
    join(folder, 'machine'),
  )
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toMatch(/has no system Zork[^]*name one of DGX, HGX_Baseboard_0/)
})

test('ironstage bmc dump says what it lacks before it asks anything', async () => {
  expect((await run('dump', '192.0.2.1')).stderr).toContain('the password of the BMC is missing')
  expect((await run('dump', 'ftp://192.0.2.1', '--bmc-password', 'x')).stderr).toContain('is no address of a BMC')
  const silent = await run('dump', 'http://127.0.0.1:9', '--bmc-password', 'x')
  expect(silent.code).toBe(1)
  expect(silent.stderr).toContain('127.0.0.1:9 does not answer')
})

test('a hardware file whose dump is gone is refused before any machine is made', async () => {
  const file = await fileWith('base: idrac9\ndump: { folder: ./gone }\n')
  const { code, stderr } = await run('check', file)
  expect(code).toBe(2)
  expect(stderr).toContain('/gone cannot be read')
})
