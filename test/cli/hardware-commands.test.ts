import { mkdtemp, readFile, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

const fixture = (name: string): string => fileURLToPath(new URL(`../../examples/hardware/${name}`, import.meta.url))

test('hardware import prints a file that --hardware takes, and what was lost on standard error', async () => {
  const run = command(['hardware', 'import', fixture('ironic-inventory.json')])
  expect(await run.ended, run.stderr).toBe(0)
  expect(run.stdout).toContain('# A machine by an Ironic inventory')
  const lines = run.stderr.trimEnd().split('\n')
  expect(lines.every((line) => line.startsWith(`${fixture('ironic-inventory.json')}: `))).toBe(true)
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-hardware-')), 'r650.yaml')
  await writeFile(file, run.stdout)
  const deploy = command(['deploy', '--hardware', file])
  expect(await deploy.ended, deploy.stderr).toBe(0)
  expect(deploy.stdout).toContain('/dev/nvme0n1')
})

test('hardware import reads standard input, and keeps identities on request', async () => {
  const stdin = await readFile(fixture('lshw.json'), 'utf8')
  const run = command(['hardware', 'import', '-', '--keep-identities'], { stdin })
  expect(await run.ended, run.stderr).toBe(0)
  expect(run.stdout).toContain('serial: S469096X2A01234')
  expect(run.stderr).toContain('standard input: ')
})

test('a description that is refused leaves standard output empty', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-hardware-'))
  const whole = await readFile(fixture('ironic-inventory.json'))
  const cut = join(folder, 'cut \'off".json')
  await writeFile(cut, whole.subarray(0, 2000))
  const large = join(folder, 'large.json')
  await writeFile(large, '[')
  // Without blocks on the disk.
  await truncate(large, 100 * 2 ** 20)
  for (const [file, sentence] of [
    [cut, 'is neither JSON nor YAML, and may be cut off'],
    [large, 'has more than 32 MiB'],
    [folder, 'cannot be read'],
    [join(folder, 'none'), 'cannot be read'],
  ] as const) {
    const run = command(['hardware', 'import', file])
    expect(await run.ended).toBe(2)
    expect(run.stdout).toBe('')
    expect(run.stderr).toContain(sentence)
  }
})

test('hardware export prints a machine of a running lab in each format', { timeout: 60_000 }, async () => {
  const hardware = join(await mkdtemp(join(tmpdir(), 'ironstage-hardware-')), 'fleet.yaml')
  await writeFile(hardware, 'cpus: 12\nnics: [{ lldp: { switch: sonic, name: leaf-3 } }]\n')
  const up = command(['up', '--port', '0', '--nodes', '2', '--hardware', hardware])
  const [url] = await up.printed(/(?<=Ironic is ready at )\S+(?= with 2 simulated machines\.)/)
  const exported = async (...argv: string[]) => {
    const run = command(['hardware', 'export', ...argv, '--url', url])
    return { code: await run.ended, ...run }
  }
  const file = await exported('node-1')
  expect(file, file.stderr).toMatchObject({ code: 0 })
  expect(file.stdout).toMatch(/^cpus: 12$/m)
  expect(file.stdout).toMatch(/^ {6}switch: sonic$/m)
  const inventory = await exported('node-1', '--format', 'ironic-inventory')
  expect(JSON.parse(inventory.stdout)).toMatchObject({
    inventory: { cpu: { count: 12 } },
    plugin_data: { parsed_lldp: { eno1: { switch_port_id: 'fortyGigE0/0', switch_system_name: 'leaf-3' } } },
  })
  const data = await exported('node-1', '--format', 'hardware-data')
  expect(data.stdout).toContain('kind: HardwareData')
  expect(data.stdout).toContain('portID: fortyGigE0/0')
  const missing = await exported('node-7')
  expect(missing.code).toBe(1)
  expect(missing.stderr).toContain('the lab has no machine and no node node-7')
  expect(missing.stderr).toContain('name one of its machines: ')
  expect((await exported('node-1', '--format', 'xml')).code).toBe(2)
  expect((await exported('')).stderr).toContain('the machine is not named')
  up.stop()
  expect(await up.ended).toBe(0)
})
