import { gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { expect, test } from 'vitest'
import { liveInitramfs } from '../../test/kit/images/live-iso.js'
import { systemClock } from '../../base/runtime/index.js'
import { bytesSource } from '../../base/bytes/byte-source.js'
import { validateIgnition } from '../../ignition/validate-config.js'
import { customize, type Customization } from './customize.js'
import { customizePxe } from './customize-pxe.js'
import { readInitramfs } from './initramfs.js'
import { ipxeScript, kernelWords, liveKernelArguments } from './live-kernel-arguments.js'

const features = {
  'installer-config': true,
  'installer-config-directives': { console: true },
  'live-initrd-network': true,
}
const file = (path: string, text: string) => ({ path, bytes: Buffer.from(text) })
const ignition = file('dir/a.ign', '{"ignition": {"version": "3.4.0"}}\n')
const keyfile = file('dir/eth0.nmconnection', '[connection]\nid=eth0\n')

interface Live {
  ignition: { config?: { merge: { source: string }[] } }
  storage?: { files: { path: string; mode: number; contents: { source: string } }[] }
  systemd?: { units: { name: string; contents: string }[] }
}
const unpacked = (source: string) => gunzipSync(Buffer.from(source.replace('data:;base64,', ''), 'base64')).toString()
function live(wishes: Customization) {
  const { files, installs } = customize(wishes, features)
  const text = Buffer.from(files.get('config.ign')!).toString()
  expect(validateIgnition(text)).toMatchObject({ valid: true })
  const config = JSON.parse(text) as Live
  const written = Object.fromEntries(
    (config.storage?.files ?? []).map(({ path, contents }) => [path, unpacked(contents.source)]),
  )
  return { config, written, installs, files }
}

test('an image that installs by itself has a config for the live system that holds everything else', () => {
  const { config, written, installs, files } = live({
    destIgnition: [ignition],
    destDevice: '/dev/sda',
    destConsole: ['ttyS0,115200n8'],
    destKargAppend: ['a=b', '123', 'no'],
    destKargDelete: ['quiet'],
    networkKeyfile: [keyfile],
    installerConfig: [file('x/conf.yaml', 'copy-network: true\n')],
    liveIgnition: [ignition],
    preInstall: [file('pre.sh', '#!/bin/sh\n')],
    postInstall: [file('post.sh', '#!/bin/sh\n')],
  })
  expect(installs).toEqual({ device: '/dev/sda' })
  expect(unpacked(config.ignition.config!.merge[0]!.source)).toBe('{"ignition":{"version":"3.4.0"}}')
  expect(config.storage!.files.map(({ path, mode }) => [path, mode])).toEqual([
    ['/usr/local/bin/pre-install-pre.sh', 0o700],
    ['/usr/local/bin/post-install-post.sh', 0o700],
    ['/etc/coreos/installer.d/0000-conf.yaml', 0o600],
    ['/etc/coreos/dest.ign', 0o600],
    ['/etc/coreos/installer.d/0001-customize.yaml', 0o600],
  ])
  expect(written['/etc/coreos/dest.ign']).toBe('{"ignition":{"version":"3.4.0"}}\n')
  expect(parse(written['/etc/coreos/installer.d/0001-customize.yaml']!, { version: '1.1' })).toEqual({
    'ignition-file': '/etc/coreos/dest.ign',
    console: ['ttyS0,115200n8'],
    'append-karg': ['a=b', '123', 'no'],
    'delete-karg': ['quiet'],
    'copy-network': true,
    'dest-device': '/dev/sda',
  })
  expect(config.systemd!.units.map(({ name }) => name)).toEqual([
    'pre-install-pre.sh.service',
    'post-install-post.sh.service',
  ])
  expect([...files.keys()].sort()).toEqual(['config.ign', 'etc/coreos-firstboot-network/eth0.nmconnection'])
})

test('several configs for the installed system, or one with an authority, become references for Ignition to merge', () => {
  const two = live({ destIgnition: [ignition, ignition] }).written['/etc/coreos/dest.ign']!
  expect((JSON.parse(two) as Live).ignition.config!.merge).toHaveLength(2)
  const trusting = live({ destIgnition: [ignition], ignitionCa: [file('ca.pem', '-----BEGIN')] })
  expect(JSON.parse(trusting.written['/etc/coreos/dest.ign']!)).toMatchObject({
    ignition: { security: { tls: { certificateAuthorities: [{ compression: 'gzip' }] } } },
  })
})

test('only the requested files are embedded', () => {
  expect(customize({}, {})).toEqual({ files: new Map(), installs: undefined })
  expect([...customize({ networkKeyfile: [keyfile] }, features).files.keys()]).toEqual([
    'etc/coreos-firstboot-network/eth0.nmconnection',
  ])
})

test.each<[string, Customization, object, string]>([
  [
    'an image without an installer config',
    { destDevice: '/dev/sda' },
    {},
    'This OS image does not support customizing installer configuration.',
  ],
  [
    'an image without network settings',
    { networkKeyfile: [keyfile] },
    {},
    'This OS image does not support customizing network settings.',
  ],
  [
    'an image without consoles',
    { destConsole: ['tty0'] },
    { 'installer-config': true },
    'This OS image does not support customizing the destination console.',
  ],
  [
    'two keyfiles of a name',
    { networkKeyfile: [keyfile, file('b/eth0.nmconnection', '')] },
    features,
    'config already specifies keyfile eth0.nmconnection',
  ],
  [
    'two scripts of a name',
    { preInstall: [file('a/x', ''), file('b/x', '')] },
    features,
    'config already specifies path /usr/local/bin/pre-install-x',
  ],
  [
    'a script that no unit can name',
    { preInstall: [file('a b', '')] },
    features,
    'script "a b" cannot be named in a unit',
  ],
  [
    'a setting that the installer does not know',
    { installerConfig: [file('c', 'bogus: 1')] },
    features,
    'parsing installer config c',
  ],
  ['an invalid config', { liveIgnition: [file('c', '#!/bin/sh')] }, features, 'parsing Ignition config c'],
])('%s', (_, wishes, os, sentence) => {
  expect(() => customize(wishes, os)).toThrow(sentence)
})

test.each<[string, Customization, object, string[]]>([
  [
    'an image without an installer config',
    { destDevice: '/dev/sda' },
    {},
    ['Boot media will automatically install to /dev/sda without confirmation.'],
  ],
  [
    'a config file for an image without them',
    { destDevice: '/dev/sda', installerConfig: [file('c', 'insecure: true')] },
    {},
    [],
  ],
  ['an image without network settings', { destDevice: '/dev/sda', networkKeyfile: [keyfile] }, {}, []],
  [
    'the same with consoles among the kernel arguments',
    { destKargAppend: ['console=tty0'], networkKeyfile: [keyfile] },
    {},
    [
      '\nNote: consider using "--dest-console tty0" instead of\n"--dest-karg-append console=tty0" to configure both kernel and bootloader\nconsoles.\n',
    ],
  ],
])('messages come in the order of the checks, before a refusal of %s', (_, wishes, os, messages) => {
  const reported: string[] = []
  expect(() => customize(wishes, os, (message) => reported.push(message))).toThrow('does not support')
  expect(reported).toEqual(messages)
})

test('a console of the installed system is written in its full form', () => {
  const { written } = live({ destConsole: ['ttyS0', 'tty0'] })
  expect(parse(written['/etc/coreos/installer.d/0000-customize.yaml']!, { version: '1.1' })).toEqual({
    console: ['ttyS0,9600n8', 'tty0'],
  })
})

test('an initramfs for PXE gets the same files in an appended archive, and refuses a second customization', async () => {
  const clock = systemClock()
  const base = liveInitramfs()
  const { image } = await customizePxe(bytesSource(base), { liveIgnition: [ignition] }, clock)
  const bytes = Buffer.from(await image.read(0, image.size))
  expect(bytes.subarray(0, base.length).equals(base)).toBe(true)
  const { files } = live({ liveIgnition: [ignition] })
  expect((await readInitramfs(bytes, clock)).get('config.ign')).toEqual(files.get('config.ign'))
  const again = customizePxe(image, { liveIgnition: [ignition] }, clock)
  await expect(again).rejects.toThrow('input is already customized')
  const other = customizePxe(bytesSource(Buffer.alloc(0)), {}, clock)
  await expect(other).rejects.toThrow('not a CoreOS live initramfs image')
})

test('blanks between quotation marks are part of a kernel argument', () => {
  expect(kernelWords('  a=b  x="a b" y="c "d quiet ')).toEqual(['a=b', 'x="a b"', 'y="c "d', 'quiet'])
  expect(kernelWords('x="a b')).toEqual(['x="a b'])
  expect(kernelWords('')).toEqual([])
})

test('kernel arguments and an iPXE script boot the customized initramfs', () => {
  const kernelArguments = liveKernelArguments({
    rootfsUrl: 'http://h/rootfs.img',
    ignitionUrl: 'http://h/ironic-python-agent.ign',
  })
  expect(kernelArguments).toBe(
    'coreos.live.rootfs_url=http://h/rootfs.img ignition.config.url=http://h/ironic-python-agent.ign ' +
      'ignition.firstboot ignition.platform.id=metal',
  )
  expect(liveKernelArguments({ ignition: true })).toBe('ignition.firstboot ignition.platform.id=metal')
  expect(() => liveKernelArguments({ rootfsUrl: 'http://h/$x' })).toThrow('cannot be a URL here')
  expect(ipxeScript({ kernelUrl: 'http://h/k', initramfsUrls: ['http://h/i', 'http://h/c'], arguments: 'a=b' })).toBe(
    '#!ipxe\nkernel http://h/k initrd=initrd initrd=initrd2 a=b\ninitrd --name initrd http://h/i\n' +
      'initrd --name initrd2 http://h/c\nboot\n',
  )
  expect(() => ipxeScript({ kernelUrl: 'http://h/k', initramfsUrls: [], arguments: 'a\nshell' })).toThrow('line break')
})
