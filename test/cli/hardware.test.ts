import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

async function hardwareFile(text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-hardware-')), 'fleet.yaml')
  await writeFile(file, text)
  return file
}

const FLEET = `machines:
  - { cpus: 16, nics: [{}, {}, {}] }
  - { cpus: 64, disks: [{ size: 480GB, transport: nvme }] }
`

test(
  'up --hardware makes a mixed fleet, and is ready when every machine has its node',
  { timeout: 60_000 },
  async () => {
    const up = command(['up', '--port', '0', '--nodes', '30', '--hardware', await hardwareFile(FLEET)])
    const [url] = await up.printed(/(?<=Ironic is ready at )\S+(?= with 30 simulated machines\.)/)
    expect(up.stdout).toContain('\nNodes: node-0 ... node-29 (30), all in enroll.\n')
    expect(up.stdout).not.toMatch(/^node-\d+ +enroll$/m)
    const headers = { 'X-OpenStack-Ironic-API-Version': 'latest' }
    const { nodes } = (await (await fetch(`${url}/v1/nodes`, { headers })).json()) as { nodes: { name: string }[] }
    expect(nodes.map(({ name }) => name)).toEqual(Array.from({ length: 30 }, (_, index) => `node-${index}`))
    const machine = async (ident: string) =>
      (await (await fetch(`${url}/_lab/nodes/${ident}/machine`)).json()) as Record<string, unknown>
    expect(await machine('node-0')).toMatchObject({
      hardware: { cpus: 16 },
      nics: [{ name: 'eno1', mac: '52:54:00:00:00:02', pxe: true }, { name: 'eno2' }, { name: 'eno3' }],
    })
    const large = { hardware: { cpus: 64 }, disks: [{ name: 'nvme0n1', transport: 'nvme', rotational: false }] }
    expect(await machine('node-29')).toMatchObject(large)
    expect(await machine('node-30')).toMatchObject({ error: { code: 'no-such-node' } })
    up.stop()
    expect(await up.ended).toBe(0)
  },
)

test('deploy --hardware installs to the first disk that the file describes', { timeout: 60_000 }, async () => {
  const file = await hardwareFile('firmware: bios\ndisks: [{ size: 20GiB, transport: nvme }, { size: 1TiB }]')
  const deploy = command(['deploy', '--hardware', file])
  expect(await deploy.ended, deploy.stderr).toBe(0)
  expect(deploy.stdout).toContain('(20 GiB)')
  expect(deploy.stdout).toContain('first boot: Ignition ran from /dev/nvme0n1')
})

test('step run --hardware runs on a machine of that hardware', { timeout: 60_000 }, async () => {
  const file = await hardwareFile('disks: [{ size: 1GiB, transport: nvme }, { size: 1GiB }]')
  const run = command(['step', 'run', 'erase_devices_metadata', '--hardware', file])
  expect(await run.ended, run.stderr).toBe(0)
  expect(run.stdout).toContain('/dev/nvme0n1')
})

test.each<[string, string[], RegExp]>([
  ['deploy of a fleet', ['deploy', '--hardware', 'FLEET'], /describes 2 kinds of machines.*creates only one/s],
  ['deploy of a diskless machine', ['deploy', '--hardware', 'DISKLESS'], /describes a machine without disks/],
  [
    'two sizes of a disk',
    ['deploy', '--hardware', 'DISK', '--disk-size', '1GiB'],
    /--disk-size and --hardware both say how large/,
  ],
  [
    'a machine of a state folder',
    ['step', 'run', 'erase_devices', '--state-dir', 'd', '--machine', 'm', '--hardware', 'DISK'],
    /--hardware is for a new simulated machine, and --machine names another one/,
  ],
  [
    'an Ironic elsewhere',
    ['deploy', '--ironic-url', 'http://h', '--hardware', 'DISK'],
    /--hardware cannot be used with/,
  ],
])('refuses --hardware for %s', async (_, argv, message) => {
  const files: Record<string, string> = {
    FLEET: await hardwareFile(FLEET),
    DISKLESS: await hardwareFile('disks: []'),
    DISK: await hardwareFile('disks: [{ size: 1GiB }]'),
  }
  const refused = command(argv.map((word) => files[word] ?? word))
  expect(await refused.ended).toBe(2)
  expect(refused.stderr).toMatch(message)
})
