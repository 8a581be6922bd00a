import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { command } from '../../kit/commands/command.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { blocks } from '../../kit/guides/guide.js'

const NODES = new URL('../../fixtures/systems/nodes.json', import.meta.url.replace('/dist/test/', '/test/')).pathname

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-systems-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const fleet = (...argv: string[]) => command(['fleet', '--redfish-port', '0', '--no-ui', ...argv])

test('the lines of docs/fleet.md start a fleet for each pair of containers, which answer as the emulators did', async () => {
  const folder = await temporary()
  const { text } = blocks('docs/fleet.md').find(({ language }) => language === 'bash')!
  const lines = text
    .replace('192.168.222.1 ', '127.0.0.1 ')
    .replace(/\$\(\(\d+ \+ i\)\)/g, '0')
    .replace('180s..240s', '1s')
  await copyFile(NODES, join(folder, 'nodes.json'))
  await writeFile(join(folder, 'config.sh'), 'export N_FAKE_IPAS=2\n')
  await mkdir(join(folder, 'cert'))
  await writeFile(join(folder, 'cert/ironic-ca.crt'), '')
  await writeFile(join(folder, 'ironstage'), `#!/bin/sh\nexec ${process.execPath} ${IRONSTAGE} "$@"\n`)
  await chmod(join(folder, 'ironstage'), 0o755)
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` }
  const run = spawn('bash', ['-c', `set -euo pipefail\n${lines}`], { cwd: folder, env, stdio: 'ignore' })
  const pids: number[] = []
  onTestFinished(() => pids.forEach((pid) => process.kill(pid)))
  expect(await once(run, 'close')).toEqual([0, null])
  for (const number of [1, 2]) {
    pids.push(Number(await readFile(join(folder, `fleet-${number}.pid`), 'utf8')))
    const log = () => readFile(join(folder, `fleet-${number}.log`), 'utf8')
    await expect.poll(log, { timeout: 20_000 }).toMatch(/3 machines are there; .*\n[^]*the control API is at/)
    const [, systems] = /their BMCs are at (\S+)/.exec(await log())!
    const headers = { authorization: `Basic ${Buffer.from('admin:password').toString('base64')}` }
    const answer = await fetch(`${systems}/2b7e4c90-83a1-4d0b-8a55-6f2c9d3e4b02`, { headers })
    expect(await answer.json()).toMatchObject({ Name: 'test2', PowerState: 'Off' })
  }
}, 60_000)

test('--systems with --count is refused', async () => {
  const run = fleet('--systems', NODES, '--count', '3')
  expect(await run.ended).toBe(2)
  expect(run.stderr).toMatch(/--systems and --count both say how many machines there are.*\n.*leave out --count/)
})

test('a list that cannot be used is refused before the fleet starts', async () => {
  const folder = await temporary()
  const file = join(folder, 'nodes.json')
  await writeFile(file, '[{"uuid": "a"}, {"uuid": "b", "nics": [{"mac": "zz"}]}]')
  const run = fleet('--systems', file, '--state-dir', join(folder, 'state'))
  expect(await run.ended).toBe(2)
  expect(run.stderr).toMatch(/nodes\.json cannot be used: \.\[1\]\.nics\[0\]\.mac is "zz", which is no MAC address/)
  expect(run.stdout).toBe('')
  const missing = fleet('--systems', join(folder, 'none.json'))
  expect(await missing.ended).toBe(2)
  expect(missing.stderr).toMatch(/the list of systems .*none\.json cannot be read/)
})
