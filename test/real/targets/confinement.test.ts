import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { runToEnd } from '../../../steps/index.js'
import {
  openLocalTarget,
  openSshTarget,
  parsePins,
  parseSshTarget,
  type TargetCapability,
} from '../../../targets/index.js'
import { COMMAND_ATTACKS, SERVICE_ATTACKS, SHELL_ATTACKS } from './attacks.js'
import { AttackedHost } from './attacked-host.js'
import { attacked, commanded, readsMounted } from './attacking.js'
import { FILTER_LOADERS, loaderFolder } from './filter-loaders.js'
import { SUPERVISOR_ATTACKS } from './supervisor-attacks.js'
import { realBinary } from '../coreos-installer.js'
import { MachineWithDisk } from '../machine-with-disk.js'
import { debianProgram, tool } from '../peers.js'

/**
 * Attacks on everything but the disk that was named: none of them changes a byte of another disk, or anything else of the
 * host, on this host and behind SSH. Needs root.
 */

const clock = systemClock()
let place: string
let installer: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-confined-'))
  await writeFile(join(place, 'named.img'), '')
  await truncate(join(place, 'named.img'), 16 * 2 ** 20)
  installer = await realBinary()
  // The attack that writes a partition table needs it.
  await debianProgram('sfdisk', 'fdisk')
})
afterAll(() => rm(place, { recursive: true, force: true }))

async function local(more: { allow?: TargetCapability[]; disposable?: boolean; path?: string } = {}) {
  const { path = '', ...rest } = more
  const environment = { ...process.env, PATH: `${path}:${process.env['PATH']}:/usr/sbin:/sbin` }
  const where = join(place, 'named.img')
  return openLocalTarget({ where, installer, environment, clock, random: systemRandom, logger: silent, ...rest })
}

test('the corpus has what was seen to hurt, and more', () => {
  expect(SHELL_ATTACKS.length + COMMAND_ATTACKS.length).toBeGreaterThanOrEqual(100)
  expect(new Set(SHELL_ATTACKS.map(({ name }) => name)).size).toBe(SHELL_ATTACKS.length)
})

describe('on this host', () => {
  let host: AttackedHost
  beforeAll(async () => {
    await mkdir(join(place, 'local'))
    host = await AttackedHost.open(place, join(place, 'local'))
  })
  afterAll(() => host?.[Symbol.asyncDispose]())

  test('each attack hurts where nothing guards, as far as it can be tried', async () => {
    const harmless: string[] = []
    const before = await host.state()
    for (const attack of SHELL_ATTACKS.filter(({ bare }) => bare === 'hurts')) {
      const script = await host.script('/dev/null', [attack])
      const { stdout } = await tool('unshare', '--mount', 'sh', '-c', `TMPDIR=${place} exec sh ${script}`)
      expect(stdout).toContain('all done')
      const changed = (await host.state()) !== before
      if (!changed && !stdout.includes('GOT')) harmless.push(attack.name)
      if (changed) await host.restore()
      if (changed) expect([attack.name, await host.state()]).toEqual([attack.name, before])
    }
    expect(harmless).toEqual([])
  })

  test('none changes anything through the guard', async () => {
    const before = await host.state()
    await using opened = await local({ path: join(host.folder, 'bin') })
    const { executor } = opened.target
    expect(opened.target.confinement).toMatch(/^namespaces and capabilities; devices by (?!a \/dev)/)
    expect(await attacked(executor, host, opened.disk.path)).toEqual([])
    expect(await host.state()).toBe(before)
    expect(await commanded(executor, host, opened.disk.path)).toBeGreaterThan(10)
    expect(await host.state()).toBe(before)
  })

  test.each(FILTER_LOADERS)(
    'services are out of reach by a filter that %s loads, and only covered up without',
    async (loader) => {
      const path = await loaderFolder(loader, join(place, `only-${loader}`))
      const before = await host.state()
      await using opened = await local({ path })
      const { executor, confinement } = opened.target
      if (loader !== 'none') {
        expect(confinement.split('; ').at(-1)).toBe(`system calls by a filter that ${loader} loads`)
        expect(await attacked(executor, host, opened.disk.path, SERVICE_ATTACKS)).toEqual([])
        expect(await host.state()).toBe(before)
      } else {
        expect(confinement.split('; ').at(-1)).toBe(
          'system calls are not filtered, so services of the machine can be reached',
        )
        const covered = SERVICE_ATTACKS.filter(({ name }) => name.endsWith('by a plain name'))
        expect(await attacked(executor, host, opened.disk.path, covered)).toEqual([])
        expect(await host.state()).toBe(before)
      }
      const run = async (...argv: [string, ...string[]]) => (await runToEnd(executor, argv, { effect: 'reads' })).exit
      expect(await run('sh', '-c', 'exit 7')).toEqual({ kind: 'exited', code: 7 })
      expect(await run('sh', '-c', 'kill -TERM $$')).toEqual({ kind: 'signalled', signal: 'SIGTERM' })
      expect(await run('udevadm', 'settle')).toEqual({ kind: 'exited', code: 0 })
      const { stderr, stdout } = await runToEnd(executor, ['sh', '-c', 'ls /proc/self/fd; echo said >&2'], {
        effect: 'reads',
      })
      expect([stdout, stderr]).toEqual(['0\n1\n2\n3\n', 'said\n'])
    },
  )

  test('a command that reads cannot write a partition that is mounted for writing', async () => {
    await using opened = await local()
    const { executor } = opened.target
    await runToEnd(executor, ['mke2fs', '-q', '-F', opened.disk.path], { effect: 'writes' })
    await readsMounted(executor, opened.disk.path)
    await runToEnd(executor, ['wipefs', '--all', '--force', opened.disk.path], { effect: 'writes' })
  })

  test.each(SUPERVISOR_ATTACKS)('the supervisor is not led to change anything by %s', async (_, attack) => {
    const before = await host.state()
    await using opened = await local()
    const outside = async (text: string) => (await tool('sh', '-c', text)).stdout
    await attack({ executor: opened.target.executor, host, named: opened.disk.path, outside })
    expect(await host.state()).toBe(before)
  })

  test('what is written to the disk that was named arrives, and its partitions appear', async () => {
    await using opened = await local()
    const { executor } = opened.target
    const { path } = opened.disk
    const writes = (...argv: [string, ...string[]]) => runToEnd(executor, argv, { effect: 'writes' })
    expect((await writes('sgdisk', '--new=1:2048:+4M', path)).exit).toEqual({ kind: 'exited', code: 0 })
    // This kernel may be one that reads no GPT by itself.
    await writes('partx', '--update', path)
    expect((await writes('mke2fs', '-q', `${path}p1`)).exit).toEqual({ kind: 'exited', code: 0 })
    const folder = '/run/ironstage/mnt/confined'
    await writes('mkdir', '-p', folder)
    expect((await writes('mount', '-o', 'rw', `${path}p1`, folder)).exit).toEqual({ kind: 'exited', code: 0 })
    await runToEnd(executor, ['dd', `of=${folder}/file`], { effect: 'writes', stdin: Buffer.from('written') })
    expect((await runToEnd(executor, ['cat', `${folder}/file`], { effect: 'reads' })).stdout).toBe('written')
    expect((await writes('umount', folder)).exit).toEqual({ kind: 'exited', code: 0 })
    await rm(folder, { recursive: true })
  })

  test('a disk is kept by the device policy alone where nothing else matters', async () => {
    const before = await host.state()
    await using opened = await local({ disposable: true })
    const { VICTIM: victim = '', NAME: name = '', NUMBER: number = '' } = host.words('')
    const text = `echo x >${victim}; T=$(mktemp -d); mount -t devtmpfs none $T && echo mounted; echo x >$T/${name}; [ -b $T/${name} ] && echo seen
mknod $T/node b ${number.replace(':', ' ')}; echo x >$T/node; losetup -d $T/${name}; umount $T; rmdir $T`
    // In a file: what names another disk is refused at once.
    await writeFile(join(place, 'disposable'), text)
    const argv = ['sh', join(place, 'disposable')] as const
    const { stdout } = await runToEnd(opened.target.executor, argv, { effect: 'writes' })
    // The devices are there to be seen, and are not opened.
    expect(stdout).toBe('mounted\nseen\n')
    expect(await host.state()).toBe(before)
  })
})

describe('behind SSH', () => {
  let target: MachineWithDisk
  let host: AttackedHost
  beforeAll(async () => {
    target = await MachineWithDisk.open({ size: '16M' })
    await mkdir(join(place, 'ssh'))
    host = await AttackedHost.open(join(place, 'ssh'), target.machine.shared)
  })
  afterAll(async () => {
    await host?.[Symbol.asyncDispose]()
    await target?.[Symbol.asyncDispose]()
  })

  async function behindSsh() {
    const { home, machine, disk } = target
    return openSshTarget({
      address: parseSshTarget(`ssh://root@127.0.0.1:${machine.ports.any}`),
      surroundings: { home, userName: 'me', agentSocket: null },
      pins: parsePins([await machine.hostKey()]),
      secrets: { ask: () => Promise.resolve(null) },
      clock,
      random: systemRandom,
      logger: silent,
      device: disk.device,
      yesErase: disk.file,
    })
  }

  test.each(SUPERVISOR_ATTACKS)('the supervisor is not led to change anything by %s', async (_, attack) => {
    const before = await host.state()
    await using opened = await behindSsh()
    const outside = async (text: string) => (await target.machine.run(text)).stdout
    await attack({ executor: opened.target.executor, host, named: target.disk.device, outside })
    expect(await host.state()).toBe(before)
  })

  test('none changes anything through the guard', async () => {
    const before = await host.state()
    const { disk } = target
    await using opened = await behindSsh()
    const { executor, confinement } = opened.target
    expect(confinement).toMatch(/^namespaces and capabilities; devices by (?!a \/dev)/)
    expect(confinement).toMatch(/; system calls by a filter that \w+ loads$/)
    expect(await attacked(executor, host, disk.device)).toEqual([])
    expect(await host.state()).toBe(before)
    expect(await commanded(executor, host, disk.device)).toBeGreaterThan(10)
    expect(await host.state()).toBe(before)
    await runToEnd(executor, ['mke2fs', '-q', '-F', disk.device], { effect: 'writes' })
    await readsMounted(executor, disk.device)
  })
})
