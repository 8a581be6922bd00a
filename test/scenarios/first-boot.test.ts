import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  createStagedLab,
  installCoreos,
  type StagedLab,
  type StagedNode,
  type StagedLabOptions,
} from '../../lab/index.js'
import { NoAnswer, type HttpAnswer, type IgnitionRequest } from '../../machine/index.js'
import { machineOf } from '../kit/deployed.js'

const data = (text: string) => ({ source: `data:,${encodeURIComponent(text)}` })
const answer = (body: string | Uint8Array, status = 200): HttpAnswer => ({ status, body: Buffer.from(body) })

/** A lab whose machines find what their configs refer to at a server of ours. */
async function lab(
  serve: (request: IgnitionRequest) => HttpAnswer = () => answer('', 404),
  options: StagedLabOptions = {},
) {
  const made = await createStagedLab({ seed: 3, ...options, clock: 'auto' })
  const requests: IgnitionRequest[] = []
  made.probe.attach<IgnitionRequest>(
    async <T>(point: IgnitionRequest): Promise<T> => {
      requests.push(point)
      return serve(point) as T
    },
    ['ignition-request'],
  )
  return { ...made, requests, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() }
}

async function deploy(on: StagedLab, config: object): Promise<StagedNode> {
  const node = await on.enroll({ deploySteps: [installCoreos({ ignition: config, hostname: false })] })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
  await booted(on, node)
  return node
}

async function booted(on: StagedLab, node: StagedNode) {
  const machine = await machineOf(node)
  await on.wait(
    (async () => {
      while (!machine.boot()) await on.clock.sleep(1000)
    })(),
  )
  return machine
}

async function read(node: StagedNode, path: string): Promise<string | undefined> {
  const bytes = (await machineOf(node)).rootFiles()?.read(path)
  return bytes && Buffer.from(bytes).toString()
}

const journal = async (node: StagedNode): Promise<string[]> =>
  (await machineOf(node)).journal().map(({ from, message }) => `${from}: ${message}`)

test('what the config says is on the root filesystem: files, links, users, units', async () => {
  await using on = await lab()
  const node = await deploy(on, {
    ignition: { version: '3.4.0' },
    passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA a@b'] }] },
    storage: {
      files: [{ path: '/etc/motd', mode: 0o600, contents: data('hello'), append: [data(', world')] }],
      links: [{ path: '/etc/today', target: 'motd' }],
    },
    systemd: {
      units: [
        {
          name: 'x.service',
          enabled: true,
          contents: '[Service]\nExecStart=/bin/x\n[Install]\nWantedBy=multi-user.target\n',
        },
      ],
    },
  })
  const tree = (await machineOf(node)).rootFiles()!
  expect(await read(node, '/etc/today')).toBe('hello, world')
  expect(tree.lstat('/etc/motd')).toMatchObject({ mode: 0o600, uid: 0 })
  expect(await read(node, '/var/home/core/.ssh/authorized_keys.d/ignition')).toBe('ssh-ed25519 AAAA a@b\n')
  expect(tree.lstat('/var/home/core/.ssh/authorized_keys.d/ignition')).toMatchObject({ mode: 0o600, uid: 1000 })
  expect(await read(node, '/etc/group')).toMatch(/^wheel:x:10:core$/m)
  expect(tree.lstat('/etc/systemd/system/multi-user.target.wants/x.service')).toMatchObject({ kind: 'link' })
  expect(await journal(node)).toContain('ignition[765]: files: files passed')
})

test('a pointer config: fetched by Ignition with its headers, decompressed, verified and merged', async () => {
  const remote = JSON.stringify({
    ignition: { version: '3.2.0' },
    storage: { files: [{ path: '/etc/remote', contents: data('r') }] },
  })
  const hash = `sha512-${createHash('sha512').update(remote).digest('hex')}`
  await using on = await lab(() => answer(gzipSync(remote)))
  const node = await deploy(on, {
    ignition: {
      version: '3.4.0',
      config: {
        merge: [
          {
            source: 'http://api-int.example:22623/config/worker',
            compression: 'gzip',
            verification: { hash },
            httpHeaders: [{ name: 'Authorization', value: 'Bearer t' }],
          },
        ],
      },
    },
  })
  expect(await read(node, '/etc/remote')).toBe('r')
  expect(on.requests[0]).toMatchObject({
    headers: {
      authorization: 'Bearer t',
      'user-agent': 'Ignition/2.26.0',
      accept: 'application/vnd.coreos.ignition+json;version=3.6.0, */*;q=0.1',
    },
  })
  expect((await machineOf(node)).firstBoot()).toMatchObject({
    fetched: ['http://api-int.example:22623/config/worker'],
    files: ['/etc/remote'],
  })
})

test('a server that is not up yet is called again, with longer and longer pauses', async () => {
  await using on = await lab(({ attempt }) => {
    if (attempt < 3) throw new NoAnswer('dial tcp 10.0.0.1:80: connect: connection refused')
    return attempt < 6 ? answer('', 503) : answer('there')
  })
  const node = await deploy(on, {
    ignition: { version: '3.4.0' },
    storage: { files: [{ path: '/etc/late', contents: { source: 'http://10.0.0.1/late' } }] },
  })
  expect(await read(node, '/etc/late')).toBe('there')
  const lines = (await machineOf(node)).journal().filter(({ message }) => message.includes('attempt #'))
  const times = lines.map(({ at }) => at)
  expect(times.slice(1).map((at, index) => at - times[index]!)).toEqual([200, 400, 800, 1600, 3200])
})

test.each([
  ['that a server does not have', { source: 'http://x.example/a' }, 'files', /resource not found/],
  [
    'whose hash is another',
    { ...data('a'), verification: { hash: `sha256-${'0'.repeat(64)}` } },
    'files',
    /hash verification failed/,
  ],
  ['that does not come in time', { source: 'http://slow.example/a' }, 'files', /unable to fetch resource in time/],
])(
  'a file %s leaves the machine in its emergency shell, and the next boot tries again',
  async (_, contents, stage, why) => {
    let mended = false
    await using on = await lab(({ url }) =>
      mended ? answer('a') : url.includes('slow') ? answer('', 503) : answer('', 404),
    )
    const node = await deploy(on, {
      ignition: { version: '3.4.0', timeouts: { httpTotal: 30 } },
      storage: { files: [{ path: '/etc/a', contents }] },
    })
    const machine = await machineOf(node)
    expect(machine.boot()).toMatchObject({ outcome: 'emergency shell' })
    expect(machine.firstBoot()).toMatchObject({ failedStage: stage, failure: expect.stringMatching(why) })
    expect((await journal(node)).at(-1)).toBe('systemd[1]: Reached target emergency.target - Emergency Mode.')
    mended = true
    await on.wait(machine.setPower('reboot'))
    await booted(on, node)
    const again = machine.firstBoot()!
    expect(again.failure === null).toBe('source' in contents && contents.source.startsWith('http'))
  },
)

test('a change of kernel arguments lets the machine boot once more, before anything is written', async () => {
  await using on = await lab()
  const node = await deploy(on, {
    ignition: { version: '3.4.0' },
    kernelArguments: { shouldExist: ['nosmt', 'rw'], shouldNotExist: ['mitigations=auto,nosmt'] },
    storage: { files: [{ path: '/etc/a', contents: data('a') }] },
  })
  const machine = await machineOf(node)
  expect(machine.boot()).toMatchObject({ outcome: 'disk' })
  expect(machine.firstBoot()!.kernelArguments).toContain('nosmt')
  expect(machine.firstBoot()!.kernelArguments).not.toContain('mitigations=auto,nosmt')
  expect(machine.firstBoot()!.kernelArguments.filter((argument) => argument === 'rw')).toHaveLength(1)
  expect(await read(node, '/etc/a')).toBe('a')
})

test('disks, arrays, volumes and filesystems are planned and checked, and the report says so', async () => {
  await using on = await lab()
  const node = await deploy(on, {
    ignition: { version: '3.4.0' },
    storage: {
      disks: [
        { device: '/dev/disk/by-id/coreos-boot-disk', partitions: [{ label: 'var', number: 5, sizeMiB: 1024 }] },
        { device: '/dev/sdb', wipeTable: true, partitions: [{ label: 'data', number: 1 }] },
      ],
      luks: [{ name: 'secret', device: '/dev/disk/by-partlabel/data' }],
      filesystems: [
        { device: '/dev/disk/by-partlabel/var', format: 'xfs', path: '/var', wipeFilesystem: true },
        { device: '/dev/mapper/secret', format: 'ext4', path: '/var/lib/data' },
      ],
    },
  })
  const machine = await machineOf(node)
  expect(machine.firstBoot()).toMatchObject({ failure: null })
  expect(machine.firstBoot()!.plannedDiskChanges.map(({ section, what }) => `${section}: ${what}`)).toEqual([
    'disks: create partition 5 "var" of 1024 MiB',
    'disks: wipe the partition table',
    expect.stringMatching(/^disks: create partition 1 "data" of \d+ MiB$/),
    'luks: encrypt as /dev/mapper/secret',
    'filesystems: make a filesystem of type xfs',
    'filesystems: make a filesystem of type ext4',
  ])
  expect(machine.rootFiles()!.exists('/var/lib/data')).toBe(true)
})

test.each([
  ['a disk that is not there', { disks: [{ device: '/dev/sdz', wipeTable: true }] }, /dev-sdz\.device timeout/],
  [
    'a partition that is another',
    { disks: [{ device: '/dev/sda', partitions: [{ number: 3, label: 'mine' }] }] },
    /partition 3 didn't match: label did not match/,
  ],
  [
    'more than there is room for',
    { disks: [{ device: '/dev/sdb', partitions: [{ number: 1, sizeMiB: 10 ** 9 }] }] },
    /Could not create partition 1/,
  ],
  [
    'a filesystem on what holds another',
    { filesystems: [{ device: '/dev/disk/by-label/boot', format: 'xfs' }] },
    /filesystem is not of the correct type/,
  ],
  [
    'an array of too few',
    { raid: [{ name: 'md0', level: 'raid1', devices: ['/dev/sdb'] }] },
    /at least 2 raid-devices/,
  ],
])('%s fails the disks stage', async (_, storage, why) => {
  await using on = await lab()
  const node = await deploy(on, { ignition: { version: '3.4.0' }, storage })
  expect((await machineOf(node)).firstBoot()).toMatchObject({
    failedStage: 'disks',
    failure: expect.stringMatching(why),
  })
})

const BOOT_DISK = '/dev/disk/by-id/coreos-boot-disk'

test.each([
  [
    'a boot disk whose table is wiped',
    {
      disks: [{ device: '/dev/sda', wipeTable: true, partitions: [{ number: 1, label: 'data', sizeMiB: 0 }] }],
      filesystems: [{ device: '/dev/disk/by-partlabel/data', format: 'xfs', path: '/var/data', wipeFilesystem: true }],
    },
    /root, the filesystem labelled boot, the partition of the boot loader/,
  ],
  ['a boot disk that is wiped and left so', { disks: [{ device: BOOT_DISK, wipeTable: true }] }, /labelled root/],
  [
    'a filesystem over the whole boot disk',
    { filesystems: [{ device: BOOT_DISK, format: 'ext4', wipeFilesystem: true }] },
    /labelled root, the filesystem labelled boot/,
  ],
  [
    'another filesystem in place of root',
    { filesystems: [{ device: '/dev/disk/by-label/root', format: 'xfs', label: 'mine', wipeFilesystem: true }] },
    /takes away what a boot needs: the filesystem labelled root$/,
  ],
  [
    'a partition in place of boot',
    { disks: [{ device: BOOT_DISK, partitions: [{ number: 3, shouldExist: false, wipePartitionEntry: true }] }] },
    /takes away what a boot needs: the filesystem labelled boot$/,
  ],
  [
    'an encrypted volume over root',
    { luks: [{ name: 'x', device: '/dev/disk/by-label/root', wipeVolume: true }] },
    /takes away what a boot needs: the filesystem labelled root$/,
  ],
])('%s leaves the machine in its emergency shell', async (_, storage, why) => {
  await using on = await lab()
  const node = await deploy(on, { ignition: { version: '3.4.0' }, storage })
  const machine = await machineOf(node)
  expect(machine.boot()).toMatchObject({ outcome: 'emergency shell' })
  expect(machine.firstBoot()).toMatchObject({ failedStage: null, failure: expect.stringMatching(why) })
})

test.each([
  [
    'a root that is made again elsewhere',
    {
      disks: [{ device: '/dev/sdb', wipeTable: true, partitions: [{ number: 1, label: 'system' }] }],
      luks: [{ name: 'root', device: '/dev/disk/by-partlabel/system' }],
      filesystems: [{ device: '/dev/mapper/root', format: 'xfs', label: 'root', wipeFilesystem: true }],
    },
  ],
  [
    'a root that is resized',
    { disks: [{ device: BOOT_DISK, partitions: [{ number: 4, label: 'root', resize: true, sizeMiB: 16384 }] }] },
  ],
])('%s is a boot as usual', async (_, storage) => {
  await using on = await lab()
  const node = await deploy(on, { ignition: { version: '3.4.0' }, storage })
  expect((await machineOf(node)).firstBoot()).toMatchObject({ failure: null })
})

test('what the lab shows over HTTP: the files, one of them, and the journal', async () => {
  await using on = await lab()
  const node = await deploy(on, {
    ignition: { version: '3.4.0' },
    storage: { files: [{ path: '/etc/motd', contents: data('hi') }] },
  })
  const get = async (path: string) => {
    const { status, body } = await on.transport.send({
      method: 'GET',
      url: `${on.url}/_lab/nodes/${node.uuid}${path}`,
      headers: {},
    })
    return { status, body: JSON.parse(body ?? '{}') as Record<string, unknown> }
  }
  expect(await get('/files?path=/etc/motd')).toMatchObject({
    status: 200,
    body: { files: [{ kind: 'file', mode: '0644', base64: Buffer.from('hi').toString('base64') }] },
  })
  expect((await get('/files')).body['files']).toEqual(
    expect.arrayContaining([expect.objectContaining({ path: '/home', target: 'var/home' })]),
  )
  expect(await get('/files?path=/none')).toMatchObject({ status: 404 })
  expect((await get('/journal')).body['journal']).toEqual(
    expect.arrayContaining([expect.objectContaining({ from: 'ignition[713]', message: 'fetch: fetch complete' })]),
  )
})
