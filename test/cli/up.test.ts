import { execFile } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

const run = promisify(execFile)
const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-up-'))
const latest = { 'X-OpenStack-Ironic-API-Version': 'latest' }
const nodesAt = async (url: string) =>
  (
    (await (await fetch(`${url}/v1/nodes`, { headers: latest })).json()) as {
      nodes: { name: string; provision_state: string }[]
    }
  ).nodes

describe('ironstage up', () => {
  test('serves machines with nodes in enroll and says how to point clients at it', async () => {
    const up = command(['up', '--port', '0', '--nodes', '2'])
    const [, url] = await up.printed(/ready at (\S+) with 2 simulated machines/)
    await up.printed(/try: curl/)
    expect(up.stdout).toContain(`export IRONIC_ENDPOINT=${url}/v1/`)
    expect(up.stdout).toContain(`baremetal_endpoint_override: ${url}`)
    expect(await nodesAt(url!)).toMatchObject([
      { name: 'node-0', provision_state: 'enroll' },
      { name: 'node-1', provision_state: 'enroll' },
    ])
    up.stop()
    expect(await up.ended).toBe(0)
    await expect(fetch(url!)).rejects.toThrow()
  })

  test('--begin provide brings nodes to available by themselves, and says how many came there', async () => {
    const up = command(['up', '--port', '0', '--nodes', '2', '--begin', 'provide'])
    const [, url] = await up.printed(/ready at (\S+)/)
    await up.printed(/^provide: 2 of 2 nodes succeeded$/m)
    expect(await nodesAt(url!)).toMatchObject([{ provision_state: 'available' }, { provision_state: 'available' }])
    const activity = (await (await fetch(`${url}/_lab/activity`)).json()) as {
      goal: string | null
      points: { states: object; entered: Record<string, number>; exchanges: number }[]
    }
    expect(activity.goal).toBeNull()
    expect(activity.points.at(-1)!.states).toEqual({ available: 2 })
    expect(activity.points.reduce((sum, { entered }) => sum + (entered['available'] ?? 0), 0)).toBe(2)
    expect(activity.points.reduce((sum, { exchanges }) => sum + exchanges, 0)).toBeGreaterThan(20)
    up.stop()
    expect(await up.ended).toBe(0)
  })

  test('--begin leaves a node that fails where it is, and goes on after a restart of the folder', async () => {
    const dir = await scratch()
    const faults = join(dir, 'faults.yaml')
    await writeFile(faults, '- match: { node: node-1 }\n  effect: { kind: bmc-dark, for: 10h }\n')
    const first = command(['up', '--port', '0', '--nodes', '2', '--state-dir', join(dir, 'state'), '--begin', 'manage'])
    await first.printed(/^manage: 2 of 2 nodes succeeded$/m)
    first.stop()
    expect(await first.ended).toBe(0)
    const again = ['up', '--port', '0', '--nodes', '2', '--state-dir', join(dir, 'state'), '--speed', '600']
    const up = command([...again, '--faults', faults, '--begin', 'inspect'])
    const [, url] = await up.printed(/ready at (\S+)/)
    const { points } = (await (await fetch(`${url}/_lab/activity`)).json()) as { points: { states: object }[] }
    expect(Object.values(points[0]!.states).reduce((sum, count) => sum + Number(count), 0)).toBe(2)
    await up.printed(/^inspect: 1 of 2 nodes succeeded$/m)
    up.stop()
    expect(await up.ended).toBe(0)
  })

  test.each([
    [['--nodes', '1', '--begin', 'active'], /begin/],
    [['--nodes', '1', '--begin', ''], /begin/],
    [['--begin', 'deploy'], /there are no nodes that could begin.*add --nodes 3/s],
    [['--nodes', '0', '--begin', 'deploy'], /there are no nodes that could begin/],
    [['--nodes', '1', '--begin', 'deploy', '--kube-api', '0'], /BareMetalHosts would both decide.*--kube-api/s],
  ])('refuses %j', async (args, sentence) => {
    const up = command(['up', '--port', '0', ...args])
    expect(await up.ended).toBe(2)
    expect(up.stderr).toMatch(sentence)
  })

  test('says without machines how to get some, by a command that works', async () => {
    const up = command(['up', '--port', '0'])
    const [, curl] = await up.printed(/or at any time\n +(curl .*)\n/)
    await run('sh', ['-c', curl!])
    const [, url] = await up.printed(/ready at (\S+) with 0 simulated machines/)
    expect(await nodesAt(url!)).toHaveLength(3)
    up.stop()
    expect(await up.ended).toBe(0)
  })

  test('says of hosts in files that they get machines, and not how to get some', async () => {
    const hosts = join(import.meta.dirname, '../../examples/bare-metal-hosts.yaml')
    const up = command(['up', '--port', '0', '--hosts', hosts])
    await up.printed(/Each BareMetalHost of \S+bare-metal-hosts\.yaml gets a machine and a node\.\n[^]* {2}try: curl/)
    expect(up.stdout).not.toContain('--nodes')
    up.stop()
    expect(await up.ended).toBe(0)
  })

  test('--stop-with-stdin ends with the program that has started it', async () => {
    const stdin = new PassThrough()
    const up = command(['up', '--port', '0', '--stop-with-stdin'], { stdin })
    const [, url] = await up.printed(/ready at (\S+)/)
    stdin.write('what comes before its end is nothing to it\n')
    expect((await fetch(url!)).status).toBe(200)
    stdin.end()
    expect(await up.ended).toBe(0)
    expect(up.stdout).toContain('ironstage stops: standard input has ended')
  })

  test('--json says the same to programs', async () => {
    const up = command(['up', '--json'], { variables: { IRONSTAGE_PORT: '0' } })
    const [line] = await up.printed(/.*"ready".*/)
    const ready = JSON.parse(line) as { ironic_url: string; environment: Record<string, string> }
    expect(ready.environment['IRONIC_ENDPOINT']).toBe(`${ready.ironic_url}/v1/`)
    up.stop()
    expect(await up.ended).toBe(0)
  })

  test('keeps its nodes in a state folder', async () => {
    const dir = join(await scratch(), 'state')
    for (const nodes of ['1', '2']) {
      const up = command(['up', '--port', '0', '--nodes', nodes, '--state-dir', dir])
      const [, url] = await up.printed(/ready at (\S+)/)
      expect(await nodesAt(url!)).toHaveLength(Number(nodes))
      const second = command(['up', '--port', '0', '--state-dir', dir])
      expect(await second.ended).toBe(1)
      expect(second.stderr).toContain(`the state folder ${dir} is in use by another ironstage`)
      up.stop()
      expect(await up.ended).toBe(0)
    }
  })

  test('refuses a port that is taken, saying which', async () => {
    const up = command(['up', '--port', '0'])
    const [, port] = await up.printed(/ready at http:\/\/127\.0\.0\.1:(\d+)/)
    const second = command(['up', '--port', port!])
    expect(await second.ended).toBe(1)
    expect(second.stderr).toMatch(new RegExp(`^ironstage: port ${port} on 127.0.0.1 is already in use`))
    expect(second.stderr).toContain('  try: stop the program that listens there, or let --port 0 pick a free one')
    up.stop()
    await up.ended
  })

  test.each<[string, string[], number, RegExp]>([
    [
      'an address that others reach',
      ['--host', '0.0.0.0'],
      2,
      /0\.0\.0\.0 can be reached from other hosts.*\n.*try: listen on 127\.0\.0\.1/s,
    ],
    ['an unknown option', ['--prot', '1'], 2, /unknown option '--prot'/],
    ['a port that is none', ['--port', '99999'], 2, /--port is "99999"/],
    ['a speed of nothing', ['--speed', '0'], 2, /--speed is "0"/],
    ['a config file that is not there', ['--config', '/nope.yaml'], 2, /the config file \/nope\.yaml cannot be read/],
  ])('refuses %s with a sentence', async (_, args, code, message) => {
    const up = command(['up', ...(args.includes('--port') ? [] : ['--port', '0']), ...args])
    expect(await up.ended).toBe(code)
    expect(up.stderr).toMatch(message)
  })

  test('refuses a folder that holds something else', async () => {
    const dir = await scratch()
    await writeFile(join(dir, 'letters.txt'), '')
    const up = command(['up', '--port', '0', '--state-dir', dir])
    expect(await up.ended).toBe(2)
    expect(up.stderr).toContain('is not a state folder of ironstage')
  })

  test('explains itself', async () => {
    const help = command(['up', '--help'])
    expect(await help.ended).toBe(0)
    expect(help.stdout).toContain('--state-dir <DIR>')
    expect(help.stdout).toContain('IRONSTAGE_STATE_DIR')
    expect(await command(['--version']).ended).toBe(0)
    expect(await command(['fly']).ended).toBe(2)
  })
})
