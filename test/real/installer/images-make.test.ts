import { copyFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveStreams } from '../../../coreos/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { command } from '../../kit/commands/command.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { DISK, realInstaller, type RealInstaller } from '../coreos-installer.js'
import { tool } from '../peers.js'

/** The real coreos-installer works on what `ironstage images make` makes. */

const clock = systemClock()
const VERSION = '44.20260707.3.1'
const CONFIG = '{"ignition":{"version":"3.4.0"},"passwd":{}}'
const ARCHITECTURES = ['x86_64', 'aarch64', 'ppc64le', 's390x']

let real: RealInstaller
let folder: string
beforeAll(async () => {
  real = await realInstaller()
  folder = await mkdtemp(join(tmpdir(), 'ironstage-made-'))
  const architectures = ARCHITECTURES.flatMap((one) => ['-a', one])
  const fedora = command(['images', 'make', '--version', VERSION, '-C', folder, ...architectures])
  expect(await fedora.ended, fedora.stderr).toBe(0)
  const rhel = command(['images', 'make', '--version', '9.6.20260112-0', '-C', at('rhcos')])
  expect(await rhel.ended, rhel.stderr).toBe(0)
  await writeFile(at('c.ign'), CONFIG)
  await writeFile(at('eth0.nmconnection'), '[connection]\nid=eth0\n')
})
afterAll(async () => {
  await real?.[Symbol.asyncDispose]()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const at = (name: string): string => join(folder, name)
const file = (what: string): string => at(`fedora-coreos-${VERSION}-${what}`)
async function good(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await real.run(args)
  expect({ args, code, stderr }).toMatchObject({ args, code: 0 })
  return stdout
}

describe.each(ARCHITECTURES)('the live ISO for %s', (architecture) => {
  test('is customised, changed and shown by the real coreos-installer', async () => {
    const iso = at(`${architecture}.iso`)
    await copyFile(file(`live-iso.${architecture}.iso`), iso)
    expect(await good('iso', 'kargs', 'show', iso)).toContain(`coreos.liveiso=fedora-coreos-${VERSION}`)
    await good('iso', 'ignition', 'embed', '-i', at('c.ign'), iso)
    expect(await good('iso', 'ignition', 'show', iso)).toBe(CONFIG)
    await good('iso', 'kargs', 'modify', '-a', 'console=ttyS1', '-d', 'mitigations=auto,nosmt', iso)
    expect(await good('iso', 'kargs', 'show', iso)).toMatch(/^coreos\.liveiso=.* console=ttyS1\n$/)
    const shown = JSON.parse(await good('dev', 'show', 'iso', iso)) as { header: object; records: { Ok?: unknown }[] }
    expect(Object.keys(shown)).not.toEqual([])
    await good('iso', 'reset', iso)
    expect((await readFile(iso)).equals(await readFile(file(`live-iso.${architecture}.iso`)))).toBe(true)
    await good(
      ...['iso', 'customize', '--dest-device', '/dev/sda', '--dest-ignition', at('c.ign'), '--live-karg-append', 'q'],
      ...['--network-keyfile', at('eth0.nmconnection'), iso],
    )
    expect(await good('iso', 'ignition', 'show', iso)).toContain('/etc/coreos/installer.d/')
    await good('iso', 'extract', 'pxe', '-o', at(`${architecture}-pxe`), iso)
    for (const [name, made] of [
      ['vmlinuz', `live-kernel.${architecture}`],
      ['initrd.img', `live-initramfs.${architecture}.img`],
      ['rootfs.img', `live-rootfs.${architecture}.img`],
    ] as const)
      expect(
        (await readFile(at(`${architecture}-pxe/${architecture}-${name}`))).equals(await readFile(file(made))),
      ).toBe(true)
  })

  test('has an initramfs that the real coreos-installer customises', async () => {
    const initramfs = file(`live-initramfs.${architecture}.img`)
    const out = at(`${architecture}-initramfs.img`)
    await good('pxe', 'customize', '--live-ignition', at('c.ign'), '-o', out, initramfs)
    expect(await good('pxe', 'ignition', 'unwrap', out)).toContain('ignition')
  })
})

describe.each([
  ['raw.xz', () => file('metal.x86_64.raw.xz'), `Fedora CoreOS ${VERSION} (ostree:0)`],
  [
    'raw.gz',
    () => at('rhcos/rhcos-9.6.20260112-0-metal.x86_64.raw.gz'),
    'Red Hat Enterprise Linux CoreOS 9.6.20260112-0 (ostree:0)',
  ],
])('the metal image in %s', (_, image, title) => {
  test('is installed by the real coreos-installer with a config and kernel arguments', async () => {
    const disk = at('disk.img')
    await writeFile(disk, '')
    await truncate(disk, 64 * 2 ** 20)
    const { code, stderr } = await real.install(disk, [
      'install',
      DISK,
      '--image-file',
      image(),
      '--insecure',
      '--ignition-file',
      at('c.ign'),
      '--append-karg',
      'foo=bar',
      '--delete-karg',
      'mitigations=auto,nosmt',
      '--firstboot-args',
      'rd.neednet=1',
    ])
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const { boot } = await inspectDisk({ path: disk }, clock)
    expect(boot).toMatchObject({
      firstBoot: true,
      firstBootSettings: expect.stringContaining('rd.neednet=1') as string,
    })
    expect(boot!.ignition!.bytes.toString()).toBe(CONFIG)
    expect(boot!.entry!.title).toBe(title)
    expect(boot!.entry!.kernelArguments).toContain('foo=bar')
    expect(boot!.entry!.kernelArguments).not.toContain('mitigations=auto,nosmt')
    await rm(disk)
  })
})

test('the real coreos-installer installs what stream serve serves of the folder', async () => {
  await using server = await serveStreams({ folder, clock, random: systemRandom, logger: silent })
  const disk = at('fetched.img')
  await writeFile(disk, '')
  await truncate(disk, 64 * 2 ** 20)
  const url = `${server.url}/fedora-coreos-${VERSION}-metal.aarch64.raw.xz`
  const { code, stderr } = await real.install(disk, ['install', DISK, '--image-url', url, '--insecure'])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const { boot } = await inspectDisk({ path: disk }, clock)
  expect(boot!.entry!.title).toBe(`Fedora CoreOS ${VERSION} (ostree:0)`)
})

test('a full disk is one sentence, and leaves no file behind', async () => {
  const script = 'mount -t tmpfs -o size=1m none "$0" && "$@" -C "$0"; code=$?; ls -A "$0"; exit $code'
  const place = await mkdtemp(join(folder, 'full-'))
  const argv = [process.execPath, IRONSTAGE, 'images', 'make', '--version', VERSION]
  const { code, stdout, stderr } = await tool('unshare', '--mount', 'sh', '-c', script, place, ...argv)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^ironstage: the disk of \S+ is full\n/)
})
