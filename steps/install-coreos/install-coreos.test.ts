import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { scriptedTarget, type Answer, type Script, type ScriptedOptions } from '../../test/kit/scripted-target.js'
import { stepContext } from '../../test/kit/step-context.js'
import { LSBLK } from '../hardware/block-devices.js'
import type { StepContext } from '../sdk/step.js'
import type { InstallCoreosArgs } from './args.js'
import { installCoreos } from './install-coreos.js'

const recorded = JSON.parse(
  readFileSync(new URL('../../test/fixtures/install-coreos/installer-output.json', import.meta.url), 'utf8'),
) as Record<string, { code: number; stderr: string }>

const ignition = { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core', passwordHash: 'hunter2' }] } }
const BOOT = '/run/ironstage/mnt/sda3'
const ESP_GUID = '11111111-2222-4333-8444-000000000002'

/** A machine with two disks whose programs follow what was done to the first. */
function machine(installer: Answer[] = [recorded['ok-xz']!], options: ScriptedOptions & { script?: Script } = {}) {
  const state = { table: 'gpt' as 'gpt' | null, attempts: 0, config: '', mode: '600', seen: '', options: 'rw foo=bar' }
  const listing = (rows: object[]) => JSON.stringify({ blockdevices: rows })
  const script: Script = {
    'udevadm settle': '',
    'udevadm info': '',
    sync: '',
    'blockdev --rereadpt': '',
    [LSBLK.join(' ')]: listing([
      { kname: 'sda', type: 'disk', size: 10e9, serial: 'A' },
      { kname: 'sdb', type: 'disk', size: 20e9, serial: 'B' },
    ]),
    'lsblk --json': () =>
      listing([
        { kname: 'sda', type: 'disk', pttype: state.table },
        ...(state.table === null
          ? []
          : [
              { kname: 'sda2', type: 'part', parttype: 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b', partuuid: ESP_GUID },
              { kname: 'sda3', type: 'part', partlabel: 'boot', label: 'boot', fstype: 'ext4' },
            ]),
      ]),
    'coreos-installer install': (argv) => {
      const answer = installer[state.attempts++]!
      const file = argv[argv.indexOf('--ignition-file') + 1]!
      state.seen = argv.includes('--ignition-file') ? Buffer.from(target.tree.get(file)!.bytes).toString() : ''
      state.mode = (target.tree.get(file)?.mode ?? 0).toString(8)
      state.config = createHash('sha256').update(state.seen).digest('hex')
      return answer
    },
    'mkdir -p': '',
    mount: '',
    umount: '',
    [`sha256sum ${BOOT}/ignition/config.ign`]: () => (state.seen ? `${state.config}  x\n` : { code: 1 }),
    [`stat -c %a ${BOOT}/ignition/config.ign`]: () => `${state.mode}\n`,
    [`ls -1 ${BOOT}/loader/entries`]: 'ostree-1.conf\nostree-2.conf\n',
    [`cat ${BOOT}/loader/entries/ostree-2.conf`]: () => `title x\noptions ${state.options}\nlinux /x\n`,
    'sgdisk --zap-all': () => {
      state.table = null
      return ''
    },
    'uname -m': 'x86_64\n',
    'efibootmgr -v': 'BootOrder: 0001\nBoot0001* CoreOS\tHD(1,GPT,old)\nBoot0002* Other\tPXE\n',
    'efibootmgr -b': '',
    'efibootmgr -v -c': '',
    ...options.script,
  }
  const target = scriptedTarget(script, options)
  const run = async (args: InstallCoreosArgs = {}, context: Partial<StepContext> = {}) => {
    const surroundings = stepContext(target, context)
    const ended = installCoreos.run(surroundings, { ...args }).then(
      (value) => ({ value, error: undefined }),
      (error: { details?: string }) => ({ value: undefined, error }),
    )
    return { ...surroundings, ...(await target.clock.until(ended)) }
  }
  const installs = () => target.commands.filter((line) => line.startsWith('coreos-installer'))
  return { target, state, run, installs }
}

describe('an installation', () => {
  test('writes the image, reads it back and leaves nothing behind', async () => {
    const { target, state, run, installs } = machine()
    const { value, error, stages, percents } = await run({ ignition, append_karg: ['foo=bar'], hostname: 'n0' })
    expect(error).toBeUndefined()
    expect(value).toBeNull()
    expect(installs()).toEqual([
      'coreos-installer install --ignition-file /tmp/ironic-1be26c0b-03f2-4d2e-ae87-c02d7f33c123.ign --append-karg foo=bar --offline /dev/sda',
    ])
    expect(JSON.parse(state.seen)).toMatchObject({ ...ignition, storage: { files: [{ path: '/etc/hostname' }] } })
    expect(state.mode).toBe('600')
    expect([...target.tree.keys()]).toEqual([])
    expect(stages).toEqual(['finding the root device', 'installing to /dev/sda', 'reading the disk back'])
    expect(percents.at(-1)).toBe(100)
    expect(target.commands.at(-1)).toBe(`umount ${BOOT}`)
  })

  test('that lost bytes without an error, in a file whose file system is full, says so', async () => {
    const lost = { [`sha256sum ${BOOT}/ignition/config.ign`]: `${'0'.repeat(64)}  x\n` }
    const details = async (roomLeft: number): Promise<string | undefined> => {
      const { target, run } = machine(undefined, { script: lost })
      Object.assign(target, { diskFile: () => Promise.resolve({ path: '/srv/a.img', roomLeft }) })
      return (await run({ ignition })).error?.details
    }
    expect(await details(0)).toMatch(
      /^coreos-installer succeeded, but the disk is not as asked: the Ignition config .* The disk is not broken: it is the file \/srv\/a\.img, whose file system is full\. Free space there and try again\.$/,
    )
    expect(await details(2 ** 30)).not.toContain('/srv/a.img')
  })

  test('needs no arguments: BMO sends none', async () => {
    const { run, installs } = machine()
    expect((await run({})).error).toBeUndefined()
    expect(installs()).toEqual(['coreos-installer install --offline /dev/sda'])
  })

  test('shows no secret in its logs, its output and its failure', async () => {
    const image_url = 'http://me:hunter2@192.0.2.1/x.raw.xz'
    const failed = { code: 1, stderr: `Downloading image from ${image_url}\nError: fetching '${image_url}'\n` }
    const { logged, error } = await machine([failed]).run({ ignition, image_url })
    expect(logged.length).toBeGreaterThan(3)
    expect(error?.details).toContain('http://me:******@192.0.2.1/x.raw.xz')
    expect(JSON.stringify([logged, error])).not.toContain('hunter2')
  })

  test('makes a boot entry on a machine with UEFI, instead of those of the same label', async () => {
    const { target, run } = machine(undefined, { files: { '/sys/firmware/efi/fw_platform_size': '64' } })
    expect((await run()).error).toBeUndefined()
    expect(target.commands.filter((line) => line.startsWith('efibootmgr'))).toEqual([
      'efibootmgr -v',
      'efibootmgr -b 0001 -B',
      'efibootmgr -v -c -d /dev/sda -p 2 -w -L CoreOS -l \\EFI\\BOOT\\BOOTX64.EFI',
    ])
  })

  test('does not change the firmware where that is not allowed', async () => {
    const files = { '/sys/firmware/efi/fw_platform_size': '64' }
    const { target, run } = machine(undefined, { files, capabilities: [] })
    expect((await run()).error).toBeUndefined()
    expect(target.commands.join()).not.toContain('efibootmgr')
  })
})

describe('before any disk is changed', () => {
  test.each<[string, InstallCoreosArgs, object, RegExp]>([
    ['cloud-init user data', {}, { configdrive: { user_data: '#cloud-config\n' } }, /cloud-init.*Nothing was written/],
    ['an argument that is none', { nosuch: 1 } as InstallCoreosArgs, {}, /unexpected arguments: nosuch/],
    ['a kernel argument of two lines', { append_karg: 'a\nb' }, {}, /argument append_karg .* not valid/],
    ['hints that match nothing', {}, { root_device: { serial: 'X' } }, /using these hints \{'serial': 'X'\}/],
  ])('%s ends the step', async (_, args, instance_info, sentence) => {
    const { target, run } = machine()
    const { error } = await run(args, { node: { instance_info } })
    expect(error?.details).toMatch(sentence)
    expect(target.commands.every((line) => /^(lsblk|udevadm)/.test(line))).toBe(true)
  })

  test('a disk that was not named ends the step, which says by what a disk is named', async () => {
    const { run, installs } = machine(undefined, { writable: ['/dev/sdb'] })
    expect((await run()).error?.details).toMatch(
      /^\/dev\/sda \(serial A\) .* scripted does not allow writing to it\. Name that disk instead \(serial number, WWN, .*by-id or \/dev\/disk\/by-path\)/,
    )
    expect(installs()).toEqual([])
  })
})

describe('a failing installer', () => {
  test('is run again after a transient failure', async () => {
    const { run, installs } = machine([recorded['fail-url-interrupted']!, recorded['ok-xz']!])
    expect((await run()).error).toBeUndefined()
    expect(installs()).toHaveLength(2)
  })

  test('is run three times at most', async () => {
    const interrupted = recorded['fail-url-interrupted']!
    const { target, run, installs } = machine([interrupted, interrupted, interrupted])
    expect((await run()).error?.details).toMatch(/end of file before message length reached \(3 attempts\)/)
    expect(installs()).toHaveLength(3)
    expect(target.clock.elapsed()).toBe(6000)
  })

  test('is not run again after a permanent failure, and its first error is reported', async () => {
    const { target, state, run, installs } = machine([recorded['fail-disk-too-small']!])
    const { error } = await run({ ignition })
    expect(error?.details).toBe(
      'coreos-installer failed with code 1: Error: decoding and writing image: No space left on device (os error 28). The disk is smaller than the image: choose a larger one by root device hints.',
    )
    expect(installs()).toHaveLength(1)
    expect(state.table).toBeNull()
    expect([...target.tree.keys()]).toEqual([])
  })

  test('leaves its partition table for debugging on request', async () => {
    const { state, run, installs } = machine([recorded['fail-truncated-xz']!])
    expect((await run({ preserve_on_error: true })).error).toBeDefined()
    expect(state.table).toBe('gpt')
    expect(installs()[0]).toContain('--preserve-on-error')
    const other = machine([recorded['fail-truncated-xz']!])
    expect((await other.run()).error).toBeDefined()
    expect(other.installs()[0]).not.toContain('--preserve-on-error')
  })

  test('that was killed leaves no disk that boots', async () => {
    const { state, run } = machine([{ exit: { kind: 'signalled', signal: 'SIGKILL' } }])
    expect((await run()).error?.details).toContain('SIGKILL')
    expect(state.table).toBeNull()
  })

  test('is also reported when its disk cannot be cleared, with an error in the log', async () => {
    const { run } = machine([recorded['fail-truncated-xz']!], { script: { 'sgdisk --zap-all': { code: 4 } } })
    const { error, logged } = await run()
    expect(error?.details).toContain('truncated')
    expect(logged.some(({ level, message }) => level === 'error' && message.includes('may still be bootable'))).toBe(
      true,
    )
  })
})

describe('a disk that differs from the input', () => {
  test.each<[string, Partial<ReturnType<typeof machine>['state']>, Script, string]>([
    ['has the argument missing', { options: 'rw' }, {}, 'the kernel argument foo=bar is missing'],
    [
      'has another config',
      {},
      { [`sha256sum ${BOOT}/ignition/config.ign`]: 'abc  x\n' },
      'has the digest abc instead of',
    ],
    ['has no config', {}, { [`sha256sum ${BOOT}/ignition/config.ign`]: { code: 1 } }, 'there is no Ignition config'],
    ['has a readable config', {}, { [`stat -c %a ${BOOT}/ignition/config.ign`]: '644\n' }, 'mode 644 instead of 600'],
    ['has no table', { table: null }, {}, '/dev/sda has no partition table instead of a GPT'],
    [
      'cannot be mounted',
      {},
      { mount: { code: 32, stderr: 'mount: wrong fs type\n' } },
      'reading /dev/sda3 back: running mount',
    ],
  ])('when it %s fails the step and does not stay bootable', async (_, change, script, sentence) => {
    const { state, run } = machine(undefined, { script })
    Object.assign(state, change)
    expect((await run({ ignition, append_karg: 'foo=bar' })).error?.details).toContain(sentence)
    expect(state.table).toBeNull()
  })

  test('is unmounted too', async () => {
    const { target, run } = machine(undefined, { script: { [`ls -1 ${BOOT}/loader/entries`]: { code: 2 } } })
    expect((await run()).error).toBeDefined()
    expect(target.commands.filter((line) => line === `umount ${BOOT}`)).toHaveLength(2)
  })
})

describe('a firmware that refuses', () => {
  const files = { '/sys/firmware/efi/fw_platform_size': '64' }

  test('is tried six times, five seconds apart', async () => {
    let asked = 0
    const script = { 'efibootmgr -v -c': () => (++asked < 6 ? { code: 5 } : '') }
    const { target, run } = machine(undefined, { files, script })
    expect((await run()).error).toBeUndefined()
    expect(asked).toBe(6)
    expect(target.clock.elapsed()).toBe(25_000)
  })

  test('every time fails the step', async () => {
    const { run, state } = machine(undefined, {
      files,
      script: { 'efibootmgr -v -c': { code: 5, stderr: 'No space left' } },
    })
    expect((await run()).error?.details).toContain('ended with exit code 5: No space left')
    expect(state.table).toBeNull()
  })
})

describe('software RAID', () => {
  const mdstat = 'Personalities : [raid1]\nmd127 : active raid1 sda1[0] sdb1[1]\nmd126 : active raid1 sda2[0]\n'
  const script: Script = { wipefs: '', mdadm: '' }
  const stopped = (commands: string[]) => commands.filter((line) => line.startsWith('mdadm --stop'))

  test('is deleted first', async () => {
    const { target, run } = machine(undefined, { files: { '/proc/mdstat': mdstat }, script })
    expect((await run()).error).toBeUndefined()
    expect(stopped(target.commands)).toEqual(['mdadm --stop /dev/md127', 'mdadm --stop /dev/md126'])
    expect(target.commands).toContain('mdadm --zero-superblock /dev/sdb1')
  })

  test('is kept when it has a member on a disk that may not be written', async () => {
    const { target, run } = machine(undefined, { files: { '/proc/mdstat': mdstat }, script, writable: ['/dev/sda'] })
    const { error, logged } = await run()
    expect(error).toBeUndefined()
    expect(stopped(target.commands)).toEqual(['mdadm --stop /dev/md126'])
    expect(logged.some(({ message }) => message.includes('keeping /dev/md127'))).toBe(true)
  })

  test.each<[string, Partial<StepContext>, ScriptedOptions]>([
    ['the node is not to be cleaned', { node: { automated_clean: false } }, {}],
    ['the target does not allow it', {}, { capabilities: [] }],
  ])('is kept when %s', async (_, context, options) => {
    const { target, run } = machine(undefined, { files: { '/proc/mdstat': mdstat }, script, ...options })
    await run({}, context)
    expect(stopped(target.commands)).toEqual([])
  })

  test('is kept when there is no disk to install to', async () => {
    const { target, run } = machine(undefined, { files: { '/proc/mdstat': mdstat }, script })
    await run({}, { node: { instance_info: { root_device: { serial: 'X' } } } })
    expect(stopped(target.commands)).toEqual([])
  })
})

test('a stopped agent leaves the installer running and attaches to it again', async () => {
  const stop = new AbortController()
  const { target, state, run } = machine()
  const { error } = await run(
    { ignition },
    { signal: stop.signal, progress: { stage() {}, percent: () => stop.abort(new Error('stopped')), line() {} } },
  )
  expect(error).toEqual(new Error('stopped'))
  expect(state.table).toBe('gpt')
  expect(target.tree.size).toBe(1)
})
