import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runCommand, type FinishedCommand } from '../../../../steps/index.js'
import { BOOTABLE_FILES, putBootable } from '../../../../test/kit/registry/bootable-container.js'
import { archiveOf, linkArchive, storeLayers } from '../../../../test/kit/registry/images.js'
import { registryServer, type RegistryServerHandle } from '../../../../test/kit/registry/registry-server.js'
import { stepMachine, testDisk } from '../../../../test/kit/step-machine.js'
import { bootFiles } from '../../../disk/boot-files.js'
import { inspectDisk } from '../../../disk/inspect-disk.js'
import type { MachineSpec } from '../../../machine-spec.js'

type Scene = Awaited<ReturnType<typeof stepMachine>>

let registry: RegistryServerHandle
let scene: Scene
beforeAll(async () => void (registry = await registryServer()))
afterAll(() => registry[Symbol.asyncDispose]())
beforeEach(async () => void (scene = await stepMachine([testDisk('sda', 20), testDisk('sdb', 20)])))
afterEach(() => scene[Symbol.asyncDispose]())

const RUN =
  'podman run --rm --privileged --pid=host -v /var/lib/containers:/var/lib/containers -v /dev:/dev -v /tmp:/tmp'
const INSTALL = 'bootc install to-disk --wipe --skip-fetch-check'

interface Installing {
  name?: string
  run?: string
  options?: string
  device?: string
}

const install = ({
  name = 'os',
  run = RUN,
  options = '',
  device = '/dev/sda',
}: Installing = {}): Promise<FinishedCommand> => {
  const words = `${run} ${registry.host}/${name} ${INSTALL} ${options} ${device}`.split(' ').filter(Boolean)
  const running = runCommand(scene.machine.executor, words as [string, ...string[]], {
    effect: 'writes',
    accept: [0, 1, 2, 125, 127],
  })
  return scene.clock.until(running)
}

const look = () => scene.machine.look('sda', ({ device }) => inspectDisk(device!, scene.clock))

async function bootDisk(): Promise<void> {
  await scene.machine.setBoot({ kind: 'disk' })
  await scene.machine.setPower('reboot')
  while (!scene.machine.boot()) await new Promise((resolve) => setImmediate(resolve))
}

test('a container is installed as bootc lays it out, and boots', async () => {
  const digest = putBootable(registry, 'os')
  await scene.write('/tmp/keys', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHJlaGVhcnNhbA== a@b\n')
  const { exit, stdout } = await install({ options: '--root-size=8000M --root-ssh-authorized-keys=/tmp/keys' })
  expect(exit).toMatchObject({ code: 0 })
  expect(stdout).toContain(`Installing image: docker://${registry.host}/os:latest\nDigest: ${digest}\n`)
  expect(stdout).toMatch(/Installation complete!\n$/)
  const disk = await look()
  expect(
    disk.partitions.map(({ name, type, length, filesystem }) => [name, type, length / 2 ** 20, filesystem?.type]),
  ).toEqual([
    ['BIOS-BOOT', '21686148-6449-6e6f-744e-656564454649', 1, undefined],
    ['EFI-SYSTEM', 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b', 512, 'vfat'],
    ['root', '4f68bce3-e8cd-4db1-96e7-fbcaf984b709', 8000, 'ext4'],
  ])
  expect(disk.boot?.entry).toMatchObject({ title: 'Fedora Linux 42 (ostree:0)' })
  const [entry] = (await scene.machine.look('sda', ({ device }) =>
    bootFiles(device!, disk.boot!.entry!.path, scene.clock),
  ))!
  expect(Buffer.from(entry!.bytes!).toString()).toMatch(new RegExp(`^# ${registry.host}/os@${digest}\ntitle `))
  const [root] = disk.boot!.entry!.kernelArguments
  expect(root).toBe(`root=UUID=${disk.partitions[2]!.filesystem!.uuid}`)
  expect(await scene.say('efibootmgr')).toContain('Boot0000* Fedora Linux\tHD(2,GPT,')

  await bootDisk()
  const { machine } = scene
  expect(machine.boot()).toMatchObject({ outcome: 'disk' })
  const image = `${registry.host}/os@${digest}`
  expect(machine.firstBoot()).toMatchObject({
    failure: null,
    container: { image, configDrive: null },
    disk: '/dev/sda',
  })
  expect(machine.os()).toMatchObject({ booted: { image, version: '42' } })
  const files = machine.rootFiles()!
  expect(files.text('/etc/motd')).toBe('from the user\n')
  expect(files.exists('/etc/gone')).toBe(false)
  expect(files.text('/opt/app')).toBe('app')
  expect(files.text('/var/lib/app/state')).toBe('state\n')
  expect(files.text('/root/.ssh/authorized_keys')).toContain('ssh-ed25519')
  expect(files.text('/etc/machine-id')).toMatch(/^[0-9a-f]{32}\n$/)
  const first = machine.firstBoot()
  const journal = machine.journal().length
  await bootDisk()
  expect(machine.boot()).toMatchObject({ outcome: 'disk' })
  expect(machine.firstBoot()).toEqual(first)
  expect(machine.journal().length).toBe(journal)
})

test('an encrypted root has a /boot of its own, where the image allows it', async () => {
  putBootable(registry, 'os')
  const refused = await install({ options: '--block-setup=tpm2-luks' })
  expect(refused.stderr).toContain(
    'ERROR Installing to disk: Creating rootfs: Block setup Tpm2Luks is not enabled in installation config\n',
  )
  const files = {
    'usr/lib/bootc/install/50-luks.toml': '[install]\nblock = ["direct", "tpm2-luks"]\nkargs = ["quiet"]\n',
  }
  putBootable(registry, 'luks', { files })
  expect((await install({ name: 'luks', options: '--block-setup=tpm2-luks' })).exit).toMatchObject({ code: 0 })
  const { partitions, boot } = await look()
  expect(partitions.map(({ name, filesystem }) => [name, filesystem?.type])).toEqual([
    ['BIOS-BOOT', undefined],
    ['EFI-SYSTEM', 'vfat'],
    ['boot', 'ext4'],
    ['root', 'crypto_LUKS'],
  ])
  expect(boot?.entry?.kernelArguments).toEqual([
    `luks.uuid=${partitions[3]!.filesystem!.uuid}`,
    'luks.options=tpm2-device=auto,headless=true',
    expect.stringContaining('root=UUID='),
    'rw',
    `boot=UUID=${partitions[2]!.filesystem!.uuid}`,
    'quiet',
    expect.stringMatching(/^ostree=\/ostree\/boot\.1\/default\/[0-9a-f]{64}\/0$/),
  ])
  await bootDisk()
  expect(scene.machine.rootFiles()!.text('/etc/fstab')).toContain(' /boot auto ro 0 0\n')
})

test('a new installation replaces the old one, whatever that was', async () => {
  putBootable(registry, 'os')
  await install({ options: '--root-size=4000M' })
  await scene.say('sgdisk --new=4:0:+64M --change-name=4:config-2 /dev/sda')
  const { stdout } = await install({ options: '--root-size=2000M' })
  expect(stdout).toContain('Wiping /dev/sda4\nWiping /dev/sda\n')
  expect((await look()).partitions).toHaveLength(3)
  expect((await scene.say('efibootmgr')).match(/Fedora Linux/g)).toHaveLength(1)
})

test('a root that does not fit gets the rest of the disk; a disk without room for it is refused', async () => {
  putBootable(registry, 'os')
  await install({ options: '--root-size=30G' })
  const [, , root] = (await look()).partitions
  expect((root!.offset + root!.length) / 2 ** 20).toBe(20 * 1024 - 2)
  await scene[Symbol.asyncDispose]()
  scene = await stepMachine([testDisk('sda', 0.5)])
  expect((await install()).stderr).toContain('ERROR Installing to disk: No space left on device')
})

test('of a large image the files of the upper layers are stored, and a large file is a hole of its size', async () => {
  const many = Object.fromEntries(Array.from({ length: 5200 }, (_, n) => [`usr/share/many/${n}`, '']))
  putBootable(registry, 'large', { files: { 'usr/lib/large': 'x'.repeat(2 ** 21), ...many } })
  expect((await install({ name: 'large' })).exit).toMatchObject({ code: 0 })
  await scene.say('mount --mkdir -r /dev/sda3 /mnt/x')
  const deployments = '/mnt/x/ostree/deploy/default/deploy'
  const [deployment] = (await scene.say(`ls ${deployments}`)).split('\n')
  const sizeOf = async (path: string) => (await scene.say(`stat -c %s ${deployments}/${deployment!}/${path}`)).trim()
  expect(await sizeOf('usr/lib/large')).toBe(String(2 ** 21))
  expect(await sizeOf('opt/app')).toBe('3')
  const stored = (await scene.say(`ls ${deployments}/${deployment!}/usr/share/many`)).trim().split('\n')
  expect(stored.length).toBeLessThan(5200)
})

describe('bootc fails', () => {
  beforeAll(() => void putBootable(registry, 'os'))

  test.each<[string, Installing, string]>([
    ['without the device', { device: '/dev/nvme9n1' }, 'Querying /dev/nvme9n1: No such file or directory (os error 2)'],
    ['for a file', { device: '/etc/hostname' }, 'Not a block device: /etc/hostname'],
    [
      'without the host’s processes',
      { run: RUN.replace('--pid=host ', '') },
      'This command must be run with the podman --pid=host flag',
    ],
    [
      'without keys',
      { options: '--root-ssh-authorized-keys=/tmp/none' },
      'Reading /tmp/none: No such file or directory (os error 2)',
    ],
    [
      'for a size that is none',
      { options: '--root-size=x' },
      'Creating rootfs: Parsing root size: invalid digit found in string',
    ],
  ])('%s', async (_, installing, words) => {
    const { exit, stderr } = await install(installing)
    expect(exit).toMatchObject({ code: 1 })
    expect(stderr).toContain(`ERROR Installing to disk: ${words}`)
  })

  test('for a mounted disk, and for one with partitions that are not to be wiped', async () => {
    await install({ options: '--root-size=4000M' })
    const refused = await runCommand(
      scene.machine.executor,
      `${RUN} ${registry.host}/os bootc install to-disk /dev/sda`.split(' ') as [string, ...string[]],
      { effect: 'writes', accept: [1] },
    )
    expect(refused.stderr).toContain('Detected existing partitions on /dev/sda; use e.g. `wipefs` or --wipe')
    await scene.say('mount --mkdir /dev/sda3 /mnt/x')
    expect((await install()).stderr).toContain('Device /dev/sda3 is mounted')
  })

  test.each<[string, string[], Record<string, string>, number, string]>([
    ['bootc', ['usr/bin/bootc'], {}, 127, 'Error: crun: executable file `bootc` not found in $PATH'],
    ['a kernel', ['usr/lib/modules/6.14.0-63.fc42.x86_64/vmlinuz'], {}, 1, 'Failed to find kernel in /usr/lib/modules'],
    [
      'a configuration',
      ['usr/lib/bootc/install/00-fedora.toml'],
      {},
      1,
      'Creating rootfs: No root filesystem specified',
    ],
    ['a readable one', [], { 'etc/bootc/install/9.toml': 'x' }, 1, 'Parsing /etc/bootc/install/9.toml: '],
  ])('in a container without %s', async (name, without, files, code, words) => {
    putBootable(registry, 'bare', { without, files, tag: name.replaceAll(' ', '-') })
    const { exit, stderr } = await install({ name: `bare:${name.replaceAll(' ', '-')}` })
    expect(exit).toMatchObject({ code })
    expect(stderr).toContain(words)
  })

  test('for options that it does not have', async () => {
    expect(await install({ options: '--nonsense' })).toMatchObject({ exit: { code: 2 } })
    expect((await install({ options: '--block-setup=raid' })).stderr).toContain(
      "invalid value 'raid' for '--block-setup",
    )
  })
})

test.each<Partial<MachineSpec>>([{ firmware: 'bios' }, { architecture: 'aarch64' }])(
  'a machine with %o is installed and boots',
  async (change) => {
    await scene[Symbol.asyncDispose]()
    scene = await stepMachine([testDisk('sda', 20, { sectorSize: change.firmware ? 512 : 4096 })], change)
    putBootable(registry, 'own', { architecture: change.architecture === 'aarch64' ? 'arm64' : 'amd64' })
    expect(await install({ name: 'own' })).toMatchObject({ exit: { code: 0 } })
    await bootDisk()
    expect(scene.machine.boot()).toMatchObject({ outcome: 'disk' })
  },
)

test('a container for another architecture cannot be run', async () => {
  putBootable(registry, 'arm', { architecture: 'arm64' })
  const { exit, stderr } = await install({ name: 'arm' })
  expect(exit).toMatchObject({ code: 1 })
  expect(stderr).toContain('image platform (linux/arm64) does not match the expected platform (linux/amd64)')
})

test('a container with odd files is installed without them, and boots', async () => {
  const files = { [`usr/${'n'.repeat(256)}`]: 'long', 'usr/fine': 'fine' }
  const base = archiveOf({ ...BOOTABLE_FILES, ...files })
  const links = linkArchive({ var: 'srv', etc: 'usr', 'usr/empty': '', 'usr/loop': 'loop', 'usr/up': '../../../x' })
  storeLayers(registry, 'odd', 'latest', [{ bytes: base }, { bytes: links }])
  expect(await install({ name: 'odd' })).toMatchObject({ exit: { code: 0 } })
  await bootDisk()
  expect(scene.machine.boot()).toMatchObject({ outcome: 'disk' })
  const tree = scene.machine.rootFiles()!
  expect(tree.text('/usr/fine')).toBe('fine')
  expect(tree.list('/usr').filter((name) => name.startsWith('nn') || name === 'empty')).toEqual([])
})

test('a disk whose root filesystem was overwritten boots nothing, and can be installed again', async () => {
  putBootable(registry, 'os')
  await install({ options: '--root-size=4000M' })
  await scene.say('dd if=/dev/zero of=/dev/sda3 bs=1M count=1')
  await bootDisk()
  expect(scene.machine.boot()).toMatchObject({ outcome: 'no bootable device' })
  await scene.reboot()
  expect(await install()).toMatchObject({ exit: { code: 0 } })
  await bootDisk()
  expect(scene.machine.boot()).toMatchObject({ outcome: 'disk' })
})
